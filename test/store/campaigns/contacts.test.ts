import { beforeEach, describe, expect, it } from 'vitest';
import { engines } from '../databases.ts';
import { withStore } from '../engines.ts';
import { statementsSent } from '../sent-statements.ts';
import { type Queue, queueOf, rows } from './dial-queue-fixture.ts';

describe.each(engines())('the dial queue on the %s engine', (engine) => {
  const test = withStore(engine);
  let queue: Queue;
  const contacts = () => test.store.contacts;
  const counts = async () => (await contacts().counts([queue.campaignId])).get(queue.campaignId);
  const later = (ms: number): Date => new Date(test.clock.now() + ms);

  beforeEach(async () => {
    queue = await queueOf(test, 5);
  });

  /** Claims, begins and places a single attempt. */
  async function dialOne() {
    const [claim] = await queue.claim({ count: 1 });
    if (claim === undefined) throw new Error('nobody is due');
    const run = await queue.begin(claim);
    if (run === undefined) throw new Error('not begun');
    await contacts().placed(claim.attemptId);
    return { claim, run };
  }

  it('gives contacts in the order of their file, each once', async () => {
    const first = await queue.claim({ count: 2 });
    const second = await queue.claim();
    expect([...first, ...second].map(({ rowNumber }) => rowNumber)).toEqual([2, 3, 4, 5, 6]);
    expect(first[0]).toMatchObject({
      phoneNumber: '+14152000000',
      variables: { name: 'n0' },
      number: 1,
      retryReason: null,
    });
    expect(await queue.claim()).toEqual([]);
  });

  it('keeps rows that are there when a file is read again', async () => {
    await contacts().add(queue.campaignId, rows(7));
    expect((await counts())?.contacts).toBe(7);
  });

  it('claims nothing for a campaign that is not running', async () => {
    await test.store.campaigns.pause(queue.organizationId, queue.campaignId);
    expect(await queue.claim()).toEqual([]);
  });

  it('holds the limit of attempts that are open at a time', async () => {
    expect(await queue.claim({ openMax: 3 })).toHaveLength(3);
    expect(await queue.claim({ openMax: 3 })).toEqual([]);
    expect(await queue.claim({ openMax: 4 })).toHaveLength(1);
  });

  it("spreads calls by the campaign's calls per second, over claims as well", async () => {
    const turns = async () => (await queue.claim({ ratePerSecond: 2 })).map(({ waitMs }) => waitMs);
    expect(await turns()).toEqual([0, 500, 1_000]);
    expect(await turns()).toEqual([]);
    test.clock.advance(1_000);
    expect(await turns()).toEqual([500, 1_000]);
  });

  it("holds the configuration's calls per second for all campaigns that use it", async () => {
    const configuration = { id: queue.configurationId, callsPerSecond: 4 };
    expect(await queue.claim({ configuration, count: 2 })).toHaveLength(2);
    const { dial_next_at: next } =
      (await test.sql('select dial_next_at from telephony_configurations'))[0] ?? {};
    expect(next).toEqual(later(500));
    await test.sql('update campaigns set dial_next_at = null');
    const [third] = await queue.claim({ configuration, count: 1 });
    expect(third?.waitMs).toBe(500);
  });

  it("takes one turn behind clients' calls that take every turn of the next seconds", async () => {
    const configuration = { id: queue.configurationId, callsPerSecond: 4 };
    const wanted = { callsPerSecond: 4, waitMsMax: 5_000 };
    const claimed: number[] = [];
    for (let second = 0; second < 30; second++) {
      let isFree = true;
      while (isFree) {
        const waitMs = await test.store.telephony.takeDialTurn(queue.configurationId, wanted);
        isFree = waitMs !== undefined;
      }
      claimed.push(
        ...(await queue.claim({ configuration, ratePerSecond: 2 })).map(({ waitMs }) => waitMs),
      );
      test.clock.advance(1_000);
    }
    expect(claimed.length).toBeGreaterThanOrEqual(3);
    expect(claimed.length).toBeLessThanOrEqual(5);
    expect(claimed.every((waitMs) => waitMs > 5_000 && waitMs <= 5_250)).toBe(true);
  });

  it('makes the run and the attempt in one step, under the limit of the organization', async () => {
    const [claim, other] = await queue.claim({ count: 2 });
    if (claim === undefined || other === undefined) throw new Error('nobody is due');
    await test.sql('update organizations set concurrent_call_limit = 1');
    const run = await queue.begin(claim);
    expect(run).toMatchObject({ campaignId: queue.campaignId, state: 'initialized' });
    await expect(queue.begin(other)).rejects.toMatchObject({ code: 'CALL_LIMIT_REACHED' });
    // Neither the call nor the other claim.
    expect(await contacts().freeSlots(queue.organizationId, 3)).toBe(1);
    expect(await queue.begin(claim)).toBeUndefined();
  });

  it('begins together what comes together, each attempt with its own run, under the limit', async () => {
    const claims = await queue.claim({ count: 5 });
    await test.sql('update organizations set concurrent_call_limit = 4');
    const begun = await Promise.allSettled(claims.map((claim) => queue.begin(claim)));
    expect(begun.map(({ status }) => status)).toEqual([...Array(4).fill('fulfilled'), 'rejected']);
    const stored = await test.sql(
      `select attempt.id::text as attempt, runs.name from campaign_attempts attempt
       join runs on runs.id = attempt.run_id where attempt.state = 'dialling' order by attempt.id`,
    );
    expect(stored.map(({ name }) => String(name).split('-').at(-1))).toEqual(
      stored.map(({ attempt }) => attempt),
    );
    expect(stored.map(({ attempt }) => attempt)).toEqual(
      claims.slice(0, 4).map(({ attemptId }) => attemptId),
    );
  });

  it('takes one statement to begin, however many begin together, and one to settle', async () => {
    const claims = await queue.claim({ count: 5 });
    const sent = statementsSent();
    const [run] = await Promise.all(claims.map((claim) => queue.begin(claim)));
    // The first alone, the others while it is under way.
    expect(sent.verbs).toEqual(['with', 'with']);
    sent.texts.length = 0;
    const settlement = { outcome: 'busy', again: { delayMs: 1_000, reason: 'busy' } } as const;
    const [first] = claims;
    expect(await contacts().settle(first?.attemptId ?? '', settlement)).toBe(true);
    expect(await contacts().settle(first?.attemptId ?? '', settlement)).toBe(false);
    sent.stop();
    expect(sent.verbs).toEqual(['with', 'with']);
    expect(run).toBeDefined();
    const settled = await test.sql(
      'select state, retry_reason, last_outcome from campaign_contacts where id = $1',
      [first?.contactId],
    );
    expect(settled).toEqual([{ state: 'waiting', retry_reason: 'busy', last_outcome: 'busy' }]);
  });

  it('begins the others where one claim among them has lapsed', async () => {
    const claims = await queue.claim({ count: 3 });
    await test.sql("update campaign_attempts set lease_until = '2000-01-01' where id = $1", [
      claims[1]?.attemptId,
    ]);
    const begun = await Promise.all(claims.map((claim) => queue.begin(claim)));
    expect(begun.map((run) => run !== undefined)).toEqual([true, false, true]);
  });

  it('begins nothing once the campaign is paused', async () => {
    const [claim] = await queue.claim({ count: 1 });
    await test.store.campaigns.pause(queue.organizationId, queue.campaignId);
    expect(claim && (await queue.begin(claim))).toBeUndefined();
  });

  it('gives back what was not placed: the contact was never called, and no run is left', async () => {
    const [claim] = await queue.claim({ count: 1 });
    if (claim === undefined) throw new Error('nobody is due');
    const run = await queue.begin(claim);
    await contacts().releaseAttempt(claim.attemptId, 5_000);
    expect(await test.store.runs.find(run?.id ?? '')).toBeUndefined();
    expect(await counts()).toMatchObject({ contacts: 5, attempted: 0, inFlight: 0, attempts: 5 });
    expect((await queue.claim()).map(({ rowNumber }) => rowNumber)).toEqual([3, 4, 5, 6]);
    test.clock.advance(5_000);
    expect((await queue.claim())[0]).toMatchObject({ rowNumber: 2, number: 1 });
  });

  it('gives back claims that lapsed, and those of a process that starts again', async () => {
    await queue.claim({ count: 2 });
    expect(await contacts().releaseClaims(undefined)).toBe(0);
    expect(await contacts().releaseClaims(test.store.node)).toBe(2);
    await queue.claim({ count: 2 });
    test.clock.advance(31_000);
    expect(await contacts().releaseClaims(undefined)).toBe(2);
    expect(await counts()).toMatchObject({ attempted: 0, inFlight: 0 });
  });

  it('never gives back an attempt whose call the provider has', async () => {
    const { claim, run } = await dialOne();
    await contacts().releaseAttempt(claim.attemptId, 0);
    expect(await test.store.runs.find(run.id)).toBeDefined();
    expect(await counts()).toMatchObject({ inFlight: 1 });
  });

  it('settles an attempt once its run is completed, and once only', async () => {
    const { claim, run } = await dialOne();
    expect(await contacts().settleable()).toEqual([]);
    await queue.complete(run, 'busy');
    const [open] = await contacts().settleable();
    expect(open).toMatchObject({
      id: claim.attemptId,
      state: 'placed',
      number: 1,
      run: { disposition: 'busy' },
    });
    const again = { delayMs: 60_000, reason: 'busy' } as const;
    expect(await contacts().settle(claim.attemptId, { outcome: 'busy', again })).toBe(true);
    expect(await contacts().settle(claim.attemptId, { outcome: 'busy', again })).toBe(false);
    expect(await contacts().settleable()).toEqual([]);
    expect(await counts()).toMatchObject({
      contacts: 5,
      attempted: 1,
      executed: 1,
      attempts: 6,
      retries: 1,
      retriesPending: 1,
      retriesBy: { busy: 1, no_answer: 0, voicemail: 0 },
    });
  });

  it('gives attempts that can be settled by pages, so that unclear ones do not delay others', async () => {
    for (const claim of await queue.claim({ count: 3 })) {
      const run = await queue.begin(claim);
      if (run !== undefined) await queue.complete(run, 'failed');
    }
    const ids = (await contacts().settleable()).map(({ id }) => id);
    expect(ids).toHaveLength(3);
    expect((await contacts().settleable(ids[0])).map(({ id }) => id)).toEqual(ids.slice(1));
    expect(await contacts().settleable(ids[2])).toEqual([]);
  });

  it('calls those again first whose time has come', async () => {
    const { claim, run } = await dialOne();
    await queue.complete(run, 'busy');
    await contacts().settle(claim.attemptId, {
      outcome: 'busy',
      again: { delayMs: 60_000, reason: 'busy' },
    });
    expect((await queue.claim({ count: 1 }))[0]?.rowNumber).toBe(3);
    test.clock.advance(60_000);
    expect((await queue.claim({ count: 1 }))[0]).toMatchObject({
      rowNumber: 2,
      number: 2,
      retryReason: 'busy',
    });
    expect(await counts()).toMatchObject({ retries: 1, retriesPending: 0, retriesBy: { busy: 1 } });
  });

  it('counts outcomes for the breaker since it was reset', async () => {
    const { claim, run } = await dialOne();
    await queue.complete(run, 'failed');
    await contacts().settle(claim.attemptId, { outcome: 'failed', again: null });
    const recent = (ms: number) => contacts().recentOutcomes(queue.campaignId, ms);
    test.clock.advance(1_000);
    expect(await recent(1_000)).toEqual(new Map([['failed', 1]]));
    expect(await recent(999)).toEqual(new Map());
    await test.store.campaigns.pause(queue.organizationId, queue.campaignId);
    await test.store.campaigns.resume(queue.organizationId, queue.campaignId);
    expect(await recent(1_000)).toEqual(new Map());
  });

  it('completes the moment the last contact is done, and not before', async () => {
    await test.sql('delete from campaign_contacts where campaign_id = $1 and row_number > 2', [
      queue.campaignId,
    ]);
    const { claim, run } = await dialOne();
    expect(await contacts().completeDone()).toEqual([]);
    await queue.complete(run, 'user_hangup');
    await contacts().settle(claim.attemptId, { outcome: 'answered', again: null });
    expect(await contacts().completeDone()).toEqual([queue.campaignId]);
    expect(await contacts().completeDone()).toEqual([]);
    const campaign = await test.store.campaigns.get(queue.organizationId, queue.campaignId);
    expect(campaign).toMatchObject({ state: 'completed', completedAt: new Date(test.clock.now()) });
    expect(campaign?.logs.at(-1)).toMatchObject({ event: 'completed', level: 'info' });
    expect(await counts()).toMatchObject({ reached: 1, failed: 0 });
  });

  it('completes all campaigns that are done at once, and no other', async () => {
    const other = await queueOf(test, 1);
    const third = await queueOf(test, 0);
    await test.sql("update campaign_contacts set state = 'failed' where campaign_id = $1", [
      other.campaignId,
    ]);
    const done = await contacts().completeDone();
    expect(done.sort()).toEqual([other.campaignId, third.campaignId].sort());
    expect((await contacts().running(0)).map(({ campaign }) => campaign.id)).toEqual([
      queue.campaignId,
    ]);
  });

  it('returns which running campaigns have a due contact, and how many calls they have', async () => {
    const seen = async (horizonMs = 1_000) => {
      const [only] = await contacts().running(horizonMs);
      return [only?.isDue, only?.openAttempts];
    };
    expect(await seen()).toEqual([true, 0]);
    await queue.claim({ count: 1, ratePerSecond: 1 });
    expect(await seen(999)).toEqual([false, 1]); // Its next turn comes in a second.
    expect(await seen()).toEqual([true, 1]);
    await test.sql("update campaign_contacts set due_at = $1 where state = 'fresh'", [later(500)]);
    expect(await seen()).toEqual([false, 1]);
    await test.sql("update campaign_contacts set state = 'waiting' where row_number = 3");
    test.clock.advance(500);
    expect(await seen()).toEqual([true, 1]);
    await test.sql("update campaign_contacts set state = 'reached' where state <> 'calling'");
    expect(await seen()).toEqual([false, 1]);
  });

  it('pauses a campaign with the reason in its log', async () => {
    const entry = {
      level: 'warning',
      event: 'circuit_breaker_tripped',
      message: 'm',
      details: { a: 1 },
    } as const;
    expect(await contacts().stop(queue.campaignId, entry)).toBe(true);
    expect(await contacts().stop(queue.campaignId, entry)).toBe(false);
    expect(await contacts().running(0)).toEqual([]);
  });

  it('gives the time at which the first contact of a running campaign is to be called again', async () => {
    expect(await contacts().firstRetry()).toBeUndefined();
    await test.sql(
      "update campaign_contacts set state = 'waiting', due_at = $1 where row_number < 4",
      [later(60_000)],
    );
    await test.sql('update campaign_contacts set due_at = $1 where row_number = 3', [later(5_000)]);
    expect(await contacts().firstRetry()).toEqual(later(5_000));
    await test.store.campaigns.pause(queue.organizationId, queue.campaignId);
    expect(await contacts().firstRetry()).toBeUndefined();
  });
});
