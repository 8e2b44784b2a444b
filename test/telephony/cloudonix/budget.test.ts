// Ten requests in ten seconds for one domain (trap 28 of providers §10): hang-ups must not wait behind dials.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  domainBudget,
  REQUESTS_MAX,
  RESERVED_REQUESTS,
  WINDOW_MS,
} from '../../../src/telephony/cloudonix/client.ts';
import { cloudonixProvider } from '../../../src/telephony/cloudonix/provider.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { type RestServer, startRestServer } from '../provider/rest-server.ts';

const GENERAL_MAX = REQUESTS_MAX - RESERVED_REQUESTS;
const { signal } = new AbortController();
const code = (expected: string) => expect.objectContaining({ code: expected });

/** Claims by name; `started` has those that may be sent. */
function claims(options: { requestsMax?: number } = {}) {
  const clock = new FakeClock();
  const budget = domainBudget({ clock, ...options });
  const started: string[] = [];
  const failed: unknown[] = [];
  const claim = async (name: string, isUrgent = false, by = signal): Promise<void> => {
    try {
      await budget.claim(name, isUrgent, by);
      started.push(name);
    } catch (error) {
      failed.push(error);
    }
  };
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return { clock, budget, started, failed, claim, settle };
}

describe('the budget of a domain', () => {
  it('starts dials up to a part of the limit, and hang-ups up to all of it', async () => {
    const { started, claim, settle } = claims();
    for (let i = 0; i < REQUESTS_MAX; i++) void claim(`dial-${i}`);
    for (let i = 0; i < REQUESTS_MAX; i++) void claim(`hang-up-${i}`, true);
    await settle();
    expect(started.filter((each) => each.startsWith('dial'))).toHaveLength(GENERAL_MAX);
    expect(started).toHaveLength(REQUESTS_MAX);
  });

  it('never starts more than ten in any ten seconds, and starts all in time', async () => {
    const { clock, started, claim, settle } = claims();
    const at: number[] = [];
    for (let i = 0; i < 13; i++) void claim(`dial-${i}`).then(() => at.push(clock.monotonicMs()));
    for (let ms = 0; ms < WINDOW_MS + 500; ms += 100) {
      clock.advance(100);
      await settle();
    }
    expect(started).toHaveLength(13);
    for (const from of at) {
      const within = at.filter((each) => each >= from && each < from + 10_000);
      expect(within.length).toBeLessThanOrEqual(REQUESTS_MAX);
    }
  });

  it('starts hang-ups before dials that wait longer', async () => {
    const { clock, started, claim, settle } = claims();
    for (let i = 0; i < REQUESTS_MAX; i++) void claim(`first-${i}`, true);
    await settle();
    started.length = 0;
    void claim('dial');
    clock.advance(1);
    void claim('hang-up', true);
    clock.advance(WINDOW_MS);
    await settle();
    expect(started).toEqual(['hang-up', 'dial']);
  });

  it('refuses who would wait too long, and who comes when too many wait', async () => {
    const { clock, failed, claim, settle } = claims({ requestsMax: 4 });
    for (let i = 0; i < 52; i++) void claim(`dial-${i}`);
    await settle();
    expect(failed).toEqual([code('PROVIDER_CAPACITY')]);
    clock.advance(12_000);
    await settle();
    expect(failed.length).toBeGreaterThan(40);
    expect(new Set(failed.map((each) => (each as { code: string }).code))).toEqual(
      new Set(['PROVIDER_CAPACITY']),
    );
  });

  it('removes a request whose caller gave up, before and while it waits', async () => {
    const { clock, budget, started, failed, claim, settle } = claims({ requestsMax: 4 });
    const abort = new AbortController();
    void claim('dial');
    void claim('given-up', false, abort.signal);
    abort.abort();
    void claim('too-late', false, abort.signal);
    await settle();
    expect([started, failed]).toEqual([
      ['dial'],
      [code('PROVIDER_FAILED'), code('PROVIDER_FAILED')],
    ]);
    expect(budget.isIdle).toBe(false);
    clock.advance(WINDOW_MS);
    expect(budget.isIdle).toBe(true);
  });
});

describe('requests of a campaign', () => {
  let server: RestServer;
  let clock: FakeClock;
  beforeAll(async () => {
    server = await startRestServer();
  });
  beforeEach(() => {
    clock = new FakeClock();
    server.asked.length = 0;
  });
  afterAll(() => server.close());
  const credentials = () => ({
    bearer_token: 'XI',
    domain_id: 'acme.cloudonix.net',
    api_base_url: server.url,
  });
  const dial = {
    runId: '1',
    from: '+14155550100',
    to: '+14155550101',
    ringS: 30,
    callS: 300,

    answerUrl: 'https://g/a',
    statusUrl: 'https://g/s',
    answeredByUrl: 'https://g/s',
  };

  it('leave room for the hang-up of a call', async () => {
    server.answer = { status: 200, body: { token: 'a1' } };
    const { control } = cloudonixProvider.create({ clock });
    const dials = Array.from({ length: 20 }, () => control.dial(credentials(), dial, signal));
    const settled = Promise.allSettled(dials);
    await control.hangUp(credentials(), 'a1', signal);
    expect(server.asked.filter(({ method }) => method === 'POST').length).toBeLessThanOrEqual(
      GENERAL_MAX,
    );
    expect(server.asked.some(({ method }) => method === 'DELETE')).toBe(true);
    clock.advance(12_000);
    clock.advance(12_000);
    await settled;
  });

  // Domains are known to others: with a guessed key nobody may use up the requests of the owner.
  it.each([
    ['another domain', { domain_id: 'other.cloudonix.net' }],
    ['the same domain with another key', { bearer_token: 'XI-guessed' }],
  ])('of %s have a budget of their own', async (_, more) => {
    server.answer = { status: 200, body: { token: 'a1' } };
    const { control } = cloudonixProvider.create({ clock });
    for (let i = 0; i < GENERAL_MAX; i++) await control.dial(credentials(), dial, signal);
    const other = { ...credentials(), ...more };
    await control.dial(other, dial, signal);
    expect(server.asked).toHaveLength(GENERAL_MAX + 1);
  });

  it('that others have used up: a dial fails, a hang-up is tried again', async () => {
    const { control } = cloudonixProvider.create({ clock });
    server.answer = { status: 429, body: {} };
    await expect(control.dial(credentials(), dial, signal)).rejects.toEqual(
      code('PROVIDER_CAPACITY'),
    );
    expect(server.asked).toHaveLength(1);
    const second = server.next();
    const hangUp = control.hangUp(credentials(), 'a1', signal);
    await second;
    server.answer = { status: 204, body: '' };
    const pausing = setInterval(() => clock.advance(1_000), 5);
    await hangUp;
    clearInterval(pausing);
    expect(server.asked.filter(({ method }) => method === 'DELETE')).toHaveLength(2);
  });
});
