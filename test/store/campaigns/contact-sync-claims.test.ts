import { describe, expect, it } from 'vitest';
import type { Campaign } from '../../../src/model/campaign.ts';
import { engines } from '../databases.ts';
import { withStore } from '../engines.ts';
import { withCampaigns } from './campaign-harness.ts';

describe.each(engines())('the reading of contact files on the %s engine', (engine) => {
  const test = withStore(engine);
  const harness = withCampaigns(test);
  const own = () => test.owner.organizationId;
  const campaigns = () => test.store.campaigns;
  const started = async (): Promise<string> => {
    const { id } = await harness.create();
    await campaigns().start(own(), id);
    return id;
  };
  const get = async (id: string): Promise<Campaign | undefined> => campaigns().get(own(), id);

  it('waits for a start, and is one process’ at a time, oldest campaign first', async () => {
    await harness.create();
    expect(await campaigns().claimSync()).toBeUndefined();
    const ids = [await started(), await started()];
    const claimed = [await campaigns().claimSync(), await campaigns().claimSync()];
    expect(claimed.map((each) => each?.id)).toEqual(ids);
    expect(await campaigns().claimSync()).toBeUndefined();
  });

  it('is given to one of those who ask at the same moment', async () => {
    await started();
    const all = await Promise.all(Array.from({ length: 5 }, () => campaigns().claimSync()));
    expect(all.filter((each) => each !== undefined)).toHaveLength(1);
  });

  it('goes to another process half a minute after the last sign of life', async () => {
    const id = await started();
    await campaigns().claimSync();
    test.clock.advance(20_000);
    expect(await campaigns().renewSync(id)).toBe(true);
    test.clock.advance(29_999);
    expect(await campaigns().claimSync()).toBeUndefined();
    test.clock.advance(1);
    expect((await campaigns().claimSync())?.id).toBe(id);
  });

  it('ends in running with contacts, in completed without', async () => {
    const id = await started();
    await harness.contacts(id, 3);
    test.clock.advance(1_000);
    const now = new Date(test.clock.now());
    expect(await campaigns().finishSync(id)).toMatchObject({
      state: 'running',
      sourceSync: 'completed',
      sourceSyncedAt: now,
      totalRows: 3,
      completedAt: null,
    });
    const empty = await started();
    expect(await campaigns().finishSync(empty)).toMatchObject({
      state: 'completed',
      totalRows: 0,
      completedAt: now,
    });
    expect((await get(empty))?.logs.at(-1)).toMatchObject({ event: 'completed', level: 'info' });
    expect(await campaigns().finishSync(id)).toBeUndefined();
    expect(await campaigns().renewSync(id)).toBe(false);
    expect(await campaigns().claimSync()).toBeUndefined();
  });

  // Until the database's own maintenance came, each claim sorted all contacts of a new campaign.
  it('ends with what the database must know to find the next contacts in its index', async () => {
    const id = await started();
    await test.sql(
      `insert into campaign_contacts (campaign_id, row_number, phone_number, variables, due_at)
       select $1, nth, '+1415' || nth, '{}', now() from generate_series(2, 40001) as nth`,
      [id],
    );
    const plan = async (): Promise<string> => {
      const rows = await test.sql(
        `explain select id, variables, attempts from campaign_contacts
         where campaign_id = ${id} and state = 'fresh' and due_at <= now()
         order by due_at, id limit 25 for update skip locked`,
      );
      return rows.map((row) => String(Object.values(row)[0])).join(' ');
    };
    expect(await campaigns().finishSync(id)).toMatchObject({ state: 'running', totalRows: 40_000 });
    expect(await plan()).toMatch(/Index Scan using campaign_contacts_due /);
    expect(await plan()).not.toContain('Sort');
  });

  it('goes on while the campaign is paused, and leaves it paused', async () => {
    const id = await started();
    await campaigns().pause(own(), id);
    expect((await campaigns().claimSync())?.id).toBe(id);
    expect(await campaigns().renewSync(id)).toBe(true);
    await harness.contacts(id, 2);
    expect(await campaigns().finishSync(id)).toMatchObject({ state: 'paused', totalRows: 2 });
    expect(await campaigns().resume(own(), id)).toMatchObject({ state: 'running' });
  });

  it('goes on after a resume that came before its end', async () => {
    const id = await started();
    await campaigns().pause(own(), id);
    expect(await campaigns().resume(own(), id)).toMatchObject({ state: 'syncing' });
    await harness.contacts(id, 2);
    expect(await campaigns().finishSync(id)).toMatchObject({ state: 'running' });
  });

  it('fails the campaign, paused or not, for good, and leaves no contacts', async () => {
    for (const isPaused of [false, true]) {
      const id = await started();
      if (isPaused) await campaigns().pause(own(), id);
      await harness.contacts(id, 2);
      const failed = await campaigns().failSync(id, 'no such file');
      expect(failed).toMatchObject({
        state: 'failed',
        sourceSync: 'failed',
        sourceError: 'no such file',
        totalRows: null,
        completedAt: null,
      });
      expect(failed?.logs.at(-1)).toMatchObject({
        level: 'error',
        event: 'source_sync_failed',
        details: { error: 'no such file' },
      });
      expect((await test.store.contacts.counts([id])).get(id)?.contacts).toBe(0);
      expect(await campaigns().failSync(id, 'again')).toBeUndefined();
      expect(await campaigns().resume(own(), id)).toBeUndefined();
      expect(await campaigns().update(own(), id, { name: 'x' })).toBeUndefined();
      expect(await campaigns().update(own(), id, {})).toBeUndefined();
    }
  });
});
