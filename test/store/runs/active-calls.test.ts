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

  it('without a word of a provider are those that clients have started at this process', async () => {
    const { make, workflowId, configurationId } = await runMaker(at);
    const { runs } = at.store;
    const [campaign] = await at.sql(
      `insert into campaigns (organization_id, workflow_id, configuration_id, name, state, source_id,
         source_sync, retry, rate_per_second, created_at)
       values ($1, $2, $3, 'c', 'running', 'x.csv', 'completed', '{}', 1, now()) returning id::text`,
      [at.owner.organizationId, workflowId, configurationId],
    );
    const [first, second] = [await make(), await make()];
    await make({ state: 'running' });
    await make({ state: 'completed' });
    await make({}, { providerCallId: 'CA1' });
    await make({}, { callType: 'inbound' });
    await make({}, { campaignId: String(campaign?.['id']) });
    const others = [await make(), await make()];
    await at.sql("update runs set owner_node = 'other' where id = $1", [others[0]?.id]);
    await at.sql('update runs set owner_epoch = owner_epoch - 1 where id = $1', [others[1]?.id]);
    const idle = await make();
    await at.sql('update runs set is_idle = true where id = $1', [idle.id]);
    expect(await runs.unplaced()).toEqual([first.id, second.id]);
  });
});
