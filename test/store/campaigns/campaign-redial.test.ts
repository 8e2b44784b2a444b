import { describe, expect, it } from 'vitest';
import { BREAKER_DEFAULT, RETRY_DEFAULT } from '../../../src/model/campaign.ts';
import { engines } from '../databases.ts';
import { withStore } from '../engines.ts';
import { withCampaigns } from './campaign-harness.ts';

describe.each(engines())('the redial of a campaign on the %s engine', (engine) => {
  const test = withStore(engine);
  const harness = withCampaigns(test);
  const own = () => test.owner.organizationId;
  const campaigns = () => test.store.campaigns;
  const all = { name: null, outcomes: ['busy', 'no_answer', 'voicemail'], retry: null } as const;

  /** A completed campaign: of rows 2 to 7 each ended in another way. */
  async function aParent(more: Parameters<typeof harness.create>[0] = {}): Promise<string> {
    const { id } = await harness.create(more);
    await harness.contacts(id, 6);
    const outcomes = ['answered', 'busy', 'no_answer', 'voicemail', 'failed', 'busy'];
    for (const [i, outcome] of outcomes.entries()) {
      const state = outcome === 'answered' ? 'reached' : 'failed';
      await test.sql(
        `update campaign_contacts set state = $1, last_outcome = $2, attempts = 2
         where campaign_id = $3 and row_number = $4`,
        [state, outcome, id, i + 2],
      );
    }
    await test.sql("update campaigns set state = 'completed' where id = $1", [id]);
    return id;
  }
  const rowsOf = async (id: string) =>
    (
      await test.sql(
        'select row_number, state, attempts from campaign_contacts where campaign_id = $1 order by 1',
        [id],
      )
    ).map(({ row_number, state, attempts }) => [row_number, state, attempts]);

  it('has the parent’s agent, file, telephony and settings, and whom it did not reach', async () => {
    const { id: configurationId } = await test.store.telephony.createConfiguration(own(), {
      name: 'pbx',
      provider: 'ari',
      isDefaultOutbound: false,
      credentials: {},
      accountId: null,
      secretFields: [],
    });
    const settings = {
      configurationId,
      maxConcurrency: 4,
      ratePerSecond: 9,
      breaker: BREAKER_DEFAULT,
      schedule: {
        enabled: true,
        timezone: 'UTC',
        slots: [{ dayOfWeek: 0, start: '09:00', end: '17:00' }],
      },
      retry: { ...RETRY_DEFAULT, maxRetries: 4 },
    };
    const parentId = await aParent(settings);
    const child = await campaigns().redial(own(), parentId, all);
    if (child === undefined || child === 'nobody') throw new Error('no child');
    expect(child).toMatchObject({
      ...harness.input(settings),
      name: 'sept (Redial)',
      state: 'created',
      parentCampaignId: parentId,
      totalRows: 4,
      sourceSync: 'completed',
    });
    expect(await rowsOf(child.id)).toEqual([3, 4, 5, 7].map((row) => [row, 'fresh', 0]));
    expect((await campaigns().get(own(), parentId))?.redialedCampaignId).toBe(child.id);
    expect(await campaigns().start(own(), child.id)).toMatchObject({
      state: 'running',
      sourceSync: 'completed',
    });
    expect(await campaigns().claimSync()).toBeUndefined();
  });

  it('calls those alone whose last call ended as chosen', async () => {
    const parentId = await aParent();
    const retry = { ...RETRY_DEFAULT, enabled: false };
    const child = await campaigns().redial(own(), parentId, {
      name: 'again',
      outcomes: ['busy'],
      retry,
    });
    if (child === undefined || child === 'nobody') throw new Error('no child');
    expect(child).toMatchObject({ name: 'again', retry, totalRows: 2 });
    expect((await rowsOf(child.id)).map(([row]) => row)).toEqual([3, 7]);
  });

  it.each(['unknown', 'not_placed', 'interrupted'])(
    'calls those, too, whose last outcome is %s: they may never have been rung',
    async (outcome) => {
      const parentId = await aParent();
      await test.sql(
        `update campaign_contacts set last_outcome = '${outcome}' where row_number = 6`,
      );
      const redial = { name: null, outcomes: ['busy'], retry: null } as const;
      const child = await campaigns().redial(own(), parentId, redial);
      if (child === undefined || child === 'nobody') throw new Error('no child');
      expect((await rowsOf(child.id)).map(([row]) => row)).toEqual([3, 6, 7]);
    },
  );

  it('happens once, of a campaign that is completed and one’s own', async () => {
    const parentId = await aParent();
    expect(await campaigns().redial('999999', parentId, all)).toBeUndefined();
    expect(await campaigns().redial(own(), '999999', all)).toBeUndefined();
    for (const state of ['created', 'syncing', 'running', 'paused', 'failed']) {
      await test.sql('update campaigns set state = $1', [state]);
      expect(await campaigns().redial(own(), parentId, all), state).toBeUndefined();
    }
    await test.sql("update campaigns set state = 'completed'");
    const tries = Array.from({ length: 4 }, () => campaigns().redial(own(), parentId, all));
    const children = await Promise.all(tries);
    expect(children.filter((each) => each !== undefined)).toHaveLength(1);
    expect(await test.sql('select count(*)::int as n from campaigns')).toEqual([{ n: 2 }]);
  });

  it('leaves nothing behind if there is no contact to call', async () => {
    const parentId = await aParent();
    await test.sql("update campaign_contacts set last_outcome = 'answered'");
    expect(await campaigns().redial(own(), parentId, all)).toBe('nobody');
    expect(await test.sql('select count(*)::int as n from campaigns')).toEqual([{ n: 1 }]);
  });

  it('is copied in short transactions, and hidden until it is whole', async () => {
    const { id: parentId } = await harness.create();
    await harness.contacts(parentId, 1_000);
    await test.sql("update campaign_contacts set state = 'failed', last_outcome = 'busy'");
    await test.sql("update campaigns set state = 'completed'");
    const lists: number[] = [];
    const copying = campaigns().redial(own(), parentId, all);
    let isDone = false;
    void copying.finally(() => {
      isDone = true;
    });
    while (!isDone) {
      lists.push((await campaigns().list(own(), { limit: 10, offset: 0 })).total);
    }
    const child = await copying;
    if (child === undefined || child === 'nobody') throw new Error('no child');
    expect(child.totalRows).toBe(1_000);
    expect(lists[0]).toBe(1);
    const [of] = await test.sql(
      `select count(*)::int as contacts, count(distinct xmin::text)::int as transactions
       from campaign_contacts where campaign_id = $1`,
      [child.id],
    );
    expect(of).toEqual({ contacts: 1_000, transactions: 2 });
  });

  it('deletes the copy that a killed process left in the middle', async () => {
    const parentId = await aParent();
    const { id } = await harness.create({ name: 'left over' });
    await harness.contacts(id, 3);
    await test.sql('update campaigns set deleted_at = $1 where id = $2', [
      new Date(test.clock.now()),
      id,
    ]);
    test.clock.advance(900_001);
    const child = await campaigns().redial(own(), parentId, all);
    if (child === undefined || child === 'nobody') throw new Error('no child');
    expect(await test.sql('select id from campaigns where id = $1', [id])).toEqual([]);
    expect((await campaigns().get(own(), parentId))?.redialedCampaignId).toBe(child.id);
  });

  it('fits a long name into what a name may have', async () => {
    const parentId = await aParent({ name: 'x'.repeat(255) });
    const child = await campaigns().redial(own(), parentId, all);
    if (child === undefined || child === 'nobody') throw new Error('no child');
    expect(child.name).toBe(`${'x'.repeat(246)} (Redial)`);
  });
});
