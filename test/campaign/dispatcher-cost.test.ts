// What a look at a hundred running campaigns costs in statements, begin and commit counted: looks are half
// a second apart, and claims reach a second ahead.

import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Dispatcher } from '../../src/campaign/dispatcher.ts';
import { systemRandom } from '../../src/std/random.ts';
import { withCallHarness } from '../call/call-harness.ts';

const CAMPAIGNS = 100;
const LOOK_MS = 500;
/** From the end of a call to the round that it brings forward. */
const WOKEN_MS = 50;

const held = withCallHarness();
let dispatcher: Dispatcher;
let statements: number;
let lookOver: () => void;

/** The node's report that it lives: by the real clock, however long the look takes. */
function isHeartbeat(query: unknown): boolean {
  return typeof query === 'string' && /^update "nodes" set "seen_at"/.test(query);
}

/** The statements of the look that `begin` sets off, and of what `begin` does itself. */
async function costOf(begin: () => unknown): Promise<number> {
  const over = new Promise<void>((resolve) => {
    lookOver = resolve;
  });
  statements = 0;
  await begin();
  await over;
  return statements;
}

const start = () => dispatcher.start();
const next = () => held.harness.clock.advance(LOOK_MS);

const nobodyIsDue = () =>
  held.harness.at.sql("update campaign_contacts set due_at = due_at + interval '1 hour'");

/** One attempt of each campaign, for a contact of its own. */
function attempts(state: string, lease: string, limit = '') {
  const { sql, clock } = held.harness.at;
  return sql(
    `with contacts as (
       insert into campaign_contacts (campaign_id, row_number, phone_number, variables, due_at, state,
         attempts)
       select id, 3, '+14155550198', '{}', $1, 'calling', 1 from campaigns order by id ${limit}
       returning id, campaign_id)
     insert into campaign_attempts (campaign_id, contact_id, number, state, node, lease_until, dial_at)
     select campaign_id, id, 1, $2, 'other', $1::timestamptz + interval ${lease}, $1 from contacts`,
    [new Date(clock.now()), state],
  );
}

beforeEach(async () => {
  const { at, workflow, configuration } = await held.harness.prepare();
  await at.sql(
    `insert into campaigns (organization_id, workflow_id, configuration_id, name, state, source_id,
       source_sync, retry, rate_per_second, created_at)
     select $1, $2, $3, 'c', 'running', 'x.csv', 'completed', '{}', 1, now()
     from generate_series(1, ${CAMPAIGNS})`,
    [at.owner.organizationId, workflow.id, configuration.id],
  );
  await at.sql(
    `insert into campaign_contacts (campaign_id, row_number, phone_number, variables, due_at)
     select id, 2, '+14155550199', '{}', $1 from campaigns`,
    [new Date(at.clock.now())],
  );
  await at.sql('update organizations set concurrent_call_limit = 1000');
  const { store, log } = at;
  const clock = {
    now: () => at.clock.now(),
    monotonicMs: () => at.clock.monotonicMs(),
    lastStall: () => undefined,
    after: (ms: number, run: () => void) => {
      if (ms === LOOK_MS) lookOver(); // Looks end with the wait for the next one.
      return at.clock.after(ms, run);
    },
  };
  const { campaignCalls: calls } = held.harness.callControl;
  const [random, { node }, syncNext] = [systemRandom, store, async () => false];
  const interruptedExtra = 0;
  dispatcher = new Dispatcher({
    store,
    calls,
    node,
    clock,
    random,
    log,
    syncNext,
    interruptedExtra,
  });
  const query = Client.prototype.query;
  vi.spyOn(Client.prototype, 'query').mockImplementation(function (this: Client, ...from) {
    if (!isHeartbeat(from[0])) statements += 1;
    return Reflect.apply(query, this, from);
  });
});

afterEach(async () => {
  vi.restoreAllMocks();
  const stopping = dispatcher.stop();
  held.harness.clock.advance(10_000);
  await stopping;
});

describe(`a poll of ${CAMPAIGNS} running campaigns`, () => {
  it('takes a handful of statements while no contact is due', async () => {
    await nobodyIsDue();
    await costOf(start); // It checks every breaker once.
    expect(await costOf(next)).toBeLessThanOrEqual(3);
  });

  it('takes two more statements while a contact is due but the organization has no free call', async () => {
    await held.harness.at.sql('update organizations set concurrent_call_limit = 0');
    await costOf(start);
    expect(await costOf(next)).toBeLessThanOrEqual(5);
  });

  it('takes no more while every campaign has as many calls as it may', async () => {
    await held.harness.at.sql('update campaigns set max_concurrency = 1');
    await attempts('claimed', "'1 hour'");
    await costOf(start);
    expect(await costOf(next)).toBeLessThanOrEqual(5);
  });

  it('claims for each campaign with a due contact, and reads limits and free calls once', async () => {
    const { store, sql } = held.harness.at;
    const asked = [
      vi.spyOn(store.accounts, 'concurrentCallLimit'),
      vi.spyOn(store.contacts, 'freeSlots'),
    ];
    expect(await costOf(start)).toBeLessThanOrEqual(10 + CAMPAIGNS * 10);
    expect(await sql('select id from campaign_attempts')).toHaveLength(CAMPAIGNS);
    for (const each of asked) expect(each).toHaveBeenCalledTimes(1);
  });

  it('claims no more than the organization has free calls', async () => {
    await held.harness.at.sql('update organizations set concurrent_call_limit = 3');
    await costOf(start);
    expect(await held.harness.at.sql('select id from campaign_attempts')).toHaveLength(3);
  });

  it('claims once a quarter of a second of turns is used up, however many ended calls bring rounds forward', async () => {
    const { store, sql } = held.harness.at;
    await sql('delete from campaigns where id <> (select min(id) from campaigns)');
    // The next turn: claims reach a second ahead.
    const nextTurnIn = (ms: number) =>
      sql('update campaigns set dial_next_at = $1', [new Date(held.harness.clock.now() + ms)]);
    const claims = vi.spyOn(store.contacts, 'claim');
    const woken = () => {
      dispatcher.noteCompleted();
      held.harness.clock.advance(WOKEN_MS);
    };
    await nextTurnIn(951);
    await costOf(start);
    for (let round = 0; round < 4; round++) await costOf(woken);
    expect(claims).not.toHaveBeenCalled();
    await costOf(woken);
    expect(claims).toHaveBeenCalledTimes(1);
    expect(await sql('select id from campaign_attempts')).toHaveLength(1);
  });

  it('looks for lapsed claims, stranded dials and late retries every half second alone', async () => {
    const { contacts } = held.harness.at.store;
    await nobodyIsDue();
    await costOf(start);
    const looks = [
      vi.spyOn(contacts, 'releaseClaims'),
      vi.spyOn(contacts, 'stranded'),
      vi.spyOn(contacts, 'firstRetry'),
    ];
    const found = { isAnyRunning: true, hasSettleable: false, hasDone: false };
    const order = { hasExpired: true, hasStranded: true, hasUnreadFile: false };
    const looked = vi.spyOn(contacts, 'look').mockResolvedValue({ ...found, ...order });
    for (let round = 0; round < 9; round++) {
      await costOf(() => {
        dispatcher.noteCompleted();
        held.harness.clock.advance(WOKEN_MS);
      });
    }
    for (const each of looks) expect(each).not.toHaveBeenCalled();
    expect(looked).toHaveBeenCalledTimes(9);
    await costOf(() => {
      dispatcher.noteCompleted();
      held.harness.clock.advance(WOKEN_MS);
    });
    for (const each of looks) expect(each).toHaveBeenCalledTimes(1);
  });

  it('settles all ended attempts, a page with one look, and reads their campaign once for each', async () => {
    const { store, sql, owner } = held.harness.at;
    await sql('delete from campaigns where id <> (select min(id) from campaigns)');
    await nobodyIsDue();
    const { runId } = await held.harness.start();
    await store.runs.patch(runId, { state: 'completed', disposition: 'busy' });
    await sql(
      `with ended as (
         insert into runs (organization_id, workflow_id, definition_id, name, mode, call_type, state,
           disposition, initial_context, gathered_context, logs, annotations, owner_node, created_at)
         select organization_id, workflow_id, definition_id, name, mode, call_type, state,
           disposition, '{}', '{}', '{}', '{}', owner_node, created_at
         from runs, generate_series(1, 501)
         returning id
       ), contacts as (
         insert into campaign_contacts (campaign_id, row_number, phone_number, variables, due_at, state,
           attempts)
         select campaigns.id, nth + 2, '+14155550198', '{}', now(), 'calling', 1
         from campaigns, generate_series(1, 501) as nth
         returning id, campaign_id, row_number
       )
       insert into campaign_attempts (campaign_id, contact_id, number, state, run_id, node, lease_until,
         dial_at)
       select campaign_id, contacts.id, 1, 'placed', ended.id, 'other', now(), now() from contacts
       join (select id, row_number() over () + 2 as nth from ended) as ended on nth = row_number`,
    );
    const looks = vi.spyOn(store.contacts, 'settleable');
    const reads = vi.spyOn(store.campaigns, 'get');
    await costOf(start);
    expect(await sql('select state, count(*)::int from campaign_attempts group by 1')).toEqual([
      { state: 'ended', count: 501 },
    ]);
    expect(looks).toHaveBeenCalledTimes(2);
    expect(reads.mock.calls.map(([organizationId]) => organizationId)).toEqual([
      owner.organizationId,
      owner.organizationId,
    ]);
  });

  it('checks the breaker of only those campaigns of which an attempt was settled', async () => {
    const { store, sql } = held.harness.at;
    const outcomes = vi.spyOn(store.contacts, 'recentOutcomes');
    await nobodyIsDue();
    await costOf(start);
    expect(outcomes).toHaveBeenCalledTimes(CAMPAIGNS);
    outcomes.mockClear();
    await costOf(next);
    expect(outcomes).not.toHaveBeenCalled();
    await attempts('placed', "'0'", 'limit 1'); // Its run is gone.
    await costOf(next);
    const [settled] = await sql(
      "select campaign_id::text from campaign_attempts where state = 'ended'",
    );
    expect(outcomes.mock.calls.map(([id]) => id)).toEqual([settled?.['campaign_id']]);
  });
});
