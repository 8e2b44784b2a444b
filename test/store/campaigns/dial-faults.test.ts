import { beforeEach, describe, expect, it } from 'vitest';
import type { Run } from '../../../src/model/run.ts';
import type { ClaimedAttempt } from '../../../src/store/campaigns/dial-attempts.ts';
import { engines } from '../databases.ts';
import { withStore } from '../engines.ts';
import { type Queue, queueOf, rows } from './dial-queue-fixture.ts';

describe.each(engines())('dials that a provider fails, on the %s engine', (engine) => {
  const test = withStore(engine);
  let queue: Queue;
  const contacts = () => test.store.contacts;
  const later = (ms: number): Date => new Date(test.clock.now() + ms);
  const counts = async () => (await contacts().counts([queue.campaignId])).get(queue.campaignId);
  const firstContact = async () =>
    (await test.sql('select * from campaign_contacts order by id'))[0] ?? {};
  const logs = async (id = queue.campaignId) =>
    (await test.store.campaigns.get(queue.organizationId, id))?.logs ?? [];

  beforeEach(async () => {
    queue = await queueOf(test, 5);
  });

  async function begun(): Promise<{ claim: ClaimedAttempt; run: Run }> {
    const [claim] = await queue.claim({ count: 1 });
    const run = claim && (await queue.begin(claim));
    if (claim === undefined || run === undefined) throw new Error('not begun');
    return { claim, run };
  }

  async function inDoubt(): Promise<{ claim: ClaimedAttempt; run: Run }> {
    const dial = await begun();
    await contacts().doubt(dial.claim.attemptId);
    return dial;
  }

  describe('a dial in doubt', () => {
    it('can be settled as long as nothing has come of its call', async () => {
      const { claim, run } = await inDoubt();
      expect(await contacts().settleable()).toMatchObject([
        { id: claim.attemptId, isInDoubt: true, unclearMs: 0, missedMs: null, run: { id: run.id } },
      ]);
      await test.store.runs.patch(run.id, { providerCallId: 'CA1' });
      expect(await contacts().settleable()).toEqual([]);
    });

    it('is not taken for one that was never sent', async () => {
      await inDoubt();
      test.clock.advance(31_000);
      expect(await contacts().stranded(test.store.node)).toEqual([]);
    });

    it('keeps when the list was first read without it', async () => {
      const { claim } = await inDoubt();
      test.clock.advance(5_000);
      await contacts().missed(claim.attemptId);
      test.clock.advance(30_000);
      await contacts().missed(claim.attemptId);
      const after = { missedMs: 30_000, unclearMs: 35_000 };
      expect(await contacts().settleable()).toMatchObject([after]);
    });
  });

  describe('a contact that is put off', () => {
    it('was never called: the attempt and its run are gone, the contact is due later', async () => {
      const { claim, run } = await inDoubt();
      expect(await contacts().putOff(claim.attemptId, 60_000)).toBe(true);
      expect(await contacts().putOff(claim.attemptId, 60_000)).toBe(false);
      expect(await test.store.runs.find(run.id)).toBeUndefined();
      expect(await firstContact()).toMatchObject({
        state: 'fresh',
        attempts: 0,
        due_at: later(60_000),
        put_offs: 1,
        put_off_since: later(0),
      });
      expect(await counts()).toMatchObject({ attempted: 0, executed: 0, attempts: 5, retries: 0 });
    });

    it('has its put-offs counted from the first on, until an attempt comes to something', async () => {
      const since = later(0);
      for (const times of [1, 2, 3]) {
        const { claim } = await inDoubt();
        await test.sql("update campaign_contacts set due_at = due_at + interval '1 day'");
        await contacts().putOff(claim.attemptId, 0);
        expect(await firstContact()).toMatchObject({ put_offs: times, put_off_since: since });
        test.clock.advance(60_000);
      }
      const { claim, run } = await inDoubt();
      expect(await contacts().settleable()).toMatchObject([{ putOffs: 3, putOffMs: 180_000 }]);
      await queue.complete(run, 'busy');
      const again = { delayMs: 60_000, reason: 'busy' } as const;
      await contacts().settle(claim.attemptId, { outcome: 'busy', again });
      expect(await firstContact()).toMatchObject({ put_offs: 0, put_off_since: null, attempts: 1 });
    });

    it('waits to be called again, for the same reason, if it was called before', async () => {
      const first = await begun();
      await queue.complete(first.run, 'busy');
      const again = { delayMs: 0, reason: 'busy' } as const;
      await contacts().settle(first.claim.attemptId, { outcome: 'busy', again });
      const { claim } = await inDoubt();
      await contacts().putOff(claim.attemptId, 60_000);
      expect(await counts()).toMatchObject({
        executed: 1,
        retriesPending: 1,
        retriesBy: { busy: 1 },
      });
      test.clock.advance(60_000);
      const [next] = await queue.claim({ count: 1 });
      expect(next).toMatchObject({ number: 2, retryReason: 'busy' });
    });

    it('is not, if a call turns up at the last moment', async () => {
      const { claim, run } = await inDoubt();
      await test.store.runs.patch(run.id, { providerCallId: 'CA1' });
      expect(await contacts().putOff(claim.attemptId, 0)).toBe(false);
      expect(await counts()).toMatchObject({ inFlight: 1 });
      await queue.complete(run, 'busy');
      expect(await contacts().putOff(claim.attemptId, 0)).toBe(false);
    });

    it('keeps the run that a stop of ours has closed', async () => {
      const { claim, run } = await begun();
      await queue.complete(run, 'system_connect_error');
      expect(await contacts().putOff(claim.attemptId, 0)).toBe(true);
      expect(await test.store.runs.find(run.id)).toBeDefined();
      expect(await firstContact()).toMatchObject({ state: 'fresh', put_offs: 1 });
    });

    it('is in the log of its campaign, in one entry with those before it', async () => {
      const dials = [await inDoubt(), await inDoubt(), await inDoubt()];
      for (const { claim } of dials) await contacts().putOff(claim.attemptId, 60_000);
      const entry = { level: 'warning', event: 'contacts_put_off', details: { contacts: 3 } };
      expect(await logs()).toMatchObject([entry]);
    });
  });

  describe('a provider that fails', () => {
    const failed = () => contacts().providerFailed(queue.configurationId, queue.campaignId);
    const answered = () => contacts().providerAnswered(queue.configurationId);
    async function fails(times: number): Promise<void> {
      for (let each = 1; each <= times; each += 1) expect(await failed()).toBe(each);
    }

    it('is waited for after five dials in a row, not after four and one that it answers', async () => {
      await fails(4);
      expect(await answered()).toBe(false);
      await fails(4);
      expect(await queue.claim({ count: 2 })).toHaveLength(2);
      expect(await logs()).toEqual([]);
      expect(await failed()).toBe(5);
      expect(await logs()).toMatchObject([{ level: 'warning', event: 'provider_wait_began' }]);
      expect(await queue.claim()).toEqual([]);
    });

    it('is tried by one dial, 15 s after it failed, and by the next 15 s later', async () => {
      await fails(5);
      test.clock.advance(13_000);
      expect(await queue.claim()).toEqual([]);
      test.clock.advance(1_000);
      const first = await queue.claim();
      expect(first.map(({ waitMs }) => waitMs)).toEqual([1_000]);
      expect(first[0]).toMatchObject({ providerFaults: 5 });
      test.clock.advance(14_000);
      expect(await queue.claim()).toEqual([]);
      test.clock.advance(1_000);
      const second = await queue.claim();
      expect(second.map(({ waitMs }) => waitMs)).toEqual([1_000]);
      expect(await logs()).toHaveLength(1);
    });

    it('is tried by one dial for all campaigns that use it, and each says that it waits', async () => {
      const [row] = await test.sql(
        `insert into campaigns (organization_id, workflow_id, configuration_id, name, state, source_id,
           source_sync, retry, rate_per_second, created_at)
         select organization_id, workflow_id, configuration_id, 'd', state, source_id, source_sync,
           retry, rate_per_second, created_at from campaigns returning id`,
      );
      const other = String(row?.['id']);
      await contacts().add(other, rows(3));
      await fails(5);
      test.clock.advance(15_000);
      expect(await queue.claim()).toHaveLength(1);
      const claimed = await contacts().claim(other, {
        count: 9,
        openMax: 9,
        ratePerSecond: 9,
        configuration: { id: queue.configurationId, callsPerSecond: null },
        horizonMs: 1_000,
        leaseMs: 30_000,
      });
      expect(claimed).toEqual([]);
      expect(await logs(other)).toMatchObject([{ event: 'provider_wait_began' }]);
      expect(await answered()).toBe(true);
      for (const id of [queue.campaignId, other]) {
        expect((await logs(id)).at(-1)).toMatchObject({ event: 'provider_wait_ended' });
      }
    });

    it('has no claim begun that was made before, but the one that tries it', async () => {
      const [early] = await queue.claim({ count: 1 });
      await fails(5);
      expect(early && (await queue.begin(early))).toBeUndefined();
      test.clock.advance(15_000);
      const [probe] = await queue.claim();
      expect(probe && (await queue.begin(probe))).toBeDefined();
    });

    it('is dialled as ever, at once, when it answers', async () => {
      await fails(7);
      expect(await answered()).toBe(true);
      expect(await answered()).toBe(false);
      test.clock.advance(1_000);
      expect((await queue.claim()).length).toBeGreaterThan(1);
      expect((await logs()).map(({ event }) => event)).toEqual([
        'provider_wait_began',
        'provider_wait_ended',
      ]);
    });

    it('is waited for by a campaign whose log missed the beginning, and the end, of the wait', async () => {
      await fails(5);
      await test.sql("update campaigns set waits_for_configuration_id = null, logs = '[]'");
      expect(await queue.claim()).toEqual([]);
      expect(await logs()).toMatchObject([{ event: 'provider_wait_began' }]);
      await test.sql('update telephony_configurations set dial_faults = 0');
      await queue.claim({ count: 1 });
      expect((await logs()).at(-1)).toMatchObject({ event: 'provider_wait_ended' });
    });
  });
});
