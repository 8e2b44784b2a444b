// The limits of requests for one account: what the provider documents, and the pauses that it asks for.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAccountRest } from '../../../src/telephony/provider/account-rest.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { type RestServer, startRestServer } from './rest-server.ts';

const { signal } = new AbortController();
const LIMIT = { requestsMax: 5, windowMs: 1_000, reserved: 2, words: 'the 5 requests a second' };
const TOO_MANY = { status: 429, body: {} };

let server: RestServer;
let clock: FakeClock;
beforeAll(async () => {
  server = await startRestServer();
});
beforeEach(() => {
  clock = new FakeClock();
  server.asked.length = 0;
  server.answer = { status: 200, body: {} };
});
afterAll(() => server.close());

const request = (action: string, account = 'a') => ({
  action,
  account,
  method: 'POST' as const,
  url: `${server.url}/${action}`,

  headers: {},
  body: null,
  repeatable: false,
});
const paths = () => server.asked.map(({ path }) => path);
const arrived = async (count: number): Promise<void> => {
  while (server.asked.length < count) await server.next();
};

describe('requests in the name of an account', () => {
  it('are sent up to the limit; a hang-up is sent out of the part that is kept for it', async () => {
    const rest = createAccountRest({ provider: 'vonage', clock, limit: LIMIT });
    const dials = Array.from({ length: 4 }, () => rest.send(request('dial'), signal));
    await Promise.all(dials.slice(0, 3));
    await rest.send(request('hang-up'), signal);
    expect(paths()).toEqual(['/dial', '/dial', '/dial', '/hang-up']);
    await rest.send(request('dial', 'another'), signal);
    clock.advance(1_000);
    await dials[3];
    expect(server.asked).toHaveLength(6);
    expect(clock.timers).toBe(0);
  });

  it('wait for the pause that the provider asks for, and are sent once more', async () => {
    const rest = createAccountRest({ provider: 'twilio', clock });
    server.answer = { ...TOO_MANY, headers: { ['retry-after']: '2' } };
    const sent = rest.send(request('dial'), signal);
    await arrived(1);
    server.answer = { status: 201, body: {} };
    while (clock.timers < 2) await new Promise((resolve) => setImmediate(resolve));
    clock.advance(1_900);
    expect(server.asked).toHaveLength(1);
    clock.advance(100);
    expect((await sent).status).toBe(201);
    expect(server.asked).toHaveLength(2);
  });

  it.each([
    ['without a time', {}],
    ['for long', { ['retry-after']: '60' }],
  ])('that are refused %s are refused at once', async (_, headers) => {
    const rest = createAccountRest({ provider: 'twilio', clock });
    server.answer = { ...TOO_MANY, headers };
    expect((await rest.send(request('dial'), signal)).status).toBe(429);
    expect(server.asked).toHaveLength(1);
  });

  it('are not kept for longer than calls can wait, and end with their signal', async () => {
    const rest = createAccountRest({ provider: 'twilio', clock });
    server.answer = { ...TOO_MANY, headers: { ['retry-after']: '600' } };
    await rest.send(request('dial'), signal);
    server.answer = { status: 200, body: {} };
    const caller = new AbortController();
    const given = rest.send(request('dial'), caller.signal);
    caller.abort();
    await expect(given).rejects.toMatchObject({ code: 'PROVIDER_FAILED' });
    const later = rest.send(request('dial'), signal);
    clock.advance(10_000);
    expect((await later).status).toBe(200);
  });

  // A hang-up is given up after five seconds: one that waited for a dial's pause was never sent, and the call stayed up.
  it('that end a call are sent in a pause that a dial was asked for', async () => {
    const rest = createAccountRest({ provider: 'telnyx', clock });
    server.answer = { ...TOO_MANY, headers: { ['retry-after']: '60' } };
    await rest.send(request('dial'), signal);
    server.answer = { status: 200, body: {} };
    const dial = rest.send(request('dial'), signal);
    expect((await rest.send(request('hang-up'), signal)).status).toBe(200);
    expect(paths()).toEqual(['/dial', '/hang-up']);
    clock.advance(10_000);
    await dial;
  });

  it('that end a call wait for a pause that one of them was asked for, for three seconds at most', async () => {
    const rest = createAccountRest({ provider: 'telnyx', clock });
    server.answer = { ...TOO_MANY, headers: { ['retry-after']: '60' } };
    expect((await rest.send(request('hang-up'), signal)).status).toBe(429);
    server.answer = { status: 200, body: {} };
    const next = rest.send(request('hang-up'), signal);
    clock.advance(2_900);
    expect(server.asked).toHaveLength(1);
    clock.advance(100);
    expect((await next).status).toBe(200);
  });

  it('that end a call have a place when the queue is full of dials', async () => {
    const limit = { ...LIMIT, waitingMax: 4 };
    const rest = createAccountRest({ provider: 'vonage', clock, limit });
    const dials = Array.from({ length: 8 }, () => rest.send(request('dial'), signal));
    const settled = Promise.allSettled(dials);
    await rest.send(request('hang-up'), signal);
    await rest.send(request('hang-up'), signal);
    const third = rest.send(request('hang-up'), signal);
    clock.advance(1_000);
    expect((await third).status).toBe(200);
    clock.advance(1_000);
    expect((await settled).map(({ status }) => status)).toEqual([
      ...Array.from({ length: 7 }, () => 'fulfilled'),
      'rejected',
    ]);
  });

  it('fail when the queue of their account is too long for them', async () => {
    const rest = createAccountRest({
      provider: 'vonage',
      clock,
      limit: { ...LIMIT, windowMs: 60_000 },
    });
    await Promise.all([1, 2, 3].map(() => rest.send(request('dial'), signal)));
    const late = rest.send(request('dial'), signal);
    clock.advance(12_000);
    await expect(late).rejects.toMatchObject({ code: 'PROVIDER_CAPACITY' });
    await expect(late).rejects.toThrow('the 5 requests a second are used up');
  });
});
