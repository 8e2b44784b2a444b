// A client that goes on holding a connection after its last answer.

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { endConnection } from '../../src/std/last-answer.ts';

const ANSWER = 'HTTP/1.1 405 Method Not Allowed\r\nConnection: close\r\nContent-Length: 0\r\n\r\n';

describe('a connection after its last answer', () => {
  let server: Server;
  let client: Socket;

  afterEach(async () => {
    client.destroy();
    await promisify(server.close.bind(server))();
  });

  async function refused(): Promise<() => string> {
    server = createServer().on('connect', (_request, socket) => endConnection(socket, ANSWER));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    client = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    client.on('error', () => undefined);
    let received = '';
    client.setEncoding('utf8').on('data', (text: string) => {
      received += text;
    });
    client.write('CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n');
    return () => received;
  }

  const open = (): Promise<number> => promisify(server.getConnections.bind(server))();

  it('is closed though the client never ends its side', async () => {
    const received = await refused();
    await expect.poll(received, { timeout: 10_000 }).toBe(ANSWER);
    await expect.poll(open, { timeout: 10_000 }).toBe(0);
  });

  it('is closed though the client goes on sending, who has the whole answer', async () => {
    const received = await refused();
    const sending = setInterval(() => client.write('x'.repeat(1_000)), 5);
    await expect.poll(received, { timeout: 10_000 }).toBe(ANSWER);
    await expect.poll(open, { timeout: 10_000 }).toBe(0);
    clearInterval(sending);
  });
});
