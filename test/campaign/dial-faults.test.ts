// Dials that a provider answers with 500, or cuts. 99 of 2,000 contacts were never rung: such a dial was looked
// up for 21 seconds, found to have placed no call, and never sent again.

import { beforeEach, describe, expect, it } from 'vitest';
import { GatewayError } from '../../src/errors/gateway-error.ts';
import { RETRY_DEFAULT } from '../../src/model/campaign.ts';
import { withPbx } from '../call/start/inbound/pbx-harness.ts';
import { type Dialling, withDialling } from './dialling.ts';

const held = withDialling();
let at: Dialling;

beforeEach(() => {
  at = held.at;
});

/** A dial whose list has been read once, without the call. */
async function missedOnce(): Promise<number> {
  await at.begin(1);
  await at.through(() => at.provider.dials.length === 1);
  await at.through(
    async () => (await at.sql('select missed_at from campaign_attempts'))[0]?.['missed_at'] != null,
  );
  return at.provider.lists[0] ?? 0;
}

describe.each(['broken', 'cut'] as const)('a dial that is %s without a call', (how) => {
  it('is made again, and the contact is rung once', async () => {
    at.provider.onDial = () => (at.provider.dials.length === 1 ? how : 'created');
    await at.begin(1);
    await at.through(() => at.provider.calls.length === 1);
    expect(at.provider.dials).toHaveLength(2);
    const [first, second] = at.provider.dials;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(60_000);
    expect(await at.counts()).toMatchObject({
      attempted: 1,
      inFlight: 1,
      attempts: 1,
      retries: 0,
    });
  });
});

describe('that no call was placed', () => {
  beforeEach(() => {
    at.provider.onDial = () => 'broken';
  });

  it('is proved by look-ups that are 60 s apart: the contact is due again, and was never called', async () => {
    const firstAt = await missedOnce();
    await at.through(async () => !(await at.isInDoubt()));
    expect(at.provider.lists.at(-1)).toBeGreaterThanOrEqual(firstAt + 60_000);
    expect(await at.contact()).toMatchObject({ state: 'fresh', put_offs: 1, attempts: 0 });
    expect(await at.sql('select id from runs')).toEqual([]);
    expect(await at.logged('contacts_put_off')).toMatchObject([{ details: { contacts: 1 } }]);
  });

  it('is not proved by look-ups that fail', async () => {
    at.provider.listFault = { status: 503, body: {} };
    await at.begin(1);
    await at.through(() => at.provider.lists.length >= 3);
    expect(await at.sql('select missed_at from campaign_attempts')).toEqual([{ missed_at: null }]);
    at.provider.listFault = undefined;
    await at.through(async () => (await at.contact())['put_offs'] === 1);
    expect(at.provider.dials).toHaveLength(1);
  });

  it('is proved by a look-up before a kill and one after it', async () => {
    const firstAt = await missedOnce();
    await at.dispatcher.stop();
    // As recovery leaves it.
    await at.sql(`update runs set state = 'completed', disposition = 'system_connect_error',
      gathered_context = '{"call_tags":["gateway_stopped"]}'`);
    at.dispatcher = at.newDispatcher();
    at.harness.clock.advance(firstAt + 60_000 - at.harness.clock.now());
    await at.dispatcher.start();
    await at.through(async () => (await at.contact())['put_offs'] === 1);
    expect(at.provider.lists).toHaveLength(2);
    expect(await at.contact()).toMatchObject({ state: 'fresh', attempts: 0 });
    // The run was seen by others and stays.
    expect(await at.sql('select state from runs')).toEqual([{ state: 'completed' }]);
  });
});

describe('a call that a failed dial has placed', () => {
  it('is found in a list that lags by 45 s, and its contact is not dialled again', async () => {
    at.provider.onDial = () => 'broken-placed';
    at.provider.listLagMs = 45_000;
    await at.begin(1);
    await at.through(() => at.provider.calls.length === 1);
    const [call] = at.provider.calls;
    const run = async () => (await at.sql('select * from runs'))[0] ?? {};
    await at.through(async () => (await run())['provider_call_id'] === call?.sid);
    await at.harness.status(String((await run())['id']), 'CallStatus=busy', call?.sid);
    await at.through(async () => (await at.campaign()).state === 'completed');
    expect(at.provider.dials).toHaveLength(1);
    expect(await at.contact()).toMatchObject({
      last_outcome: 'busy',
      attempts: 1,
      put_offs: 0,
    });
  });

  it('is found by its callback after the first look-up, and is not dialled again', async () => {
    at.provider.onDial = () => 'cut-placed';
    at.provider.listLagMs = 3_600_000;
    await missedOnce();
    const [run] = await at.sql('select id from runs');
    const sid = at.provider.calls[0]?.sid;
    await at.harness.status(String(run?.['id']), 'CallStatus=ringing&SequenceNumber=1', sid);
    await at.pass(90_000);
    await at.harness.status(String(run?.['id']), 'CallStatus=no-answer&SequenceNumber=2', sid);
    await at.through(async () => (await at.campaign()).state === 'completed');
    expect(at.provider.dials).toHaveLength(1);
    expect(await at.contact()).toMatchObject({ last_outcome: 'no_answer', attempts: 1 });
  });
});

describe('a contact whose dials place no call', () => {
  beforeEach(() => {
    at.provider.onDial = () => 'broken';
  });
  const putOffs = async () => Number((await at.contact())['put_offs']);
  /** Leaps to when it is due. */
  async function toNextDial(): Promise<void> {
    const due = (await at.contact())['due_at'] as Date;
    at.harness.clock.advance(Math.max(0, due.getTime() - at.harness.clock.now()));
    const dialled = at.provider.dials.length;
    await at.through(() => at.provider.dials.length > dialled);
  }

  it('is put off ten times, then has not been placed, and a redial calls it', async () => {
    await at.begin(1);
    for (let many = 1; many <= 10; many += 1) {
      await at.through(async () => (await putOffs()) === many);
      expect(await at.counts()).toMatchObject({ attempted: 0, executed: 0, attempts: 1 });
      await toNextDial();
    }
    await at.through(async () => (await at.campaign()).state === 'completed');
    expect(at.provider.dials).toHaveLength(11);
    const [first, last] = [at.provider.dials[0], at.provider.dials.at(-1)];
    expect((last?.at ?? 0) - (first?.at ?? 0)).toBeLessThan(24 * 3_600_000);
    expect(await at.contact()).toMatchObject({ state: 'failed', last_outcome: 'not_placed' });
    expect(await at.counts()).toMatchObject({
      failed: 1,
      executed: 1,
      inFlight: 0,
      attempts: 1,
    });
    const told = (await at.logged('contacts_put_off')).map(({ details }) => details?.['contacts']);
    expect(told.reduce((sum: number, each) => sum + Number(each), 0)).toBe(10);
    expect(await at.logged('completed')).toMatchObject([{ details: { not_placed: 1 } }]);
    const redial = { name: null, outcomes: ['busy'], retry: null } as const;
    expect(await at.store.campaigns.redial(at.organizationId, at.campaignId, redial)).toMatchObject(
      {
        totalRows: 1,
      },
    );
  }, 60_000);

  it('is put off for 24 hours at most', async () => {
    await at.begin(1);
    await at.through(async () => (await putOffs()) === 1);
    at.harness.clock.advance(24 * 3_600_000);
    await at.through(() => at.provider.dials.length === 2);
    await at.through(async () => (await at.contact())['last_outcome'] === 'not_placed');
    expect(await putOffs()).toBe(0);
  });

  it('is dialled within the hours of its campaign alone', async () => {
    const slots = [{ dayOfWeek: 3, start: '09:00', end: '09:01' }]; // It is Thursday, 09:00.
    const schedule = { enabled: true, timezone: 'UTC', slots };
    await at.store.campaigns.update(at.organizationId, at.campaignId, { schedule });
    await at.begin(1);
    await at.through(async () => (await putOffs()) === 1);
    await at.pass(180_000);
    expect(at.provider.dials).toHaveLength(1);
    await at.store.campaigns.update(at.organizationId, at.campaignId, {
      schedule: null,
    });
    await at.through(() => at.provider.dials.length === 2);
  });

  it('has put-offs counted apart from its calls, which are as many as ever', async () => {
    const retry = { ...RETRY_DEFAULT, maxRetries: 1 };
    await at.store.campaigns.update(at.organizationId, at.campaignId, { retry });
    at.provider.onDial = () => (at.provider.dials.length % 2 === 1 ? 'broken' : 'created');
    await at.begin(1);
    for (const many of [1, 2]) {
      await at.through(() => at.provider.calls.length === many);
      const sid = at.provider.calls.at(-1)?.sid;
      const [run] = await at.sql("select id from runs where state = 'initialized'");
      await at.until(
        async () => (await at.harness.run(String(run?.['id']))).providerCallId !== null,
      );
      await at.harness.status(String(run?.['id']), 'CallStatus=busy', sid);
    }
    await at.through(async () => (await at.campaign()).state === 'completed');
    expect(at.provider.dials).toHaveLength(4);
    expect(at.provider.calls).toHaveLength(2);
    expect(await at.counts()).toMatchObject({
      executed: 2,
      retriesBy: { busy: 1 },
      failed: 1,
    });
  });
});

describe('where the provider shows no list of calls', () => {
  it('the result of a failed dial is unknown, it is never sent again, and a redial calls the contact', async () => {
    at.provider.onDial = () => 'broken';
    at.provider.listFault = { status: 403, body: {} };
    await at.begin(1);
    await at.through(async () => (await at.campaign()).state === 'completed');
    await at.pass(120_000);
    expect(at.provider.dials).toHaveLength(1);
    expect(await at.contact()).toMatchObject({
      state: 'failed',
      last_outcome: 'unknown',
      attempts: 1,
    });
    expect(await at.logged('completed')).toMatchObject([{ details: { unknown: 1 } }]);
    const redial = { name: null, outcomes: ['busy'], retry: null } as const;
    expect(await at.store.campaigns.redial(at.organizationId, at.campaignId, redial)).toMatchObject(
      {
        totalRows: 1,
      },
    );
  });

  it('a telephone that rings all the same is talked to', async () => {
    at.provider.onDial = () => 'broken-placed';
    at.provider.listFault = { status: 403, body: {} };
    await at.begin(1);
    await at.through(() => at.isInDoubt());
    await at.pass(30_000);
    const [run] = await at.sql('select id from runs');
    const sid = at.provider.calls[0]?.sid;
    const stream = await at.harness.connect(await at.harness.pickUp(String(run?.['id']), sid));
    stream.start();
    await at.until(async () => (await at.harness.run(String(run?.['id']))).state === 'running');
  });
});

describe('over a PBX, which keeps no list of calls', () => {
  beforeEach(async () => {
    await withPbx(at.harness);
    at.campaignId = await at.create();
    at.harness.pbx.onDial = () =>
      Promise.reject(new GatewayError('PROVIDER_UNCERTAIN', { provider: 'ari', reason: 'reset' }));
  });

  it('a dial that is cut has come to something unknown, and is never sent again by itself', async () => {
    await at.begin(1);
    await at.through(async () => (await at.campaign()).state === 'completed');
    await at.pass(120_000);
    expect(at.harness.pbx.dials).toHaveLength(1);
    expect(await at.contact()).toMatchObject({ state: 'failed', last_outcome: 'unknown' });
  });

  it('five such dials make the campaign wait, and it goes on by itself', async () => {
    await at.sql('update campaigns set rate_per_second = 1');
    await at.begin(12);
    await at.through(async () => (await at.logged('provider_wait_began')).length === 1);
    at.harness.pbx.onDial = () => Promise.resolve();
    await at.through(async () => (await at.logged('provider_wait_ended')).length === 1);
    expect((await at.campaign()).state).toBe('running');
  });
});
