// Which of several processes has which campaign.

import { describe, expect, it } from 'vitest';
import type { CampaignShard } from '../../../src/store/campaigns/campaign-shards.ts';
import { engines } from '../databases.ts';
import { withStore } from '../engines.ts';
import { queueOf } from './dial-queue-fixture.ts';

const CAMPAIGNS = 60;
const MEMBERS = ['one#api', 'two#api', 'three#api'];

describe.each(engines())('shares of the campaigns on %s', (engine) => {
  const at = withStore(engine);

  async function campaigns(): Promise<void> {
    const queue = await queueOf(at, 1);
    await at.sql(
      `insert into campaigns (organization_id, workflow_id, configuration_id, name, state, source_id,
         source_sync, retry, rate_per_second, created_at)
       select organization_id, workflow_id, configuration_id, name, 'running', source_id,
         source_sync, retry, rate_per_second, created_at
       from campaigns, generate_series(2, ${CAMPAIGNS}) where id = $1`,
      [queue.campaignId],
    );
  }

  const idsOf = async (shard: CampaignShard | undefined): Promise<string[]> =>
    (await at.store.contacts.running(1_000, shard)).map(({ campaign }) => campaign.id).sort();

  const shares = async (all: readonly string[]): Promise<Map<string, string[]>> => {
    const found = new Map<string, string[]>();
    for (const own of all) found.set(own, await idsOf({ own, all }));
    return found;
  };

  it('have each campaign once, and nobody all of them', async () => {
    await campaigns();
    const found = await shares(MEMBERS);
    expect([...found.values()].flat().sort()).toEqual(await idsOf(undefined));
    for (const ids of found.values()) expect(ids.length).toBeGreaterThan(5);
    expect(await shares([...MEMBERS].reverse())).toEqual(found);
    expect(await idsOf({ own: 'elsewhere', all: MEMBERS })).toEqual([]);
  });

  it('lose only those of a process that has died', async () => {
    await campaigns();
    const before = await shares(MEMBERS);
    const after = await shares(MEMBERS.slice(1));
    for (const [member, ids] of after)
      expect(ids).toEqual(expect.arrayContaining(before.get(member) ?? []));
    expect([...after.values()].flat().sort()).toEqual(await idsOf(undefined));
  });

  it('are what one look finds work in', async () => {
    const queue = await queueOf(at, 1);
    const [claim] = await queue.claim({ count: 1 });
    const run = claim && (await queue.begin(claim));
    await at.store.contacts.placed(claim?.attemptId ?? '');
    const nothing = {
      isAnyRunning: true,
      hasSettleable: false,
      hasDone: false,
      hasExpired: false,
      hasStranded: false,
      hasUnreadFile: false,
    };
    const { look } = at.store.contacts;
    expect(await look(undefined)).toEqual(nothing);
    await at.store.runs.patch(run?.id ?? '', { state: 'completed', disposition: 'busy' });
    const all = MEMBERS;
    const looks = await Promise.all(all.map((own) => look({ own, all })));
    expect(looks.filter(({ hasSettleable }) => hasSettleable)).toEqual([
      { ...nothing, hasSettleable: true },
    ]);
    expect(looks.filter(({ isAnyRunning }) => isAnyRunning)).toHaveLength(1);
    await at.store.contacts.settle(claim?.attemptId ?? '', { outcome: 'busy', again: null });
    expect(await look(undefined)).toEqual({ ...nothing, hasDone: true });
    await at.sql("update campaigns set state = 'paused', source_sync = 'in_progress'");
    expect(await look(undefined)).toEqual({
      ...nothing,
      isAnyRunning: false,
      hasUnreadFile: true,
    });
  });

  it('find a claim whose process is dead at once, and one that has expired', async () => {
    const queue = await queueOf(at, 2);
    await queue.claim({ count: 1 });
    const { look } = at.store.contacts;
    expect((await look(undefined)).hasExpired).toBe(false);
    at.clock.advance(40_000);
    expect((await look(undefined)).hasExpired).toBe(true);
    expect(await at.store.contacts.releaseClaims(undefined)).toBe(1);
    const [claim] = await queue.claim({ count: 1 });
    if (claim !== undefined) await queue.begin(claim);
    expect((await look(undefined)).hasStranded).toBe(false);
    at.clock.advance(40_000);
    expect((await look(undefined)).hasStranded).toBe(true);
  });
});
