// What the headers alone refuse, over a real connection: the answer comes before the body is sent.

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { QueueLimits } from '../../../src/api/admission/fair-queue.ts';
import type { Api } from '../../../src/api/http/api-deps.ts';
import { withApi } from '../served.ts';

const NONE: QueueLimits = {
  max: 0,
  ofNameMax: 0,
  waitingMax: 0,
  waitingOfNameMax: 0,
  waitMsMax: 60_000,
};
const sockets: Socket[] = [];

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** The same for all tests over one API. */
async function portOf(api: Api): Promise<number> {
  if (!api.server.listening) await api.listen({ host: '127.0.0.1', port: 0 });
  return (api.server.address() as AddressInfo).port;
}

describe('a request that its headers refuse', () => {
  // No place is free: it waits for none.
  const served = withApi(() => ({
    queues: { ordinary: NONE, heavy: NONE, file: NONE, outside: NONE, outsideLarge: NONE },
  }));
  let port = 0;

  beforeEach(async () => {
    port = await portOf(served.api);
  });

  /** Sends the head and a little of the body; the answer as it comes, without waiting for an end. */
  async function answerTo(lines: string[], body = '{"a"'): Promise<string> {
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket);
    socket.write(
      `${[...lines, 'Host: a', 'Content-Type: application/json'].join('\r\n')}\r\n\r\n${body}`,
    );
    const [answer] = await once(socket, 'data');
    return String(answer);
  }

  it('has no key where the route needs one: 401, and the connection of a large body ends', async () => {
    const path = 'POST /api/v1/workflow/create/definition HTTP/1.1';
    const large = await answerTo([path, 'Content-Length: 1900000']);
    expect(large).toMatch(/^HTTP\/1.1 401 /);
    expect(large).toMatch(/connection: close/i);
    expect(large).toContain('X-API-Key');
    const small = await answerTo([path, 'Content-Length: 1000']);
    expect(small).toMatch(/^HTTP\/1.1 401 /);
    expect(small).not.toMatch(/connection: close/i);
    const bearer = await answerTo([path, 'Content-Length: 1000', 'Authorization: Bearer x']);
    expect(bearer).toMatch(/^HTTP\/1.1 429 /);
  });

  it('announces a larger body than the route takes: 413', async () => {
    const logIn = 'POST /api/v1/auth/login HTTP/1.1';
    expect(await answerTo([logIn, 'Content-Length: 15000'])).toMatch(/^HTTP\/1.1 413 /);
    expect(await answerTo([logIn, 'Content-Length: 10240'])).toMatch(/^HTTP\/1.1 429 /);
    const key = `X-API-Key: ${served.test.apiKey}`;
    const path = 'POST /api/v1/workflow/create/definition HTTP/1.1';
    const answer = await answerTo([path, key, 'Content-Length: 2097153']);
    expect(answer).toMatch(/^HTTP\/1.1 413 /);
    expect(answer).toMatch(/connection: close/i);
  });
});

describe('a body in many pieces', () => {
  const served = withApi();

  it('is refused after 8,192 of them, and its connection ends', async () => {
    const port = await portOf(served.api);
    for (const path of ['/auth/login', '/telephony/inbound/run', '/folder/']) {
      const socket = connect(port, '127.0.0.1');
      sockets.push(socket);
      socket.on('error', () => undefined); // The connection ends while the body is sent.
      const answer = once(socket, 'data');
      const key = `X-API-Key: ${served.test.apiKey}`;
      const head = [`POST /api/v1${path} HTTP/1.1`, 'Host: a', key, 'Transfer-Encoding: chunked'];
      socket.write(`${[...head, 'Content-Type: application/json'].join('\r\n')}\r\n\r\n`);
      // More than what the socket reads before the pieces are counted.
      socket.write('1\r\n \r\n'.repeat(60_000));
      const text = String((await answer)[0]);
      expect([path, text.slice(0, 12)]).toEqual([path, 'HTTP/1.1 413']);
      expect(text).toMatch(/connection: close/i);
      expect(text).toContain('8192 pieces');
    }
  });

  it('is no fault where nothing reads it', async () => {
    const port = await portOf(served.api);
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket);
    socket.on('error', () => undefined);
    const head = ['GET /api/v1/health HTTP/1.1', 'Host: a', 'Transfer-Encoding: chunked'];
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    socket.write('1\r\n \r\n'.repeat(60_000));
    socket.end('0\r\n\r\n');
    socket.resume();
    await new Promise((resolve) => socket.once('close', resolve));
    expect((await served.call('GET', '/api/v1/health')).status).toBe(200);
  });
});
