// A provider that fails dial after dial: campaigns wait for it, try it now and then, and go on by themselves. A
// campaign went on dialling, and each contact that it tried was lost.

import { beforeEach, describe, expect, it } from 'vitest';
import { rows } from '../store/campaigns/dial-queue-fixture.ts';
import { type Dialling, withDialling } from './dialling.ts';

const held = withDialling();
let at: Dialling;

beforeEach(async () => {
  at = held.at;
  await at.sql('update campaigns set rate_per_second = 1');
  await at.sql('update organizations set concurrent_call_limit = 40');
});

const began = async (id?: string) => (await at.logged('provider_wait_began', id)).length;
const ended = async (id?: string) => (await at.logged('provider_wait_ended', id)).length;
const lines = (words: RegExp) => at.harness.lines.filter(({ msg }) => words.test(String(msg)));
const dials = () => at.provider.dials.length;

/** Everybody is called who was to be: each call ends. */
async function untilDone(): Promise<void> {
  await at.through(async () => {
    for (const run of await at.sql(
      "select id, provider_call_id as sid from runs where state = 'initialized' and provider_call_id is not null",
    )) {
      await at.harness.status(String(run['id']), 'CallStatus=busy', String(run['sid']));
    }
    return (await at.campaign()).state === 'completed';
  });
}

/** Nothing listens where the provider was. */
async function disconnect(): Promise<() => Promise<unknown>> {
  const { telephony } = at.store;
  const { id, credentials } = at.harness.configuration;
  const reach = (url: unknown) =>
    telephony.updateConfiguration(at.organizationId, id, {
      credentials: { ...credentials, api_base_url: url },
      secretFields: ['account_sid', 'auth_token'],
    });
  await reach('http://127.0.0.1:9');
  return () => reach(at.harness.rest.url);
}

describe('when a provider fails five dials in a row', () => {
  it('a campaign waits, dials once in 15 s, and goes on by itself once one is answered', async () => {
    at.provider.onDial = () => (dials() % 2 === 0 ? 'broken' : 'cut');
    await at.begin(20);
    await at.through(async () => (await began()) === 1);
    const before = dials();
    expect(before).toBeGreaterThanOrEqual(5);
    expect(before).toBeLessThanOrEqual(7); // One may be on its way, and one begun ahead of its turn.
    await at.pass(150_000);
    expect(dials() - before).toBeGreaterThanOrEqual(5);
    expect(dials() - before).toBeLessThanOrEqual(150 / 15);
    expect((await at.campaign()).state).toBe('running');
    at.provider.onDial = () => 'created';
    await untilDone();
    expect(new Set(at.provider.calls.map(({ to }) => to)).size).toBe(20);
    expect(at.provider.calls).toHaveLength(20);
    expect([await began(), await ended()]).toEqual([1, 1]);
    expect(lines(/provider fails/)).toHaveLength(1);
    expect(lines(/provider answers again/)).toHaveLength(1);
  }, 60_000);
});

describe('a campaign whose provider cannot be reached', () => {
  it('waits, loses no contact, and continues by itself', async () => {
    const reconnect = await disconnect();
    await at.begin(8);
    await at.through(async () => (await began()) === 1);
    await at.pass(120_000);
    await at.through(async () => (await at.counts())?.attempted === 0);
    expect(await at.counts()).toMatchObject({ attempts: 8, failed: 0 });
    await reconnect();
    await untilDone();
    expect(at.provider.calls).toHaveLength(8);
    expect(await ended()).toBe(1);
  }, 60_000);
});

describe('a campaign that waits for its provider', () => {
  beforeEach(async () => {
    at.provider.onDial = () => 'broken';
    await at.begin(60);
    await at.through(async () => (await began()) === 1);
  });

  it('waits on when the gateway starts again', async () => {
    await at.stop();
    at.dispatcher = at.newDispatcher();
    const before = dials();
    await at.dispatcher.start();
    await at.pass(120_000);
    expect(dials() - before).toBeGreaterThanOrEqual(5);
    expect(dials() - before).toBeLessThanOrEqual(120 / 15 + 1);
    expect(await began()).toBe(1);
    expect((await at.contact())['last_outcome']).toBeNull();
  });

  it('shares its one dial in 15 s with the others over the same configuration', async () => {
    const other = await at.create();
    await at.store.contacts.add(other, rows(60));
    await at.sql("update campaigns set state = 'running'");
    const before = dials();
    await at.pass(180_000);
    expect(dials() - before).toBeLessThanOrEqual(180 / 15 + 1);
    expect([await began(), await began(other)]).toEqual([1, 1]);
    at.provider.onDial = () => 'created';
    await at.through(async () => (await ended(other)) === 1);
    expect(await ended()).toBe(1);
  });

  it('is not stopped by its breaker, where the results of the dials are unknown', async () => {
    at.provider.listFault = { status: 403, body: {} };
    await at.through(async () => {
      const unknown = "select id from campaign_attempts where outcome = 'unknown'";
      return (await at.sql(unknown)).length >= 6;
    });
    expect((await at.campaign()).state).toBe('running');
  });

  it('goes on when the provider says that it is full, which is an answer', async () => {
    at.provider.onDial = () => 'full';
    await at.through(async () => (await ended()) === 1);
  });
});
