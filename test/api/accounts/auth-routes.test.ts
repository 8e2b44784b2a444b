// Signing up and logging in, and the rows of the contract about who may ask. Source: contract §3.2, §3.3.

import { decodeJwt } from 'jose';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Api } from '../../../src/api/http/api-deps.ts';
import { buildServer } from '../../../src/api/server.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { type CallOptions, testAccess, withApi } from '../served.ts';

const served = withApi();
const { call, ok } = served;
const ada = { email: 'Ada@Example.com', password: 'correct horse', name: 'Ada' };
const post = (path: string, body: unknown, options: CallOptions = {}) =>
  call('POST', `/api/v1/auth/${path}`, { key: null, body, ...options });
const asBearer = (token: string) => ({ key: null, headers: { authorization: `Bearer ${token}` } });

describe('signing up', () => {
  it('gives a token and the user, in an organization of its own', async () => {
    const { status, body } = await post('signup', ada);
    expect([status, body]).toEqual([
      200,
      {
        token: expect.any(String),
        user: {
          id: expect.stringMatching(/^\d+$/),
          email: 'ada@example.com',
          name: 'Ada',
          organization_id: expect.stringMatching(/^\d+$/),
          provider_id: `local_${body.user.id}`,
        },
      },
    ]);
    expect(body.user.organization_id).not.toBe(served.test.owner.organizationId);
    expect(decodeJwt(body.token)).toMatchObject({ sub: body.user.id, email: 'ada@example.com' });
    expect((await call('GET', '/api/v1/auth/me', asBearer(body.token))).body).toEqual(body.user);
  });

  it('needs no name', async () => {
    const { body } = await post('signup', { email: 'b@example.com', password: '12345678' });
    expect(body.user).toMatchObject({ name: null });
  });

  it('with an email that is registered is 409, upper and lower case alike', async () => {
    await post('signup', ada);
    const { status, body } = await post('signup', { ...ada, email: 'ADA@EXAMPLE.COM' });
    expect([status, body]).toEqual([
      409,
      { detail: 'Email already registered', code: 'EMAIL_TAKEN' },
    ]);
  });

  it.each([
    [{ password: 'correct horse' }, 'missing', ['body', 'email']],
    [{ ...ada, password: '1234567' }, 'string_too_short', ['body', 'password']],
    [{ ...ada, email: 'ada' }, 'value_error', ['body', 'email']],
  ])('with %j is 422', async (body, type, loc) => {
    const answer = await post('signup', body);
    expect(answer.status).toBe(422);
    expect(answer.body.detail[0]).toMatchObject({ type, loc });
    expect(answer.text).not.toContain('correct horse');
    expect(answer.text).not.toContain('1234567');
  });

  it('stores no password and logs none', async () => {
    await post('signup', ada);
    const rows = await served.test.sql('select users::text as text from users');
    expect(JSON.stringify(rows)).not.toContain(ada.password);
    expect(JSON.stringify(served.test.lines())).not.toContain(ada.password);
  });

  it('allows the user of an API key to log in, once', async () => {
    const key = served.test.apiKey;
    const { status, body } = await post('signup', ada, { key });
    expect(status).toBe(200);
    const { userId, organizationId } = served.test.owner;
    expect(body.user).toMatchObject({ id: userId, organization_id: organizationId });
    expect((await post('login', ada)).body.user).toEqual(body.user);
    const again = await post('signup', { ...ada, email: 'b@example.com' }, { key });
    expect([again.status, again.body]).toEqual([
      409,
      { detail: 'The user of this API key has a log-in already', code: 'LOG_IN_EXISTS' },
    ]);
  });

  it('with a bad API key is 401', async () => {
    const { status, body } = await post('signup', ada, { key: 'wrong' });
    expect([status, body]).toEqual([
      401,
      { detail: 'Invalid or expired API key', code: 'API_KEY_INVALID' },
    ]);
  });
});

describe('logging in', () => {
  it('gives a token and the user', async () => {
    const signedUp = await post('signup', ada);
    const { status, body } = await post('login', {
      email: 'ada@EXAMPLE.com',
      password: ada.password,
    });
    expect([status, body]).toEqual([200, { token: expect.any(String), user: signedUp.body.user }]);
    expect((await call('GET', '/api/v1/auth/me', asBearer(body.token))).body).toEqual(body.user);
  });

  it('is 401 with a wrong password and with an unknown address, in the same words', async () => {
    await post('signup', ada);
    for (const body of [
      { ...ada, password: 'wrong' },
      { ...ada, email: 'nobody@example.com' },
    ]) {
      const answer = await post('login', body);
      expect([answer.status, answer.body]).toEqual([
        401,
        { detail: 'Invalid email or password', code: 'LOG_IN_REFUSED' },
      ]);
    }
  });

  it('with no email address is 422', async () => {
    const { status, body } = await post('login', { email: 'ada', password: 'x' });
    const fault = { type: 'value_error', loc: ['body', 'email'] };
    expect([status, body.detail[0]]).toMatchObject([422, fault]);
  });

  it('is impossible for a user who only has keys', async () => {
    const { status } = await post('login', { email: 'first@example.com', password: '' });
    expect(status).toBe(401);
  });
});

describe('who asks', () => {
  it('is 401 without credentials', async () => {
    const { status, body } = await call('GET', '/api/v1/auth/me', { key: null });
    expect([status, body]).toEqual([
      401,
      {
        detail:
          'Authorization header required. Send an API key in X-API-Key, or a token in Authorization',
        code: 'CREDENTIALS_MISSING',
      },
    ]);
  });

  it('is 401 with a token that is bad or expired', async () => {
    const { token } = (await post('signup', ada)).body;
    for (const bad of [`${token}x`, 'a.b.c', 'wrong', '']) {
      const { status, body } = await call('GET', '/api/v1/auth/me', asBearer(bad));
      expect([bad, status, body]).toEqual([
        bad,
        401,
        { detail: 'Invalid or expired token', code: 'TOKEN_INVALID' },
      ]);
    }
    served.test.clock.advance(721 * 3_600_000);
    const { status, body } = await call('GET', '/api/v1/auth/me', asBearer(token));
    expect([status, body]).toEqual([
      401,
      { detail: 'Invalid or expired token', code: 'TOKEN_INVALID' },
    ]);
  });

  it('is 401 with the token of a user who is gone', async () => {
    const { token, user } = (await post('signup', ada)).body;
    await served.test.sql('delete from users where id = $1', [user.id]);
    const { status, body } = await call('GET', '/api/v1/auth/me', asBearer(token));
    expect([status, body]).toEqual([401, { detail: 'User not found', code: 'USER_NOT_FOUND' }]);
  });

  it('is 401 with a key that is bad or archived', async () => {
    const { id, api_key: key } = await ok('POST', '/user/api-keys', { name: 'old' });
    expect((await call('GET', '/api/v1/auth/me', { key })).status).toBe(200);
    await ok('DELETE', `/user/api-keys/${id}`);
    for (const bad of [key, 'wrong']) {
      const { status, body } = await call('GET', '/api/v1/auth/me', { key: bad });
      expect([status, body]).toEqual([
        401,
        { detail: 'Invalid or expired API key', code: 'API_KEY_INVALID' },
      ]);
    }
  });

  it('is 401 with a key whose owner is gone', async () => {
    const { userId, apiKey: key } = await served.stranger();
    expect((await call('GET', '/api/v1/auth/me', { key })).status).toBe(200);
    await served.test.sql('delete from users where id = $1', [userId]);
    // A key is read once a second.
    await vi.waitFor(async () => {
      const { status, body } = await call('GET', '/api/v1/auth/me', { key });
      expect([status, body]).toEqual([
        401,
        { detail: 'Invalid or expired API key', code: 'API_KEY_INVALID' },
      ]);
    });
  });

  it('may be identified by a token without the word Bearer', async () => {
    const { token, user } = (await post('signup', ada)).body;
    const bare = { key: null, headers: { authorization: token } };
    expect((await call('GET', '/api/v1/auth/me', bare)).body).toEqual(user);
  });

  it('is identified by X-API-Key alone if it is present', async () => {
    const { token } = (await post('signup', ada)).body;
    const headers = { authorization: `Bearer ${token}` };
    const answer = await call('GET', '/api/v1/auth/me', { headers });
    expect(answer.body).toMatchObject({ id: served.test.owner.userId, email: null });
    expect((await call('GET', '/api/v1/auth/me', { headers, key: 'wrong' })).status).toBe(401);
    expect((await call('GET', '/api/v1/auth/me', { headers, key: '' })).status).toBe(401);
  });

  it('returns only the own organization', async () => {
    const { token } = (await post('signup', ada)).body;
    const own = await call('GET', '/api/v1/user/api-keys', asBearer(token));
    expect([own.status, own.body]).toEqual([200, []]);
    const made = await call('POST', '/api/v1/user/api-keys', {
      ...asBearer(token),
      body: { name: 'hers' },
    });
    const theirs = await ok('GET', '/user/api-keys');
    expect(theirs.map(({ id }: { id: string }) => id)).not.toContain(made.body.id);
  });
});

describe('limits', () => {
  let clock: FakeClock;
  let api: Api | undefined;
  /** Another process of the gateway. */
  let second: Api | undefined;
  const from = (ip: string, headers: Record<string, string> = {}) => ({
    headers: { 'x-forwarded-for': ip, ...headers },
  });

  beforeEach(async () => {
    await api?.close();
    await second?.close();
    clock = served.test.clock;
    const badKeys = { attemptsMax: 3, windowMs: 60_000 };
    const access = testAccess(clock, served.test.store.tokenKeys, { badKeys });
    api = await buildServer({ ...served.deps, access });
  });
  afterAll(async () => {
    await api?.close();
    await second?.close();
  });

  const inject = async (
    url: string,
    { headers, payload }: { headers: Record<string, string>; payload?: object },
  ) => {
    const method = payload === undefined ? 'GET' : 'POST';
    const sent = {
      method,
      url: `/api/v1${url}`,
      headers,
      ...(payload ? { payload } : {}),
    } as const;
    const answer = await api?.inject(sent);
    return [answer?.statusCode, answer?.headers['retry-after'] ?? null];
  };
  const logIn = (ip: string, body: object) =>
    inject('/auth/login', { ...from(ip), payload: { ...ada, ...body } });
  const times = async (count: number, ask: (i: number) => Promise<unknown[]>) => {
    const all: unknown[] = [];
    for (let i = 0; i < count; i++) all.push((await ask(i))[0]);
    return all;
  };
  const same = (count: number, status: number) => Array.from({ length: count }, () => status);

  it('of wrong passwords: ten in a quarter of an hour for one address, from anywhere', async () => {
    await post('signup', ada);
    const wrong = await times(10, (i) => logIn(`192.0.2.${i}`, { password: 'wrong' }));
    expect(wrong).toEqual(same(10, 401));
    expect(await logIn('192.0.2.99', {})).toEqual([429, '900']);
    expect(await logIn('192.0.2.99', { email: 'nobody@example.com' })).toEqual([401, null]);
    clock.advance(900_000);
    expect(await logIn('192.0.2.99', {})).toEqual([200, null]);
  });

  it('hold over all processes of a gateway', async () => {
    await post('signup', ada);
    const access = testAccess(clock, served.test.store.tokenKeys);
    second = await buildServer({ ...served.deps, access });
    const both = [api, second];
    const ask = async (i: number, headers: Record<string, string>, password: string) => {
      const payload = { ...ada, password };
      const url = '/api/v1/auth/login';
      const answer = await both[i % 2]?.inject({ method: 'POST', url, headers, payload });
      return answer?.statusCode;
    };
    expect(await ask(0, from('192.0.2.200').headers, ada.password)).toBe(200);
    const wrong: unknown[] = [];
    for (let i = 0; i < 24; i++) wrong.push(await ask(i, from('192.0.2.1').headers, 'wrong'));
    expect(wrong.filter((status) => status === 401)).toHaveLength(10);
    expect(wrong.filter((status) => status === 429)).toHaveLength(14);
    // The owner's client is known to the other process too.
    expect(await ask(1, from('192.0.2.200').headers, ada.password)).toBe(200);
  });

  it('of wrong passwords do not lock out clients where the account has logged in before', async () => {
    await post('signup', ada);
    expect(await logIn('192.0.2.200', {})).toEqual([200, null]);
    await times(10, (i) => logIn(`192.0.2.${i}`, { password: 'wrong' }));
    expect(await logIn('192.0.2.99', {})).toEqual([429, '900']);
    expect(await logIn('192.0.2.200', {})).toEqual([200, null]);
    expect(await logIn('192.0.2.99', {})).toEqual([429, '900']);
    const wrong = await times(11, () => logIn('192.0.2.200', { password: 'wrong' }));
    expect(wrong).toEqual([...same(10, 401), 429]);
  });

  it('of wrong passwords do not lock out clients with a key of the account', async () => {
    await post('signup', ada, { headers: { 'x-api-key': served.test.apiKey } });
    const other = await served.stranger();
    await times(10, (i) => logIn(`192.0.2.${i}`, { password: 'wrong' }));
    const withKey = (key: string) =>
      inject('/auth/login', { ...from('192.0.2.99', { 'x-api-key': key }), payload: ada });
    expect(await withKey(other.apiKey)).toEqual([429, '900']);
    expect(await withKey('no key')).toEqual([429, '900']);
    expect(await withKey(served.test.apiKey)).toEqual([200, null]);
  });

  it('of wrong passwords: fifty in a quarter of an hour from one client', async () => {
    await post('signup', ada);
    const wrong = await times(50, (i) => logIn('192.0.2.1', { email: `a${i}@example.com` }));
    expect(wrong).toEqual(same(50, 401));
    expect(await logIn('192.0.2.1', {})).toEqual([429, '900']);
    expect(await logIn('192.0.2.2', {})).toEqual([200, null]);
  });

  it('do not count right passwords', async () => {
    await post('signup', ada);
    expect(await times(60, () => logIn('192.0.2.1', {}))).toEqual(same(60, 200));
    await times(9, () => logIn('192.0.2.1', { password: 'wrong' }));
    await logIn('192.0.2.1', {});
    const more = await times(10, () => logIn('192.0.2.1', { password: 'wrong' }));
    expect(more).toEqual(same(10, 401));
  });

  it('of new organizations: twenty in an hour from one client', async () => {
    const signUp = (i: number) =>
      inject('/auth/signup', {
        ...from('192.0.2.1'),
        payload: { ...ada, email: `a${i}@example.com` },
      });
    expect(await times(20, signUp)).toEqual(same(20, 200));
    expect(await signUp(20)).toEqual([429, '3600']);
  });

  it('of bad keys by client, which lock out no good key', async () => {
    const ask = (key: string, ip = '192.0.2.1') =>
      inject('/user/api-keys', from(ip, { 'x-api-key': key }));
    expect(await times(3, () => ask('wrong'))).toEqual(same(3, 401));
    expect(await ask('wrong')).toEqual([429, '60']);
    expect(await ask(served.test.apiKey)).toEqual([200, null]);
    expect(await ask('wrong', '192.0.2.2')).toEqual([401, null]);
    clock.advance(60_000);
    expect(await ask('wrong')).toEqual([401, null]);
  });

  it('of bad keys hold for the starts of calls too', async () => {
    const start = () =>
      inject('/public/agent/x', { ...from('192.0.2.1', { 'x-api-key': 'wrong' }), payload: {} });
    expect(await times(4, start)).toEqual([401, 401, 401, 429]);
  });

  it('use X-Forwarded-For of trusted proxies only', async () => {
    await api?.close();
    const access = testAccess(clock, served.test.store.tokenKeys, {
      badKeys: { attemptsMax: 1, windowMs: 60_000 },
    });
    api = await buildServer({ ...served.deps, access, trustedProxies: ['10.0.0.0/8'] });
    const ask = (ip: string) => inject('/user/api-keys', from(ip, { 'x-api-key': 'wrong' }));
    expect(await times(2, (i) => ask(`192.0.2.${i}`))).toEqual([401, 429]);
  });
});

describe('where sign-up is closed', () => {
  const closed = withApi((test) => ({
    access: testAccess(new FakeClock(), test.store.tokenKeys, { isSignUpOpen: false }),
  }));

  it('signing up is 403, but not for who has an API key', async () => {
    const stranger = await closed.call('POST', '/api/v1/auth/signup', { key: null, body: ada });
    expect([stranger.status, stranger.body]).toEqual([
      403,
      { detail: 'Signup is disabled', code: 'SIGN_UP_CLOSED' },
    ]);
    const owner = await closed.call('POST', '/api/v1/auth/signup', { body: ada });
    expect(owner.status).toBe(200);
  });

  it('the health check says so', async () => {
    expect(await closed.ok('GET', '/health')).toMatchObject({ signup_enabled: false });
    expect(await ok('GET', '/health')).toMatchObject({ signup_enabled: true });
  });
});

describe('where another service checks credentials', () => {
  const foreign = withApi(() => ({ authProvider: 'stack' }));

  it('there is nothing to sign up at', async () => {
    for (const [method, path] of [
      ['POST', 'signup'],
      ['POST', 'login'],
      ['GET', 'me'],
    ] as const) {
      for (const options of [{}, { key: null }]) {
        const { status, body } = await foreign.call(method, `/api/v1/auth/${path}`, options);
        expect([path, status, body]).toEqual([
          path,
          404,
          { detail: 'Not found', code: 'LOG_IN_ELSEWHERE' },
        ]);
      }
    }
  });
});
