import { beforeEach, describe, expect, it } from 'vitest';
import { type SyncDeps, syncNext } from '../../src/campaign/contact-sync.ts';
import { codeOf, GatewayError } from '../../src/errors/gateway-error.ts';
import { systemClock } from '../../src/std/clock.ts';
import { withCampaigns } from '../store/campaigns/campaign-harness.ts';
import { engines } from '../store/databases.ts';
import { withStore } from '../store/engines.ts';

describe.each(engines())('a started campaign on the %s engine', (engine) => {
  const test = withStore(engine);
  const harness = withCampaigns(test);
  const own = () => test.owner.organizationId;
  const campaigns = () => test.store.campaigns;
  const never = new AbortController().signal;
  let deps: SyncDeps;

  beforeEach(() => {
    deps = {
      store: test.store,
      files: test.store.files,
      hasOtherNodes: false,
      clock: systemClock,
      log: test.log,
    };
  });

  async function started(text: string | null): Promise<string> {
    const { id, sourceId } = await harness.create();
    if (text === null) await test.store.files.remove(sourceId);
    else await test.store.files.write(sourceId, Buffer.from(text));
    await campaigns().start(own(), id);
    return id;
  }
  const get = async (id: string) => campaigns().get(own(), id);
  const rows = async (id: string) =>
    test.sql(
      'select row_number, phone_number, variables from campaign_contacts where campaign_id = $1 order by 1',
      [id],
    );
  const list = (count: number): string =>
    [
      'phone_number,name',
      ...Array.from({ length: count }, (_, i) => `+14155${100_000 + i},N${i}`),
    ].join('\n');

  it('has its file’s contacts and runs', async () => {
    const id = await started(
      'phone_number,Name\n+1 (415) 555-0100,Ana\n,nobody\n+14155550101,Ben\n',
    );
    expect(await syncNext(deps, never)).toBe(true);
    expect(await get(id)).toMatchObject({ state: 'running', totalRows: 2 });
    expect(await rows(id)).toEqual([
      {
        row_number: 2,
        phone_number: '+14155550100',
        variables: { phone_number: '+1 (415) 555-0100', name: 'Ana' },
      },
      {
        row_number: 4,
        phone_number: '+14155550101',
        variables: { phone_number: '+14155550101', name: 'Ben' },
      },
    ]);
    expect(await syncNext(deps, never)).toBe(false);
  });

  it('is completed if its file has no contact to call', async () => {
    const id = await started('phone_number,name\n,Ana\n');
    await syncNext(deps, never);
    expect(await get(id)).toMatchObject({ state: 'completed', totalRows: 0 });
  });

  it('fails if its file is gone or has become unusable, without a single contact', async () => {
    const faulty = `${list(1_200)}\n4155550100,late\n`;
    for (const text of [null, faulty]) {
      const id = await started(text);
      expect(await syncNext(deps, never)).toBe(true);
      const campaign = await get(id);
      expect(campaign).toMatchObject({ state: 'failed', sourceSync: 'failed' });
      expect(campaign?.sourceError).toMatch(text === null ? /^Failed to access/ : /rows: 1202\./);
      expect(await rows(id)).toEqual([]);
    }
  });

  it('waits for the node that has its file, and fails when none has had it for a day', async () => {
    const shared = { ...deps, hasOtherNodes: true };
    const id = await started(null);
    expect(await syncNext(shared, never)).toBe(true);
    const waiting = await get(id);
    expect(waiting).toMatchObject({
      state: 'syncing',
      sourceSync: 'in_progress',
      sourceError: null,
    });
    expect(waiting?.logs.at(-1)).toMatchObject({ level: 'warning', event: 'source_waits' });
    // This node leaves the next try to the others.
    expect(await syncNext(shared, never)).toBe(false);
    test.clock.advance(30_000);
    expect(await syncNext(shared, never)).toBe(true);
    expect((await get(id))?.logs).toHaveLength(waiting?.logs.length ?? 0);
    // Another one has looked in vain: it is this one's turn at once.
    await test.sql(`update campaigns set sync_missed_node = 'another' where id = $1`, [id]);
    await test.store.files.write(waiting?.sourceId ?? '', Buffer.from(list(3)));
    expect(await syncNext(shared, never)).toBe(true);
    expect(await get(id)).toMatchObject({ state: 'running', totalRows: 3 });

    const lost = await started(null);
    await syncNext(shared, never);
    test.clock.advance(86_400_000);
    await syncNext(shared, never);
    expect(await get(lost)).toMatchObject({ state: 'failed', sourceSync: 'failed' });
  });

  it('waits ten minutes for a file that no node sees, and is then told what is missing', async () => {
    const shared = { ...deps, hasOtherNodes: true, areFilesShared: true };
    const id = await started(null);
    expect(await syncNext(shared, never)).toBe(true);
    // All nodes see the same: none looks again at once.
    await test.sql('update campaigns set sync_missed_node = null where id = $1', [id]);
    expect(await syncNext(shared, never)).toBe(false);
    test.clock.advance(599_000);
    expect(await syncNext(shared, never)).toBe(true);
    expect(await get(id)).toMatchObject({ state: 'syncing' });
    test.clock.advance(30_000);
    await syncNext(shared, never);
    expect(await get(id)).toMatchObject({
      state: 'failed',
      sourceError: expect.stringContaining('it has not been uploaded, or is gone'),
    });
  });

  it('is read again when the files cannot be reached for a while', async () => {
    const id = await started(list(3));
    const files = {
      ...deps.files,
      stat: () => Promise.reject(new GatewayError('FILES_UNAVAILABLE')),
    };
    const fault = await syncNext({ ...deps, files }, never).catch((error: unknown) =>
      codeOf(error),
    );
    expect(fault).toBe('FILES_UNAVAILABLE');
    expect(await get(id)).toMatchObject({ state: 'syncing', sourceSync: 'in_progress' });
    test.clock.advance(30_000);
    expect(await syncNext(deps, never)).toBe(true);
    expect(await get(id)).toMatchObject({ state: 'running', totalRows: 3 });
  });

  it('fails if its file belongs to another organization, and does not read it', async () => {
    const { id } = await harness.create({ sourceId: 'campaigns/999999/a.csv' });
    await test.store.files.write(
      'campaigns/999999/a.csv',
      Buffer.from('phone_number\n+14155550100\n'),
    );
    await campaigns().start(own(), id);
    await syncNext(deps, never);
    expect(await get(id)).toMatchObject({ state: 'failed', sourceError: 'Access denied' });
  });

  it('is read again after a kill at any batch, and has every row once', async () => {
    const id = await started(list(1_600));
    for (const batches of [0, 1, 2, 3]) {
      let left = batches;
      const dying = {
        ...test.store.contacts,
        add: (...from: Parameters<typeof test.store.contacts.add>) => {
          left -= 1;
          if (left < 0) throw new Error('killed');
          return test.store.contacts.add(...from);
        },
      };
      const store = { campaigns: test.store.campaigns, contacts: dying };
      await expect(syncNext({ ...deps, store }, never)).rejects.toThrow('killed');
      expect(await get(id)).toMatchObject({ state: 'syncing', sourceSync: 'in_progress' });
      test.clock.advance(30_000);
    }
    expect(await syncNext(deps, never)).toBe(true);
    expect(await get(id)).toMatchObject({ state: 'running', totalRows: 1_600 });
    expect(new Set((await rows(id)).map(({ row_number }) => row_number)).size).toBe(1_600);
  });

  it('that is paused while its file is read stays paused, its contacts stored', async () => {
    const id = await started(list(1_200));
    const pausing = {
      ...test.store.contacts,
      add: async (...from: Parameters<typeof test.store.contacts.add>) => {
        await campaigns().pause(own(), id);
        return test.store.contacts.add(...from);
      },
    };
    await syncNext(
      { ...deps, store: { campaigns: test.store.campaigns, contacts: pausing } },
      never,
    );
    expect(await get(id)).toMatchObject({ state: 'paused', totalRows: 1_200 });
    expect(await campaigns().resume(own(), id)).toMatchObject({ state: 'running' });
  });

  it('waits for the next process when this one stops', async () => {
    const id = await started(list(1_200));
    const stop = new AbortController();
    stop.abort();
    await syncNext(deps, stop.signal);
    expect(await get(id)).toMatchObject({ state: 'syncing', sourceSync: 'in_progress' });
    test.clock.advance(30_000);
    await syncNext(deps, never);
    expect(await get(id)).toMatchObject({ state: 'running', totalRows: 1_200 });
  });
});
