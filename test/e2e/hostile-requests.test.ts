// What a whole gateway answers to requests as scanners, wrong programs and careless people send them: as processes of
// their own, where the API process hands sockets over, and as one process. Each fault is answered, in the form of every
// error where it is HTTP, and nothing is left open.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Gateway } from '../demo/gateway.ts';
import { freePort } from '../fakes/free-port.ts';

const KEY = 'a-key-of-forty-characters-for-the-first-1';
const METRICS_TOKEN = 'the-token-of-who-scrapes';
const MEDIA = '/api/v1/telephony/ws';
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
const JSON_BODY = { 'X-API-Key': KEY, 'Content-Type': 'application/json' };

const upgrade = (path: string, version = '1.1', host = 'Host: gw\r\n'): string =>
  `GET ${path} HTTP/${version}\r\n${host}Connection: Upgrade\r\nUpgrade: websocket\r\n` +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n';
const plain = (headers: string): string => `GET /api/v1/health HTTP/1.1\r\n${headers}\r\n`;

describe.each([1, 0])('a gateway with %i workers', (workers) => {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-hostile-'));
  const logFile = join(folder, 'gateway.log');
  let port = 0;
  let gateway: Gateway;

  beforeAll(async () => {
    port = await freePort();
    gateway = await Gateway.start({
      dataFolder: join(folder, 'data'),
      logFile,
      port,
      env: {
        PATCHBAY_WORKERS: String(workers),
        PATCHBAY_STT: 'none',
        PATCHBAY_BOOTSTRAP_API_KEY: KEY,
        PATCHBAY_METRICS_TOKEN: METRICS_TOKEN,
      },
    });
  }, 180_000);

  afterAll(async () => {
    await gateway?.kill();
    rmSync(folder, { recursive: true, force: true });
  });

  /** The answer to `bytes`, until the gateway closes the connection. */
  async function answerTo(bytes: string | Buffer): Promise<string> {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined); // It may be reset while more is sent.
    socket.write(bytes);
    return (await buffer(socket)).toString('latin1');
  }

  const ask = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(gateway.url + path, { redirect: 'manual', ...init });
    const { status, headers } = response;
    return { status, headers, text: await response.text() };
  };
  const send = (path: string, body: unknown, headers: Record<string, string> = JSON_BODY) =>
    ask(path, {
      method: 'POST',
      headers,
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });

  it.each([
    ['bytes that are no HTTP', 'GARBAGE\r\n\r\n', 400],
    ['headers of 20 kB', plain(`Host: a\r\nX: ${'x'.repeat(20_000)}\r\n`), 431],
    ['no host', plain('Connection: close\r\n'), 400],
    ['two hosts', plain('Host: a\r\nHost: b\r\nConnection: close\r\n'), 400],
    ['a tunnel', 'CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n', 405],
    ['two lengths', plain('Host: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n'), 400],
    ['an upgrade of an unknown path', upgrade('/unknown'), 404],
    ['an upgrade of a path of the API', upgrade('/api/v1/health'), 404],
    ['an upgrade by HTTP/1.0', upgrade(`${MEDIA}/1/2/3/w1-x`, '1.0'), 400],
    ['an upgrade without a host', upgrade(`${MEDIA}/1/2/3/w1-x`, '1.1', ''), 400],
    [
      'an upgrade with two hosts',
      upgrade(`${MEDIA}/1/2/3/w1-x`, '1.1', 'Host: a\r\nHost: b\r\n'),
      400,
    ],
    ['an upgrade for a PBX that is not configured', upgrade(`${MEDIA}/ari/patchbay_1`), 404],
    ['an upgrade for any PBX', upgrade(`${MEDIA}/ari`), 404],
    ['a connection of a PBX that is not configured', upgrade('/api/v1/telephony/pbx/app'), 404],
  ])('answers %s', async (_what, bytes, status) => {
    const answer = await answerTo(bytes);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    const { detail } = JSON.parse(answer.split('\r\n\r\n')[1] ?? '');
    expect(detail).toEqual(expect.any(String));
  });

  it('ignores the offer of another protocol, and answers the request', async () => {
    const offer = 'Connection: close, Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n';
    const answer = await answerTo(plain(`Host: a\r\n${offer}HTTP2-Settings: AAMAAABkAAQ\r\n`));
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*"status":"ok"/);
  });

  it('says on a media socket without a good token nothing but that', async () => {
    const said = await answerTo(upgrade(`${MEDIA}/1/2/3/w1-guessed`));
    const frame = Buffer.from(said.split('\r\n\r\n')[1] ?? '', 'latin1');
    expect(said).toMatch(/^HTTP\/1\.1 101 /);
    expect(frame[0]).toBe(0x88);
  });

  it('leads a browser to its console and its documentation, and tells it what it may do', async () => {
    for (const [path, home] of [
      ['/', '/console/'],
      ['/api/v1', '/docs'],
    ] as const) {
      const { status, headers } = await ask(path);
      expect([status, headers.get('location')]).toEqual([302, home]);
    }
    for (const path of ['/docs/', '/api/v1/files/recordings/1.wav', '/nothing']) {
      const { headers } = await ask(path);
      expect(headers.get('x-content-type-options'), path).toBe('nosniff');
      expect(headers.get('x-frame-options'), path).toBe('DENY');
      expect(headers.get('strict-transport-security'), path).toBeNull(); // Its URL is http.
    }
    const file = await ask('/api/v1/files/recordings/1.wav');
    expect(file.headers.get('content-security-policy')).toContain("default-src 'none'");
  });

  it('shows its metrics to those with the token, and its key to no one', async () => {
    expect((await ask('/metrics')).status).toBe(401);
    const headers = { authorization: `Bearer ${METRICS_TOKEN}` };
    expect((await ask('/metrics', { headers })).text).toContain('patchbay_');
    expect((await ask('/api/v1/user/api-keys', { headers: { 'X-API-Key': KEY } })).status).toBe(
      200,
    );
    expect(readFileSync(logFile, 'utf8')).not.toContain(KEY);
  });

  it('names in the first hour the header that is missing', async () => {
    const path = '/api/v1/user/api-keys';
    expect((await ask(path)).text).toContain('X-API-Key');
    const asForm = await send(path, '{"name":"a"}', { 'X-API-Key': KEY, ...FORM });
    expect([asForm.status, asForm.text]).toEqual([
      422,
      expect.stringContaining('Content-Type: application/json'),
    ]);
    expect((await send(path, '\ufeff{"name":"from Windows"}')).status).toBe(200);
  });

  it('connects to no metadata service, whichever way it is told to', async () => {
    const metadata = 'http://169.254.169.254';
    const config = { provider: 'ari', ari_endpoint: metadata, app_name: 'a', app_password: 'b' };
    const stored = await send('/api/v1/organizations/telephony-configs', { name: 'pbx', config });
    expect([stored.status, stored.text]).toEqual([400, expect.stringContaining('metadata')]);
    const definition = {
      schema_version: 1,
      type: 'http_api',
      config: { method: 'GET', url: `${metadata}/latest` },
    };
    const tool = await send('/api/v1/tools/', { name: 't', category: 'http_api', definition });
    const { tool_uuid: id } = JSON.parse(tool.text);
    const tried = await send(`/api/v1/tools/${id}/test`, { arguments: {} });
    expect(JSON.parse(tried.text)).toMatchObject({
      status: 'error',
      status_code: null,
      error: expect.stringContaining('metadata'),
    });
    const llm = { provider: 'openai', api_key: 'k', model: 'm', base_url: `${metadata}/v1` };
    const stt = { provider: 'wyoming', base_url: 'tcp://169.254.169.254:80' };
    for (const pipeline of [{ llm }, { stt }]) {
      const response = await fetch(`${gateway.url}/api/v1/organizations/model-configurations/v2`, {
        method: 'PUT',
        headers: JSON_BODY,
        body: JSON.stringify({ version: 2, mode: 'byok', byok: { mode: 'pipeline', pipeline } }),
      });
      expect([response.status, await response.text()]).toEqual([
        422,
        expect.stringContaining('metadata'),
      ]);
    }
  });

  it('ends a call that it cannot answer in the words of its provider', async () => {
    const { status, text: markup } = await send(
      '/api/v1/telephony/inbound/fallback',
      'CallSid=CA1&AccountSid=AC1',
      FORM,
    );
    expect([status, markup]).toEqual([200, expect.stringContaining('<Hangup/>')]);
  });

  it('answers webhooks without a signature alike for every run', async () => {
    const answers = await Promise.all(
      ['1', '999999', 'x'].map((id) =>
        send(`/api/v1/telephony/twilio/status-callback/${id}`, 'CallSid=CA1&AccountSid=AC1', FORM),
      ),
    );
    expect(new Set(answers.map(({ status, text: body }) => `${status} ${body}`))).toEqual(
      new Set(['401 {"detail":"Invalid webhook signature","code":"WEBHOOK_SIGNATURE"}']),
    );
  });

  it('is as ready afterwards as before, and has logged no error', async () => {
    expect((await ask('/ready')).status).toBe(200);
    const errors = readFileSync(logFile, 'utf8').match(/"level":"error".*/g);
    expect(errors).toBeNull();
  });
});
