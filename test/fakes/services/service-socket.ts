// A websocket server in place of a speech service: records what it gets, sends what a test says.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Certificate } from '../certificates.ts';
import { createHttpServer } from '../http-server.ts';

export interface ServiceConnection {
  request: IncomingMessage;
  socket: WebSocket;
  texts: string[];
  binaries: Buffer[];
}

export interface SocketService {
  /** ws://127.0.0.1:port, or wss: with a certificate. */
  url: string;
  connections: ServiceConnection[];
  /** The next connection, or one that is there already. */
  connected(): Promise<ServiceConnection>;
  /** How many TCP connections were accepted. */
  accepted(): number;
  /** How many of them are open. */
  open(): Promise<number>;
  /** The next upgrade breaks its connection. */
  resetNext(): void;
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
  /** Undefined: not encrypted. */
  tls?: Certificate | undefined;
  /** False: connections and their messages are not kept, for fakes of thousands of calls. Default: true. */
  isRecording?: boolean | undefined;
}

export async function startSocketService(
  options: SocketServiceOptions = {},
): Promise<SocketService> {
  const connections: ServiceConnection[] = [];
  const waiting: ((connection: ServiceConnection) => void)[] = [];
  let accepted = 0;
  let resets = 0;
  const isRecording = options.isRecording ?? true;
  const server = createHttpServer(options.tls, (request, response) => {
    if (options.onRequest === undefined) response.writeHead(404).end();
    else options.onRequest(request, response);
  });
  server.on('connection', () => {
    accepted += 1;
  });
  const sockets = new WebSocketServer({ noServer: true, autoPong: options.autoPong ?? true });
  server.on('upgrade', async (request, socket, head) => {
    socket.on('error', () => undefined);
    if (resets > 0) {
      resets -= 1;
      socket.destroy();
      return;
    }
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
      opened.on('error', () => undefined);
      if (isRecording) {
        opened.on('message', (data: Buffer, isBinary) => {
          if (isBinary) connection.binaries.push(data);
          else connection.texts.push(data.toString());
        });
        connections.push(connection);
      }
      options.onConnection?.(connection);
      waiting.shift()?.(connection);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${options.tls === undefined ? 'ws' : 'wss'}://127.0.0.1:${port}`,
    connections,
    connected() {
      const last = connections.at(-1);
      if (last !== undefined) return Promise.resolve(last);
      return new Promise((resolve) => waiting.push(resolve));
    },
    accepted: () => accepted,
    open: () =>
      new Promise((resolve, reject) => {
        server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
      }),
    resetNext: () => {
      resets += 1;
    },
    async close() {
      for (const socket of sockets.clients) socket.terminate();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
