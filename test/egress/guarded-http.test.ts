// Requests to where an organization wants them: our own networks are out of reach. Source: contract §8.7
// (private networks are refused), IANA's special-purpose address registries.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createGuardedHttp } from '../../src/egress/guarded-http.ts';
import { codeOf } from '../../src/errors/gateway-error.ts';
import { openSignUpEgress } from '../fakes/egress.ts';
import { type RestServer, startRestServer } from '../telephony/provider/rest-server.ts';

const never = new AbortController().signal;
const outside = createGuardedHttp(openSignUpEgress());
const loopback = createGuardedHttp();
let server: RestServer;

beforeAll(async () => {
  server = await startRestServer();
});
afterAll(async () => {
  await Promise.all([outside.close(), loopback.close(), server.close()]);
});

function get(url: string, by = outside) {
  return by.send({ method: 'GET', url, headers: {}, body: undefined }, never);
}

const refused = (url: string) => get(url).then(undefined, (error: unknown) => codeOf(error));

describe('a request to the outside', () => {
  it.each([
    'http://127.0.0.1/',
    'http://127.1/',
    'http://2130706433/',
    'http://0x7f.0.0.1/',
    'http://0/',
    'http://10.1.2.3/',
    'http://172.31.255.255/',
    'http://192.168.0.1/',
    'http://100.64.0.1/',
    'http://169.254.169.254/latest/meta-data',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:a00:1]/',
    'http://[fd00::1]/',
    'http://[fe80::1]/',
    'http://[64:ff9b::7f00:1]/',
    'http://[2002:7f00:1::]/',
    'http://localhost/',
    'http://user:pass@8.8.8.8/',
    'ftp://8.8.8.8/',
    'file:///etc/passwd',
    '/relative',
    'nonsense',
    '',
  ])('to %s is refused', async (url) => {
    expect(await refused(url)).toBe('OUTSIDE_FORBIDDEN');
  });

  it('follows no redirect and takes any status for a reply', async () => {
    server.answer = { status: 302, body: { to: 'elsewhere' } };
    expect(await get(server.url, loopback)).toEqual({ status: 302, text: '{"to":"elsewhere"}' });
    expect(server.asked).toHaveLength(1);
  });

  // Servers of .NET and PHP may send one before their JSON: a transfer's destination and the variables of a call were lost.
  it('takes the byte order mark of an answer for no part of it', async () => {
    server.answer = { status: 200, body: '\uFEFF{"a":1}' };
    expect((await get(server.url, loopback)).text).toBe('{"a":1}');
  });

  it.each([
    ['text/plain; charset=ISO-8859-1', 'latin1', 'Grüße'],
    ['application/json;charset="windows-1252"', 'latin1', '{"a":"é"}'],
    ['application/json', 'utf8', '{"a":"é"}'],
    ['text/plain; charset=nonsense', 'utf8', 'Grüße'],
  ] as const)('reads an answer of %s by its charset', async (type, encoding, text) => {
    const other = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': type }).end(Buffer.from(text, encoding));
    });
    await new Promise<void>((done) => void other.listen(0, '127.0.0.1', done));
    const { port } = other.address() as AddressInfo; // Of a TCP server.
    expect((await get(`http://127.0.0.1:${port}/`, loopback)).text).toBe(text);
    await new Promise((done) => other.close(done));
  });

  it('reads no more of an answer than is asked for', async () => {
    server.answer = { status: 200, body: 'x'.repeat(3_000_000) };
    expect((await get(server.url, loopback)).text.length).toBe(262_144);
  });

  // Sixteen webhooks that waited for a slow receiver kept the tools of all calls from it, until their time was over.
  it('reaches a receiver that leaves a hundred others without an answer', async () => {
    let asked = 0;
    const slow = createServer((_request, response) => {
      asked += 1;
      if (asked > 100) response.end('done');
    });
    await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(slow.address() as AddressInfo).port}/`;
    const client = createGuardedHttp();
    const request = { method: 'GET', url, headers: {}, body: undefined };
    const send = () => client.send(request, new AbortController().signal);
    const waiting = Array.from({ length: 100 }, () => send().catch(() => undefined));
    try {
      await vi.waitFor(() => expect(asked).toBe(100));
      expect((await send()).text).toBe('done');
    } finally {
      await client.close();
      await Promise.all(waiting);
      slow.closeAllConnections();
      await new Promise((resolve) => slow.close(resolve));
    }
  });

  it('ends with its signal', async () => {
    server.answer = 'hang';
    const controller = new AbortController();
    const arrived = server.next();
    const request = { method: 'POST', url: server.url, headers: {}, body: '{}' };
    const sent = loopback.send(request, controller.signal);
    await arrived;
    controller.abort(new Error('enough'));
    await expect(sent).rejects.toThrow('enough');
  });
});

it('any text is an address to call, or refused', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.webUrl()), (text) => {
      try {
        outside.check(text);
        expect(new URL(text).protocol).toMatch(/^https?:$/);
      } catch (error) {
        expect(codeOf(error)).toBe('OUTSIDE_FORBIDDEN');
      }
    }),
  );
});

describe('requests', () => {
  let server: RestServer;
  beforeAll(async () => {
    server = await startRestServer();
  });
  afterAll(() => server.close());

  it('reach a host that is opened by its name, and no other name of that address', async () => {
    const outside = createGuardedHttp(openSignUpEgress('localhost'));
    const get = (url: string) =>
      outside.send({ method: 'GET', url, headers: {}, body: undefined }, never);
    const byName = server.url.replace('127.0.0.1', 'localhost');
    expect((await get(byName)).status).toBe(200);
    const refused = await get(server.url).catch((error: unknown) => codeOf(error));
    expect(refused).toBe('OUTSIDE_FORBIDDEN');
    await outside.close();
  });
});
