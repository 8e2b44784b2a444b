// What a client meets before any route: bytes that are no HTTP, two hosts, a byte order mark, headers for browsers.

import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { withApi } from '../served.ts';

const TOKEN = 'the-token-of-who-scrapes';
const served = withApi(() => ({ metricsToken: TOKEN }));
let port: number;

beforeAll(async () => {
  await served.api.listen({ host: '127.0.0.1', port: 0 });
  port = (served.api.server.address() as { port: number }).port;
});

/** The answer to `bytes`, as it came. */
async function sent(bytes: string): Promise<{ status: number; body: unknown }> {
  const socket = connect(port, '127.0.0.1');
  socket.write(bytes);
  const answer = await text(socket);
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), body: JSON.parse(body) };
}

describe('bytes that are no request', () => {
  it('are 400 in the form of every error', async () => {
    expect(await sent('GARBAGE\r\n\r\n')).toEqual({
      status: 400,
      body: { detail: 'Bad Request', code: 'BAD_REQUEST' },
    });
  });

  it('are 431 with headers that are too long', async () => {
    const long = `GET / HTTP/1.1\r\nHost: a\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`;
    expect(await sent(long)).toEqual({
      status: 431,
      body: { detail: 'Request Header Fields Too Large', code: 'HEADERS_OVERSIZED' },
    });
  });

  it.each([
    ['two hosts', '1.1', 'Host: a\r\nHost: b\r\n', 400],
    ['no host', '1.1', '', 400],
    ['no host by HTTP/1.0', '1.0', '', 200],
  ])('with %s are answered as HTTP/%s wants it', async (_what, version, hosts, status) => {
    const request = `GET /api/v1/health HTTP/${version}\r\n${hosts}Connection: close\r\n\r\n`;
    const answer = await sent(request);
    expect(answer.status).toBe(status);
    if (status === 400) expect(answer.body).toEqual({ detail: 'Bad Request', code: 'BAD_REQUEST' });
  });

  it('are 405 for a tunnel, which only proxies open', async () => {
    const request = 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n';
    expect(await sent(request)).toEqual({
      status: 405,
      body: { detail: 'Method Not Allowed', code: 'METHOD_NOT_ALLOWED' },
    });
  });

  it('are 417 with an expectation that is not met', async () => {
    const request =
      'POST /api/v1/auth/login HTTP/1.1\r\nHost: a\r\nExpect: wonders\r\nContent-Length: 2\r\n\r\n{}';
    expect(await sent(request)).toEqual({
      status: 417,
      body: { detail: 'Expectation Failed', code: 'EXPECTATION_FAILED' },
    });
  });
});

describe('a body', () => {
  const post = (payload: string | Buffer, type: string, more: Record<string, string> = {}) =>
    served.call('POST', '/api/v1/user/api-keys', {
      body: Buffer.from(payload),
      headers: { 'content-type': type, ...more },
    });

  it('may begin with a byte order mark', async () => {
    const { status, body } = await post('\ufeff{"name":"from Windows"}', 'application/json');
    expect([status, body.name]).toEqual([200, 'from Windows']);
  });

  // Decoded, it would be stored with U+FFFD in place of each character that is none.
  it.each([100, 70_000])('of %d bytes that are not UTF-8 is refused', async (bytes) => {
    const latin1 = Buffer.from('{"name":"Jos\u00e9"}'.padStart(bytes, ' '), 'latin1');
    const { status, body } = await post(latin1, 'application/json');
    expect(status).toBe(422);
    expect(body.detail[0]).toMatchObject({
      type: 'json_invalid',
      ctx: { error: 'the body is not UTF-8' },
    });
  });

  it('that is compressed is refused with what to do, not as JSON that is none', async () => {
    const zipped = gzipSync('{"name":"a"}');
    const coded = await post(zipped, 'application/json', { 'content-encoding': 'gzip' });
    expect(coded.status).toBe(422);
    expect(coded.body.detail[0].ctx.error).toBe(
      'the body has a Content-Encoding: send it without one',
    );
    const plain = await post('{"name":"a"}', 'application/json', {
      'content-encoding': 'Identity',
    });
    expect(plain.status).toBe(200);
  });

  // curl sends `-d` as a form unless it is told the type.
  it.each([
    ['text/plain', '{"name":"a"}'],
    ['application/x-www-form-urlencoded', '{"name":"a"}'],
    ['application/x-www-form-urlencoded', '\ufeff {"name":"a&b=c"}'],
    ['application/x-www-form-urlencoded', '[1]'],
  ])('of type %s that is JSON is refused with the type that is wanted: %s', async (type, json) => {
    const { status, body } = await post(json, type);
    expect(status).toBe(422);
    expect(body.detail[0]).toMatchObject({ type: 'model_attributes_type', loc: ['body'] });
    expect(body.detail[0].msg).toContain('Content-Type: application/json');
  });

  it('with a misspelled field is refused with the field that is meant', async () => {
    const answer = await served.call('POST', '/api/v1/public/agent/x', {
      body: { phone_number: '+14155550100', inital_context: { name: 'Jo' } },
    });
    expect([answer.status, answer.body.detail]).toEqual([
      422,
      [
        {
          type: 'extra_forbidden',
          loc: ['body', 'inital_context'],
          msg: 'Unknown field: did you mean initial_context?',
          input: null,
          ctx: { meant: 'initial_context' },
        },
      ],
    ]);
    expect(served.callService.started).toEqual([]);
  });

  it('that misspells a required field is told which one, not only what is missing', async () => {
    const body = { phone_numbr: '+14155550100' };
    const answer = await served.call('POST', '/api/v1/public/agent/x', { body });
    expect(answer.status).toBe(422);
    expect(answer.body.detail).toMatchObject([
      { type: 'missing', loc: ['body', 'phone_number'] },
      { loc: ['body', 'phone_numbr'], msg: 'Unknown field: did you mean phone_number?' },
    ]);
  });
});

describe('a browser', () => {
  it('is led to the documentation', async () => {
    for (const path of ['/', '/api/v1']) {
      const { status, headers } = await served.call('GET', path, { key: null });
      expect([path, status, headers['location']]).toEqual([path, 302, '/docs']);
    }
  });

  it('guesses no type, shows nothing in a frame, and comes by TLS alone', async () => {
    for (const path of ['/api/v1/health', '/docs/', '/api/v1/files/recordings/1.wav']) {
      const { headers } = await served.call('GET', path, { key: null });
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'strict-transport-security': 'max-age=31536000',
      });
    }
  });

  it('runs nothing that a file holds, and only the own scripts of the documentation', async () => {
    const file = await served.call('GET', '/api/v1/files/recordings/1.wav', { key: null });
    expect(file.headers['content-security-policy']).toContain("default-src 'none'");
    const docs = await served.call('GET', '/docs/', { key: null });
    const policy = docs.headers['content-security-policy'];
    expect(policy).toContain("default-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    // A browser would ask a gateway without TLS for its scripts by https.
    expect(policy).not.toContain('upgrade-insecure-requests');
  });
});

describe('metrics', () => {
  it('are for who sends the token, where there is one', async () => {
    const scrape = (authorization?: string) =>
      served.call('GET', '/metrics', {
        key: null,
        headers: authorization === undefined ? {} : { authorization },
      });
    for (const wrong of [undefined, TOKEN, 'Bearer other']) {
      expect((await scrape(wrong)).status).toBe(401);
    }
    expect((await scrape(`Bearer ${TOKEN}`)).text).toContain('patchbay_');
  });
});
