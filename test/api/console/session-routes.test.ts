// The session of the console: a cookie for a key or a password, which changes nothing without the page's header.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { LiveWatchers } from '../../../src/call/events/live-watchers.ts';
import { type CallOptions, withApi } from '../served.ts';

const HOUR_MS = 3_600_000;
const PAGE_HEADER = { 'x-patchbay-console': '1' };
const folder = mkdtempSync(join(tmpdir(), 'patchbay-built-console-'));
mkdirSync(join(folder, 'assets'));
writeFileSync(join(folder, 'index.html'), '<!doctype html><title>Patchbay</title>');
writeFileSync(join(folder, 'assets/main-1A.js'), 'start();');
writeFileSync(join(folder, 'assets/main-1A.js.br'), 'brotli');
writeFileSync(join(folder, 'assets/main-1A.js.gz'), 'gzip');

const served = withApi(() => ({
  console: {
    folder: `${folder}/`,
    fileOrigins: ['https://files.example.com'],
    live: new LiveWatchers(),
  },
}));
afterAll(() => rmSync(folder, { recursive: true }));

const session = (method: 'GET' | 'POST' | 'DELETE', options: CallOptions = {}) =>
  served.call(method, '/console/session', { key: null, ...options });

/** Logs in and returns the header with the cookie. */
async function cookieFor(body: unknown): Promise<{ cookie: string }> {
  const { status, headers, text } = await session('POST', { body, headers: PAGE_HEADER });
  expect(status, text).toBe(200);
  const [pair = ''] = String(headers['set-cookie']).split(';', 1);
  return { cookie: pair };
}

describe('the log-in of the console', () => {
  it('exchanges a key for a cookie that scripts cannot read', async () => {
    const body = { api_key: served.test.apiKey };
    const { status, headers, text } = await session('POST', { body, headers: PAGE_HEADER });
    expect([status, headers['cache-control']]).toEqual([200, 'no-store']);
    expect(headers['set-cookie']).toMatch(
      /^patchbay_session=[\w-]+\.[\w-]+\.[\w-]+; Max-Age=43200; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
    );
    expect(text + String(headers['set-cookie'])).not.toContain(served.test.apiKey);
  });

  it('exchanges a password', async () => {
    const login = { email: 'ops@example.com', password: 'correct horse' };
    await served.call('POST', '/api/v1/auth/signup', { key: null, body: login });
    const headers = await cookieFor(login);
    const { body } = await session('GET', { headers });
    expect(body).toMatchObject({ user: { email: 'ops@example.com' }, version: '1.2.3' });
  });

  it('refuses a wrong key, a wrong password, and a page without the header', async () => {
    const wrong = await session('POST', { body: { api_key: 'pbk_x' }, headers: PAGE_HEADER });
    expect([wrong.status, wrong.body.code]).toEqual([401, 'API_KEY_INVALID']);
    const login = { email: 'nobody@example.com', password: 'wrong' };
    const refused = await session('POST', { body: login, headers: PAGE_HEADER });
    expect([refused.status, refused.body.code]).toEqual([401, 'LOG_IN_REFUSED']);
    const bare = await session('POST', { body: { api_key: served.test.apiKey } });
    expect([bare.status, bare.body.code]).toEqual([403, 'CONSOLE_HEADER_MISSING']);
    expect(bare.headers['set-cookie']).toBeUndefined();
  });
});

describe('a session of the console', () => {
  const read = (headers: Record<string, string>) =>
    served.call('GET', '/api/v1/user/api-keys', { key: null, headers });
  const change = (headers: Record<string, string>) =>
    served.call('POST', '/api/v1/user/api-keys', { key: null, headers, body: { name: 'made' } });

  it('reads by the cookie alone, and changes with the header', async () => {
    const cookie = await cookieFor({ api_key: served.test.apiKey });
    expect((await read(cookie)).status).toBe(200);
    const forged = await change(cookie);
    expect([forged.status, forged.body.code]).toEqual([403, 'CONSOLE_HEADER_MISSING']);
    expect((await change({ ...cookie, ...PAGE_HEADER })).status).toBe(200);
  });

  it('ends when its key is archived', async () => {
    const { test } = served;
    const { owner } = test;
    const { apiKey, record } = await test.store.accounts.createApiKey(owner, 'of a console');
    const cookie = await cookieFor({ api_key: apiKey });
    expect((await read(cookie)).status).toBe(200);
    await test.store.accounts.archiveApiKey(owner.organizationId, record.id);
    const { status, body } = await read(cookie);
    expect([status, body.code]).toEqual([401, 'SESSION_OVER']);
  });

  it('ends after twelve hours, and is renewed by a page that is loaded', async () => {
    const cookie = await cookieFor({ api_key: served.test.apiKey });
    served.test.clock.advance(11 * HOUR_MS);
    const { headers } = await session('GET', { headers: cookie });
    const renewed = { cookie: String(headers['set-cookie']).split(';', 1)[0] ?? '' };
    served.test.clock.advance(2 * HOUR_MS);
    expect((await read(cookie)).body.code).toBe('SESSION_OVER');
    expect((await read(renewed)).status).toBe(200);
  });

  it('ends thirty days after the log-in, however often it is renewed', async () => {
    let cookie = await cookieFor({ api_key: served.test.apiKey });
    for (let hours = 10; hours < 720; hours += 10) {
      served.test.clock.advance(10 * HOUR_MS);
      const { status, headers } = await session('GET', { headers: cookie });
      expect([status, hours]).toEqual([200, hours]);
      cookie = { cookie: String(headers['set-cookie']).split(';', 1)[0] ?? '' };
    }
    served.test.clock.advance(10 * HOUR_MS);
    expect((await session('GET', { headers: cookie })).body.code).toBe('SESSION_OVER');
  });

  it('is no token of a user, nor is a token a session', async () => {
    const { cookie } = await cookieFor({ api_key: served.test.apiKey });
    const [, token = ''] = cookie.split('=');
    expect((await read({ authorization: `Bearer ${token}` })).status).toBe(401);
    const { deps, test } = served;
    const ofUser = await deps.access.tokens.issue({ id: test.owner.userId, email: null });
    expect((await read({ authorization: `Bearer ${ofUser}` })).status).toBe(200);
    expect((await read({ cookie: `patchbay_session=${ofUser}` })).body.code).toBe('SESSION_OVER');
  });

  it('is forgotten by the browser at the log-out', async () => {
    const cookie = await cookieFor({ api_key: served.test.apiKey });
    const { headers } = await session('DELETE', { headers: { ...cookie, ...PAGE_HEADER } });
    expect(headers['set-cookie']).toContain('patchbay_session=; ');
  });
});

describe('files of the console', () => {
  const get = (path: string, headers: Record<string, string> = {}) =>
    served.call('GET', path, { key: null, headers });

  it('has the page at every address below it, under a strict policy', async () => {
    for (const path of ['/console/', '/console/runs/1/2', '/console/?x=1']) {
      const { status, headers, text } = await get(path);
      expect([status, headers['content-type'], headers['cache-control']], path).toEqual([
        200,
        'text/html; charset=utf-8',
        'no-cache',
      ]);
      expect(text).toContain('<title>Patchbay</title>');
      const policy = String(headers['content-security-policy']);
      expect(policy).not.toContain('unsafe');
      expect(policy).toContain("connect-src 'self' https://files.example.com;");
    }
    const { status, headers } = await get('/console');
    expect([status, headers['location']]).toEqual([302, '/console/']);
    expect((await get('/')).headers['location']).toBe('/console/');
  });

  it('sends a file in the encoding that the browser prefers, to be kept for ever', async () => {
    const path = '/console/assets/main-1A.js';
    const { headers, text } = await get(path, { 'accept-encoding': 'gzip, br' });
    expect([text, headers['content-encoding']]).toEqual(['brotli', 'br']);
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect((await get(path, { 'accept-encoding': 'br;q=0, gzip' })).text).toBe('gzip');
    expect((await get(path)).text).toBe('start();');
    expect((await get(path, { 'if-none-match': String(headers['etag']) })).status).toBe(304);
  });

  it('has no file of another version, and none outside its folder', async () => {
    expect((await get('/console/assets/main-0.js')).status).toBe(404);
    for (const path of ['/console/..%2f..%2fpackage.json', '/console/assets/../../package.json']) {
      expect((await get(path)).text, path).not.toContain('"name"');
    }
  });
});

describe('a gateway without a console', () => {
  const without = withApi();
  it('has no page, takes no cookie, and leads to the documentation', async () => {
    const call = (path: string, headers = {}) => without.call('GET', path, { key: null, headers });
    expect((await call('/console/')).status).toBe(404);
    expect((await call('/')).headers['location']).toBe('/docs');
    const { sessions } = without.deps.access;
    const token = await sessions?.issue({ userId: without.test.owner.userId, apiKeyId: null });
    const headers = { cookie: `patchbay_session=${token}` };
    expect((await call('/api/v1/user/api-keys', headers)).body.code).toBe('CREDENTIALS_MISSING');
  });
});
