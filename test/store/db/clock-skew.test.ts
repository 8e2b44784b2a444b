// Processes at one database whose wall clocks are far apart: what one holds the others leave alone. Once a
// process whose clock was 90 s ahead closed the calls of all others when it started.

import type { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { RETRY_DEFAULT } from '../../../src/model/campaign.ts';
import { type Clock, systemClock } from '../../../src/std/clock.ts';
import { openStore, type StoreHandle } from '../../../src/store/open.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import { rows } from '../campaigns/dial-queue-fixture.ts';
import { engines, startDatabase, type TestDatabase } from '../databases.ts';
import { completedRun, type Ground, ground, openRun, webhook } from '../runs/completed-runs.ts';

const SKEW_MS = { behind: -90_000, right: 0, ahead: 90_000 };
type Name = keyof typeof SKEW_MS;

interface Side {
  store: StoreHandle;
  clock: Clock;
  owner: { organizationId: string; userId: string };
}

describe.each(engines())('processes with other clocks on %s', (engine) => {
  let database: TestDatabase;
  let client: Client;
  const sides = new Map<Name, Side>();

  const side = (name: Name): Side => {
    const found = sides.get(name);
    if (found === undefined) throw new Error('not open');
    return found;
  };

  beforeAll(async () => {
    database = await startDatabase(engine);
    await open('right');
    await open('behind');
    await open('ahead');
    client = await database.connect();
  }, 60_000);

  afterAll(async () => {
    await client?.end();
    for (const { store } of [...sides.values()].reverse()) await store.close();
    await database?.stop();
  });

  async function open(name: Name): Promise<void> {
    const first = sides.get('right')?.store;
    const clock = { ...systemClock, now: () => systemClock.now() + SKEW_MS[name] };
    const more =
      first === undefined
        ? {}
        : engine === 'server'
          ? { node: name }
          : { node: `${first.node}#${sides.size}`, isShared: true, gateway: first };
    const store = await openStore({ ...database.options(quietLog().log), ...more, clock });
    const made = await store.accounts.ensureFirst();
    const owner =
      sides.get('right')?.owner ?? (await store.accounts.authenticate(made?.apiKey ?? ''));
    if (owner === undefined) throw new Error('the store is not empty');
    sides.set(name, { store, clock, owner });
  }

  describe.each([
    ['right', 'ahead'],
    ['behind', 'right'],
    ['ahead', 'behind'],
  ] as const)('what the one that is %s holds, to the one that is %s', (one, another) => {
    let holder: Side;
    let other: Side;
    let on: Ground;

    beforeEach(async () => {
      holder = side(one);
      other = side(another);
      on = await ground(holder);
      await client.query('delete from afterworks');
    });

    it('is a call that is alive', async () => {
      const { id } = await openRun(holder, on);
      expect(await other.store.runs.takeOrphaned()).toEqual([]);
      expect(await holder.store.runs.takeOrphaned()).toEqual([]);
      await holder.store.runs.patch(id, { state: 'completed' });
    });

    it('is a PBX that is taken', async () => {
      const { id } = await holder.store.telephony.createConfiguration(on.organizationId, {
        name: `PBX ${one}`,
        provider: 'ari',
        isDefaultOutbound: false,
        credentials: {},
        accountId: null,
        secretFields: [],
      });
      const wanted = {
        providers: ['ari'] as const,
        leaseMs: 8_000,
        max: 10,
        takesExpired: true,
      };
      const held = await holder.store.leases.claim(wanted);
      expect(held.map((each) => each.id)).toContain(id);
      expect(await other.store.leases.claim(wanted)).toEqual([]);
      await holder.store.leases.release();
    });

    it('is a contact that is called, and at the time of all', async () => {
      const { contacts, campaigns } = holder.store;
      const campaign = await campaigns.create(on.organizationId, {
        name: 'c',
        workflowId: on.workflowId,
        configurationId: on.configurationId,

        sourceId: `campaigns/${on.organizationId}/a.csv`,
        retry: RETRY_DEFAULT,

        maxConcurrency: null,
        schedule: null,
        breaker: null,
        ratePerSecond: 2,
      });
      await contacts.add(campaign.id, rows(3));
      await campaigns.start(on.organizationId, campaign.id);
      await campaigns.finishSync(campaign.id);
      const wanted = {
        count: 1,
        openMax: 10,
        ratePerSecond: 2,
        horizonMs: 1_000_000,
        leaseMs: 30_000,
        configuration: { id: on.configurationId, callsPerSecond: 2 },
      };
      const [first] = await contacts.claim(campaign.id, wanted);
      if (first === undefined) throw new Error('nobody is due');
      expect(first.waitMs).toBe(0);
      expect(await other.store.contacts.releaseClaims(undefined)).toBe(0);
      const [running] = await other.store.contacts.running(1_000);
      expect(running?.isDue).toBe(true);
      // As if the pace had a call every 500 s: a busy machine takes less between two statements, and a clock
      // that is 90 s off would show.
      await client.query(`
        update campaigns set dial_next_at = clock_timestamp() + interval '500 seconds'
        where id = '${campaign.id}'`);
      const [next] = await other.store.contacts.claim(campaign.id, wanted);
      expect(next?.waitMs).toBeGreaterThan(450_000);
      expect(next?.waitMs).toBeLessThanOrEqual(500_000);
      const call = { mode: 'twilio', callType: 'outbound', providerCallId: null } as const;
      const facts = { initialContext: {}, gatheredContext: {}, logs: {} };
      const made = { ...on, ...call, ...facts, campaignId: campaign.id, name: 'WR-1' };
      const run = await contacts.begin(first, made);
      await contacts.placed(first.attemptId);
      await holder.store.runs.patch(run?.id ?? '', { state: 'completed', disposition: 'busy' });
      // Settled by one: due for the other, and counted by its breaker.
      const again = { delayMs: 0, reason: 'busy' } as const;
      await contacts.settle(first.attemptId, { outcome: 'busy', again });
      expect(await other.store.contacts.recentOutcomes(campaign.id, 30_000)).toEqual(
        new Map([['busy', 1]]),
      );
      await campaigns.pause(on.organizationId, campaign.id);
    });

    it('is a contact file that is read', async () => {
      const { campaigns } = holder.store;
      const { id } = await campaigns.create(on.organizationId, {
        name: 'c',
        workflowId: on.workflowId,
        configurationId: on.configurationId,

        sourceId: `campaigns/${on.organizationId}/b.csv`,
        retry: RETRY_DEFAULT,

        maxConcurrency: null,
        schedule: null,
        breaker: null,
        ratePerSecond: 2,
      });
      await campaigns.start(on.organizationId, id);
      expect((await campaigns.claimSync())?.id).toBe(id);
      expect(await other.store.campaigns.claimSync()).toBeUndefined();
      expect(await campaigns.renewSync(id)).toBe(true);
      expect(await other.store.campaigns.claimSync()).toBeUndefined();
      await campaigns.finishSync(id);
    });

    it('is work after a call that is under way, and is due to all at once', async () => {
      const claim = { limit: 10, except: [], leaseMs: 60_000 };
      const run = await completedRun(holder, on);
      const due = await other.store.afterworks.claim(claim);
      expect(due.map(({ runId }) => runId)).toEqual([run.id]);
      expect(await holder.store.afterworks.claim(claim)).toEqual([]);
      await holder.store.afterworks.postpone({ runId: run.id, claims: 1 }, 0);
      expect(await holder.store.afterworks.claim(claim)).toHaveLength(1);
      expect(await other.store.afterworks.claim(claim)).toEqual([]);
      await holder.store.afterworks.finish(run.id, [webhook()]);
      const webhooks = { ...claim, attemptsMax: 5 };
      const [delivery] = await holder.store.deliveries.claim(webhooks);
      expect(delivery?.runId).toBe(run.id);
      expect(await other.store.deliveries.claim(webhooks)).toEqual([]);
      const { id = '', claims = 0 } = delivery ?? {};
      await holder.store.deliveries.release(id, claims);
      expect(await other.store.deliveries.claim(webhooks)).toHaveLength(1);
      expect(await holder.store.deliveries.claim(webhooks)).toEqual([]);
      const answer = { responseStatus: 200, responseExcerpt: '' };
      await other.store.deliveries.report(id, claims + 1, { state: 'delivered', ...answer });
    });

    it('is a text chat that is answered', async () => {
      const { textChats } = holder.store;
      const facts = { initialContext: {}, gatheredContext: {}, logs: {}, annotations: {} };
      const call = { mode: 'textchat', callType: 'inbound', providerCallId: null } as const;
      const chat = await textChats.create(
        { ...on, ...call, ...facts, name: 'WR-TEXT-1', configurationId: null },
        { id: 'turn_000000000001', userText: null },
        { token: one, ms: 30_000, idleMs: 30_000 },
      );
      const seen = await other.store.textChats.find(chat.run.id);
      expect(seen?.hold).toEqual({ token: one, isThisNode: false, isOver: false });
      const claim = { limit: 10, except: [], leaseMs: 30_000 };
      expect(await other.store.textChats.claimDue(claim)).toEqual([]);
      await textChats.settle(chat.run.id, chat.revision, {
        status: 'idle',
        eventSeq: 0,
        dueMs: 0,
      });
      expect(await other.store.textChats.claimDue(claim)).toMatchObject([{ runId: chat.run.id }]);
      expect(await textChats.claimDue(claim)).toEqual([]);
      await holder.store.runs.patch(chat.run.id, { state: 'completed' });
    });
  });
});
