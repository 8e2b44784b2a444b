// The end of a server whose connections several handles of its socket accept. Its own `close` waits for those of its own
// handle: with eight, the store was closed while seven of eight requests were being answered.

import { once } from 'node:events';
import { Agent, createServer, get, type Server, type ServerResponse } from 'node:http';
import { type Server as Acceptor, type AddressInfo, connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { closeAnswered } from '../../src/runtime/http-closing.ts';
import {
  acceptMore,
  bindListenHandle,
  isListenHandle,
  listenOn,
} from '../../src/runtime/listen-handle.ts';
import { nextTick } from '../../src/std/clock.ts';
import { FakeClock } from '../fakes/fake-clock.ts';

const open: (() => unknown)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

interface Serving {
  server: Server;
  more: Acceptor;
  clock: FakeClock;
  close(): Promise<void>;
}

async function serving(): Promise<Serving> {
  const server = createServer();
  const clock = new FakeClock();
  await listenOn(server, bound());
  const more = await acceptMore(server, bound());
  const ended = (): Promise<unknown> => new Promise((resolve) => server.close(resolve));
  const close = () => closeAnswered(server, [more], { clock, close: ended });
  return { server, more, clock, close };
}

function bound() {
  const handle = bindListenHandle('127.0.0.1', 0);
  if (!isListenHandle(handle)) throw new Error('not bound');
  return handle;
}

const portOf = (server: Server | Acceptor) => (server.address() as AddressInfo).port;

/** Time passes until the promise is settled; the system has its turns between. */
async function passUntil(
  clock: FakeClock,
  promise: Promise<unknown>,
  ms = 20_000,
): Promise<number> {
  const from = clock.monotonicMs();
  let isSettled = false;
  void promise.finally(() => {
    isSettled = true;
  });
  while (!isSettled && clock.monotonicMs() - from < ms) {
    clock.advance(10);
    await nextTick();
  }
  return clock.monotonicMs() - from;
}

describe('the end of a server with several handles', () => {
  it.each(['its own', 'another'])('waits for a request that %s handle accepted', async (of) => {
    const { server, more, clock, close } = await serving();
    const agent = new Agent({ keepAlive: true });
    open.push(() => agent.destroy());
    const port = portOf(of === 'another' ? more : server);
    const answer = new Promise<number | undefined>((resolve) => {
      get({ port, agent }, (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode));
      });
    });
    const [, response] = (await once(server, 'request')) as [unknown, ServerResponse];
    const over = close();
    expect(await passUntil(clock, over, 2_000)).toBe(2_000);
    await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
    response.writeHead(201).end('answered');
    expect(await answer).toBe(201);
    // The client keeps its connection, over which it would ask nobody.
    expect(await passUntil(clock, over)).toBeLessThan(2_000);
    expect(clock.timers).toBe(0);
  });

  it('waits eight seconds at most for half a request', async () => {
    const { server, more, clock, close } = await serving();
    const half = connect(portOf(more), '127.0.0.1');
    open.push(() => half.destroy());
    half.on('error', () => undefined);
    const asked = once(server, 'request');
    half.write('POST / HTTP/1.1\r\nHost: gateway\r\nContent-Length: 9\r\n\r\n');
    await asked;
    expect(await passUntil(clock, close())).toBe(8_000);
    expect(clock.timers).toBe(0);
  });
});
