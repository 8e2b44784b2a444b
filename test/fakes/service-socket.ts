// A websocket server in place of a speech service: records what it gets, sends what a test says.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

export interface ServiceConnection {
  request: IncomingMessage;
  socket: WebSocket;
  texts: string[];
  binaries: Buffer[];
}

export interface SocketService {
  /** ws://127.0.0.1:port */
  url: string;
  connections: ServiceConnection[];
  /** The next connection, or one that is there already. */
  connected(): Promise<ServiceConnection>;
  /** How many TCP connections were accepted. */
  accepted(): number;
  close(): Promise<void>;
}

export interface Refusal {
  status: number;
  body: string;
  headers?: Record<string, string>;
}

export interface SocketServiceOptions {
  /** An HTTP answer in place of the upgrade. */
  refuse?: Refusal | ((request: IncomingMessage) => Refusal | undefined);
  /** An HTTP request without an upgrade. */
  onRequest?(request: IncomingMessage, response: ServerResponse): void;
  /** Answers pings. Default: true. */
  autoPong?: boolean;
  /** The upgrade is answered when this resolves. */
  hold?(request: IncomingMessage): Promise<void> | undefined;
  onConnection?(connection: ServiceConnection): void;
}

export async function startSocketService(
  options: SocketServiceOptions = {},
): Promise<SocketService> {
  const connections: ServiceConnection[] = [];
  const waiting: ((connection: ServiceConnection) => void)[] = [];
  let accepted = 0;
  const server = createServer((request, response) => {
    if (options.onRequest === undefined) response.writeHead(404).end();
    else options.onRequest(request, response);
  });
  server.on('connection', () => {
    accepted += 1;
  });
  const sockets = new WebSocketServer({ noServer: true, autoPong: options.autoPong ?? true });
  server.on('upgrade', async (request, socket, head) => {
    socket.on('error', () => undefined);
    await options.hold?.(request);
    const refuse = typeof options.refuse === 'function' ? options.refuse(request) : options.refuse;
    if (refuse !== undefined) {
      const headers = Object.entries(refuse.headers ?? {}).map(
        ([name, value]) => `${name}: ${value}\r\n`,
      );
      const length = `content-length: ${Buffer.byteLength(refuse.body)}\r\n`;
      socket.end(`HTTP/1.1 ${refuse.status} No\r\n${length}${headers.join('')}\r\n${refuse.body}`);
      return;
    }
    sockets.handleUpgrade(request, socket, head, (opened) => {
      const connection: ServiceConnection = { request, socket: opened, texts: [], binaries: [] };
      opened.on('message', (data: Buffer, isBinary) => {
        if (isBinary) connection.binaries.push(data);
        else connection.texts.push(data.toString());
      });
      opened.on('error', () => undefined);
      connections.push(connection);
      options.onConnection?.(connection);
      waiting.shift()?.(connection);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `ws://127.0.0.1:${port}`,
    connections,
    connected() {
      const last = connections.at(-1);
      if (last !== undefined) return Promise.resolve(last);
      return new Promise((resolve) => waiting.push(resolve));
    },
    accepted: () => accepted,
    async close() {
      for (const { socket } of connections) socket.terminate();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
