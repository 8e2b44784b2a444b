// Calls that go on at this moment, on both engines. Source: contract §13.1 item 8.

import { describe, expect, it } from 'vitest';
import { engines } from '../databases.ts';
import { withStore } from '../engines.ts';
import { runMaker } from './run-rows.ts';

describe.each(engines())('active calls on %s', (engine) => {
  const at = withStore(engine);

  it('are the open runs of one organization, newest first, page by page', async () => {
    const made = await runMaker(at);
    const { runs } = at.store;
    const [over, ringing, talking] = [await made.make(), await made.make(), await made.make()];
    await runs.patch(over.id, { state: 'completed' });
    await runs.patch(talking.id, { state: 'running' });
    const { organizationId } = at.owner;
    const page = await runs.activeCalls(organizationId, { limit: 9, offset: 0 });
    expect(page.total).toBe(2);
    expect(page.calls.map(({ run, node }) => [run.id, run.state, node])).toEqual([
      [talking.id, 'running', at.store.node],
      [ringing.id, 'initialized', at.store.node],
    ]);
    const [named] = await at.sql('select name from workflows where id = $1', [ringing.workflowId]);
    expect(page.calls.map(({ workflowName }) => workflowName)).toEqual([
      named?.['name'],
      named?.['name'],
    ]);
    const past = await runs.activeCalls(organizationId, { limit: 9, offset: 9 });
    expect(past).toEqual({ calls: [], total: 2 });
    const second = await runs.activeCalls(organizationId, { limit: 1, offset: 1 });
    expect([second.calls.map(({ run }) => run.id), second.total]).toEqual([[ringing.id], 2]);
    for (const other of ['999999', 'x']) {
      const none = await runs.activeCalls(other, { limit: 9, offset: 0 });
      expect(none).toEqual({ calls: [], total: 0 });
    }
  });
});
