// A telephony configuration of many runs is deleted, on both engines. As long as its runs lost it, that was a rewrite of all
// of them: in one statement of 250,000 it never ended, and in pieces a kill in between left a configuration, still there,
// that some of its completed runs had lost.

import { describe, expect, it } from 'vitest';
import { engines } from '../databases.ts';
import { withStore } from '../engines.ts';
import { completedRun, ground, openRun } from '../runs/completed-runs.ts';
import { before, statementsSent } from '../sent-statements.ts';

describe.each(engines())('the deletion of a telephony configuration on %s', (engine) => {
  const at = withStore(engine);
  const Runs = 1_200;

  /** With completed runs and one whose call talks. */
  async function configurationWithRuns(): Promise<string> {
    const on = await ground(at);
    await completedRun(at, on);
    await at.sql(
      `insert into runs (organization_id, workflow_id, definition_id, name, mode, call_type, state,
         configuration_id, owner_node, initial_context, gathered_context, logs, annotations, created_at)
       select organization_id, workflow_id, definition_id, name, mode, call_type, state,
         configuration_id, owner_node, initial_context, gathered_context, logs, annotations, created_at
       from runs, generate_series(2, $1::int)`,
      [Runs],
    );
    await openRun(at, on);
    return on.configurationId;
  }

  const deletion = (id: string) =>
    at.store.telephony.deleteConfiguration(at.owner.organizationId, id);

  const campaign = () =>
    at.sql(
      `insert into campaigns (organization_id, workflow_id, configuration_id, name, state, source_id,
         source_sync, retry, rate_per_second, created_at)
       select organization_id, workflow_id, configuration_id, 'c', 'completed', 'x', 'completed', '{}', 1, now()
       from runs limit 1`,
    );

  const runs = () =>
    at.sql('select configuration_id, count(*)::int as runs from runs group by configuration_id');

  it('is one statement, in which its runs stay as they are', async () => {
    const id = await configurationWithRuns();
    const sent = statementsSent();
    expect(await deletion(id)).toBe(true);
    sent.stop();
    expect(sent.verbs).toEqual(['delete']);
    expect(await runs()).toEqual([{ configuration_id: id, runs: Runs + 1 }]);
    expect(await at.store.telephony.getConfiguration(at.owner.organizationId, id)).toBeUndefined();
    expect(await deletion(id)).toBe(false);
  });

  it.each([
    { what: 'a kill', meanwhile: () => Promise.reject(new Error('killed')), code: 'STORE_' },
    { what: 'a campaign that begins to use it', meanwhile: campaign, code: 'CONFIGURATION_IN_USE' },
  ])('takes it from no run where it stays because of $what', async ({ meanwhile, code }) => {
    const id = await configurationWithRuns();
    const late = before(/^delete from "telephony_configurations"/, meanwhile);
    const refused = deletion(id).finally(() => late.stop());
    await expect(refused).rejects.toMatchObject({ code: expect.stringContaining(code) });
    expect(await at.store.telephony.getConfiguration(at.owner.organizationId, id)).toBeDefined();
    expect(await runs()).toEqual([{ configuration_id: id, runs: Runs + 1 }]);
  });

  it('is refused for one of another organization', async () => {
    const id = await configurationWithRuns();
    expect(await at.store.telephony.deleteConfiguration('999999', id)).toBe(false);
    expect(await at.store.telephony.getConfiguration(at.owner.organizationId, id)).toBeDefined();
  });
});
