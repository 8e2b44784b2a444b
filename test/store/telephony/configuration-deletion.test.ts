// A telephony configuration of many runs is deleted, on both engines. In one statement it was a rewrite of all of them: of
// 100,000 it took a PostgreSQL server 3.7 s, of 250,000 it never ended within the 9 s of a statement.

import { describe, expect, it } from 'vitest';
import { engines } from '../databases.ts';
import { withStore } from '../engines.ts';
import { completedRun, ground, openRun } from '../runs/completed-runs.ts';

describe.each(engines())('the deletion of a telephony configuration on %s', (engine) => {
  const at = withStore(engine);
  const Runs = 1_200;

  /** With completed runs and one whose call talks. */
  async function configurationWithRuns() {
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
    return { id: on.configurationId, delete: () => deletion(on.configurationId) };
  }

  const deletion = (id: string) =>
    at.store.telephony.deleteConfiguration(at.owner.organizationId, id);

  async function runsOf(id: string): Promise<unknown> {
    const [row] = await at.sql(
      'select count(*)::int as runs from runs where configuration_id = $1',
      [id],
    );
    return row?.['runs'];
  }

  /** Runs that each statement has changed meanwhile. */
  async function changesBy(work: () => Promise<unknown>): Promise<number[]> {
    await at.sql('create table changes (runs integer)');
    await at.sql(`create function note_changes() returns trigger language plpgsql as $$
      begin insert into changes select count(*) from changed; return null; end $$`);
    await at.sql(`create trigger noted after update on runs
      referencing new table as changed for each statement execute function note_changes()`);
    try {
      await work();
      const rows = await at.sql('select runs from changes');
      return rows.map(({ runs }) => Number(runs));
    } finally {
      await at.sql('drop trigger noted on runs');
      await at.sql('drop function note_changes');
      await at.sql('drop table changes');
    }
  }

  it('takes it from its runs in pieces, so that others have their turn in between', async () => {
    const configuration = await configurationWithRuns();
    const changes = await changesBy(async () => expect(await configuration.delete()).toBe(true));
    expect(changes).toEqual([500, 500, 200, 1]);
    const rows = await at.sql(
      'select distinct configuration_id, count(*)::int as runs from runs group by 1',
    );
    expect(rows).toEqual([{ configuration_id: null, runs: Runs + 1 }]);
  });

  it('touches no run where a campaign uses it, or it is of another organization', async () => {
    const { id } = await configurationWithRuns();
    const { telephony } = at.store;
    const changes = await changesBy(async () => {
      expect(await telephony.deleteConfiguration('999999', id)).toBe(false);
      await at.sql(
        `insert into campaigns (organization_id, workflow_id, configuration_id, name, state, source_id,
           source_sync, retry, rate_per_second, created_at)
         select organization_id, workflow_id, configuration_id, 'c', 'completed', 'x', 'completed', '{}', 1, now()
         from runs limit 1`,
      );
      await expect(deletion(id)).rejects.toMatchObject({ code: 'CONFIGURATION_IN_USE' });
    });
    expect(changes).toEqual([]);
    expect(await runsOf(id)).toBe(Runs + 1);
  });
});
