import { describe, expect, it } from 'vitest';
import { BREAKER_DEFAULT, RETRY_DEFAULT } from '../../../src/model/campaign.ts';
import { engines } from '../databases.ts';
import { withStore } from '../engines.ts';
import { withCampaigns } from './campaign-harness.ts';

describe.each(engines())('campaigns on the %s engine', (engine) => {
  const test = withStore(engine);
  const harness = withCampaigns(test);
  const own = () => test.owner.organizationId;
  const campaigns = () => test.store.campaigns;

  const aConfiguration = async (): Promise<string> => {
    const { id } = await test.store.telephony.createConfiguration(own(), {
      name: 'pbx',
      provider: 'ari',
      isDefaultOutbound: false,
      credentials: {},
      accountId: null,
      secretFields: [],
    });
    return id;
  };

  it('come back as they were made, with the names around them', async () => {
    const configurationId = await aConfiguration();
    const schedule = {
      enabled: true,
      timezone: 'Europe/Oslo',
      slots: [{ dayOfWeek: 6, start: '22:00', end: '02:00' }],
    };
    const settings = { schedule, breaker: BREAKER_DEFAULT, maxConcurrency: 7, ratePerSecond: 20 };
    const created = await harness.create({ configurationId, ...settings });
    expect(created).toEqual({
      ...harness.input({ configurationId, ...settings }),
      id: created.id,
      organizationId: own(),
      workflowName: 'agent',
      configurationName: 'pbx',
      state: 'created',
      sourceType: 'csv',
      sourceSync: 'pending',
      sourceSyncedAt: null,
      sourceError: null,
      totalRows: null,
      parentCampaignId: null,
      redialedCampaignId: null,
      waitsForConfigurationId: null,
      logs: [],
      createdAt: new Date(test.clock.now()),
      startedAt: null,
      completedAt: null,
    });
    expect(await campaigns().get(own(), created.id)).toEqual(created);
  });

  it('are not found by another organization, nor by an invalid id', async () => {
    const { id } = await harness.create();
    for (const [organizationId, campaignId] of [
      ['999999', id],
      [own(), '999999'],
      [own(), 'x'],
      ['x', id],
    ] as const) {
      expect(await campaigns().get(organizationId, campaignId)).toBeUndefined();
      expect(await campaigns().update(organizationId, campaignId, { name: 'x' })).toBeUndefined();
      expect(await campaigns().start(organizationId, campaignId)).toBeUndefined();
    }
    expect((await campaigns().get(own(), id))?.name).toBe('sept');
  });

  it('are listed newest first, by pages', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) {
      ids.unshift((await harness.create()).id);
      if (i % 2 === 0) test.clock.advance(1_000);
    }
    const page = await campaigns().list(own(), { limit: 2, offset: 2 });
    expect(page.campaigns.map(({ id }) => id)).toEqual(ids.slice(2, 4));
    expect(page.total).toBe(5);
    expect(await campaigns().list('999999', { limit: 2, offset: 0 })).toEqual({
      campaigns: [],
      total: 0,
    });
  });

  it('keep what an update leaves out', async () => {
    const { id } = await harness.create({ maxConcurrency: 3 });
    const retry = { ...RETRY_DEFAULT, maxRetries: 5 };
    expect(await campaigns().update(own(), id, { name: 'oct', retry })).toMatchObject({
      name: 'oct',
      retry,
      maxConcurrency: 3,
      ratePerSecond: 1,
    });
    expect(await campaigns().update(own(), id, {})).toMatchObject({ name: 'oct' });
  });

  it('go from state to state by the table, and say so in their log', async () => {
    const { id } = await harness.create();
    expect(await campaigns().pause(own(), id)).toBeUndefined();
    expect(await campaigns().resume(own(), id)).toBeUndefined();
    test.clock.advance(1_000);
    const startedAt = new Date(test.clock.now());
    expect(await campaigns().start(own(), id)).toMatchObject({
      state: 'syncing',
      sourceSync: 'in_progress',
      startedAt,
    });
    expect(await campaigns().start(own(), id)).toBeUndefined();
    expect((await campaigns().pause(own(), id))?.state).toBe('paused');
    expect((await campaigns().resume(own(), id))?.state).toBe('syncing');
    await test.sql("update campaigns set state = 'running', source_sync = 'completed'");
    expect((await campaigns().pause(own(), id))?.state).toBe('paused');
    const resumed = await campaigns().resume(own(), id);
    expect(resumed?.state).toBe('running');
    expect(resumed?.logs.map(({ event, level }) => [event, level])).toEqual([
      ['started', 'info'],
      ['paused', 'info'],
      ['resumed', 'info'],
      ['paused', 'info'],
      ['resumed', 'info'],
    ]);
    expect(resumed?.logs[0]?.at).toEqual(startedAt);
  });

  it('are started once, however many ask at the same time', async () => {
    const { id } = await harness.create();
    const all = await Promise.all(Array.from({ length: 8 }, () => campaigns().start(own(), id)));
    expect(all.filter((each) => each !== undefined)).toHaveLength(1);
  });

  it('keep the newest two hundred entries of their log', async () => {
    const { id } = await harness.create();
    await campaigns().start(own(), id);
    for (let i = 0; i < 120; i++) {
      await campaigns().pause(own(), id);
      await campaigns().resume(own(), id);
    }
    const logs = (await campaigns().get(own(), id))?.logs ?? [];
    expect(logs).toHaveLength(200);
    expect(logs.at(-1)?.event).toBe('resumed');
    expect(logs[0]?.event).toBe('paused');
  });

  it('hold their telephony configuration: it is not deleted', async () => {
    const configurationId = await aConfiguration();
    await harness.create({ configurationId });
    await expect(
      test.store.telephony.deleteConfiguration(own(), configurationId),
    ).rejects.toMatchObject({ code: 'CONFIGURATION_IN_USE' });
    await test.sql('delete from campaigns');
    expect(await test.store.telephony.deleteConfiguration(own(), configurationId)).toBe(true);
  });
});
