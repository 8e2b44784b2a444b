// Keys of starts at the limits of their life and of their organization, on both engines. Starts: run-starts.test.ts.

import { describe, expect, it, vi } from 'vitest';
import type { StartKey } from '../../../src/store/runs/start-batch.ts';
import { engines } from '../databases.ts';
import { type TestStore, withStore } from '../engines.ts';
import { loseAnswer } from '../sent-statements.ts';
import { type Ground, ground, newRun, otherOrganization } from './completed-runs.ts';

const DAY_MS = 86_400_000;
const KEY: StartKey = { key: 'order-7', requestHash: 'a' };
const OTHER_BODY = { ...KEY, requestHash: 'b' };

/** Keys of two days ago. */
async function lapse(at: TestStore, { organizationId }: Ground, count: number): Promise<void> {
  const { run } = await at.store.starts.start(newRun(await ground(at, organizationId)), undefined);
  await at.sql(
    `insert into start_keys (organization_id, key, request_hash, run_id, created_at)
     select $1, 'old-' || nth, 'a', $2, $3 from generate_series(1, $4::integer) as nth`,
    [organizationId, run.id, new Date(at.clock.now() - 2 * DAY_MS), count],
  );
}

describe.each(engines())('the key of a start on %s', (engine) => {
  const at = withStore(engine);
  const starts = () => at.store.starts;

  it('is of its organization alone, whatever another one has begun with it', async () => {
    const [own, other] = [await ground(at), await ground(at, await otherOrganization(at))];
    const first = await starts().start(newRun(own), KEY);
    const second = await starts().start(newRun(other), OTHER_BODY);
    expect([first.isNew, second.isNew]).toEqual([true, true]);
    expect(second.run.organizationId).toBe(other.organizationId);
    expect((await starts().start(newRun(own), KEY)).run).toEqual(first.run);
    expect((await starts().start(newRun(other), OTHER_BODY)).run).toEqual(second.run);
  });

  it('that has lapsed is that of the next request that has it, for a day', async () => {
    const on = await ground(at);
    await starts().start(newRun(on), KEY);
    at.clock.advance(DAY_MS);
    const { run } = await starts().start(newRun(on), OTHER_BODY);
    expect(await starts().startedBy(on.organizationId, OTHER_BODY)).toEqual(run);
    expect(await starts().start(newRun(on), OTHER_BODY)).toEqual({ run, isNew: false });
    at.clock.advance(DAY_MS - 1);
    expect(await starts().startedBy(on.organizationId, OTHER_BODY)).toEqual(run);
  });

  it('that has lapsed begins a call though the answer of the database is lost', async () => {
    const on = await ground(at);
    await starts().start(newRun(on), KEY);
    at.clock.advance(DAY_MS);
    const lost = loseAnswer(/insert into start_keys/);
    const again = await starts()
      .start(newRun(on), KEY)
      .finally(() => lost.stop());
    expect(again.isNew).toBe(true);
    expect(await at.sql('select id from runs')).toHaveLength(2);
  });

  it('begins one call of two that come together though the answer of the database is lost', async () => {
    const on = await ground(at);
    const key = (name: string) => ({ key: name, requestHash: 'a' });
    const lost = loseAnswer(/insert into start_keys/, 1);
    // The first goes alone, and the others after it.
    const results = await Promise.all(
      ['n1', 'n2', 'n2'].map((name) => starts().start(newRun(on), key(name))),
    ).finally(() => lost.stop());
    expect(results.map(({ isNew }) => isNew)).toEqual([true, true, false]);
    expect(await at.sql('select id from runs')).toHaveLength(2);
  });

  it('deletes a hundred that have lapsed, where it is new', async () => {
    const on = await ground(at);
    await lapse(at, on, 150);
    await starts().start(newRun(on), KEY);
    expect(await at.sql('select key from start_keys')).toHaveLength(51);
    await starts().start(newRun(on), KEY);
    expect(await at.sql('select key from start_keys')).toHaveLength(51);
    await starts().start(newRun(on), { ...KEY, key: 'order-8' });
    expect(await at.sql('select key from start_keys order by key')).toEqual([
      { key: 'order-7' },
      { key: 'order-8' },
    ]);
  });

  it.runIf(engine === 'server')('waits for no lapsed one that another node is at', async () => {
    const on = await ground(at);
    await lapse(at, on, 2);
    await at.sql('begin');
    await at.sql("select from start_keys where key = 'old-1' for update");
    await starts().start(newRun(on), KEY);
    await at.sql('commit');
    const keys = await at.sql('select key from start_keys order by key');
    expect(keys).toEqual([{ key: 'old-1' }, { key: 'order-7' }]);
  });

  // Two starts that deleted each other's lapsed keys first would wait for each other.
  it.runIf(engine === 'server')('keeps no lapsed one while it waits for its own', async () => {
    const [own, other] = [await ground(at), await ground(at, await otherOrganization(at))];
    await lapse(at, own, 1);
    await lapse(at, other, 2);
    await at.sql('begin');
    await at.sql("select from start_keys where organization_id = $1 and key = 'old-1' for update", [
      own.organizationId,
    ]);
    const waiting = starts().start(newRun(own), { key: 'old-1', requestHash: 'a' });
    await vi.waitFor(async () =>
      expect(await at.sql('select from pg_locks where not granted')).toHaveLength(1),
    );
    const free = await at.sql(
      "select key from start_keys where key = 'old-2' for update skip locked",
    );
    await at.sql('commit');
    expect((await waiting).isNew).toBe(true);
    expect(free).toEqual([{ key: 'old-2' }]);
  });
});
