// Which runs the dials of one statement lock, and in which order, on a PostgreSQL server: the embedded engine works on one
// statement at a time. What dials change in their runs: runs.test.ts and test/call/start/outbound.

import { describe, expect, it, vi } from 'vitest';
import { engines } from '../databases.ts';
import { withStore } from '../engines.ts';
import { runMaker } from './run-rows.ts';

describe.runIf(engines().includes('server'))('dials that are stored together', () => {
  const at = withStore('server');

  // In the order of their arrival, two processes with the same runs in other orders waited for each other, until the server
  // ended one of them.
  it.each([
    {
      what: "providers' ids",
      store: (runId: string) =>
        at.store.runs.dialled({ runId, callId: `CA${runId}`, gatheredContext: {} }),
    },
    { what: 'owners', store: (runId: string) => at.store.runs.adopt(runId) },
    {
      what: 'owners that others took them from',
      store: async (runId: string) => (await at.store.runs.takeOver(runId))?.run,
    },
  ])('lock runs in the order of their ids for $what', async ({ store }) => {
    const runs = await runMaker(at);
    const ids: string[] = [];
    for (let nth = 0; nth < 4; nth++) ids.push((await runs.make()).id);
    await at.sql("update runs set owner_node = 'placed-it'");
    const [first = '', ...others] = ids;
    const [low, , high = ''] = others;
    await at.sql('begin');
    await at.sql('update runs set name = name where id = $1', [low]);
    // The first one goes alone, and those that come meanwhile after it.
    const stored = Promise.all([first, ...others.toReversed()].map(store));
    await vi.waitFor(async () =>
      expect(await at.sql('select from pg_locks where not granted')).toHaveLength(1),
    );
    const free = await at.sql('select id from runs where id = $1 for update skip locked', [high]);
    await at.sql('commit');
    expect((await stored).map((run) => run?.id)).toEqual([first, ...others.toReversed()]);
    expect(free).toEqual([{ id: high }]);
  });
});
