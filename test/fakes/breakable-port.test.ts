// A port that tests break: what a client of it sees.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type BreakablePort, openBreakablePort } from './breakable-port.ts';

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

/** In front of a server that repeats what it gets. */
async function echoPort(): Promise<BreakablePort> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.pipe(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = await openBreakablePort((server.address() as AddressInfo).port);
  opened.push(
    () => server.close(),
    () => port.close(),
  );
  return port;
}

async function client({ port }: BreakablePort): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  opened.push(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

async function echoed(socket: Socket, text: string): Promise<string> {
  socket.write(text);
  const [data] = await once(socket, 'data');
  return String(data);
}

describe('a breakable port', () => {
  it('passes what comes in both directions', async () => {
    expect(await echoed(await client(await echoPort()), 'hello')).toBe('hello');
  });

  it('resets connections and refuses new ones while it is gone, and serves again', async () => {
    const port = await echoPort();
    const socket = await client(port);
    await echoed(socket, 'hello');
    const failure = once(socket, 'error');
    await port.break('gone');
    expect(String(await failure)).toContain('ECONNRESET');
    await expect(client(port)).rejects.toThrow('ECONNREFUSED');
    await port.mend();
    expect(await echoed(await client(port), 'again')).toBe('again');
  });

  it('keeps connections open while it is silent, and passes nothing', async () => {
    const port = await echoPort();
    const socket = await client(port);
    await echoed(socket, 'hello');
    await port.break('silent');
    const late = await client(port);
    const came: unknown[] = [];
    for (const each of [socket, late]) {
      each.on('data', (data) => came.push(data));
      each.on('error', () => undefined);
      each.write('lost');
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect([came, socket.destroyed, late.destroyed]).toEqual([[], false, false]);
    await port.mend();
    expect(await echoed(await client(port), 'again')).toBe('again');
    expect(came).toEqual([]);
  });
});
