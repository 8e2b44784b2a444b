// Totals and far pages of lists of runs: exact without counting, and out of an index.

import { Kysely, PostgresDialect } from 'kysely';
import { Pool } from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connectionConfig } from '../../../src/store/db/connections.ts';
import type { Tables } from '../../../src/store/db/tables.ts';
import { RunCountMaintenance } from '../../../src/store/runs/run-count-maintenance.ts';
import { spansOfRuns } from '../../../src/store/runs/run-counts.ts';
import type { RunPage } from '../../../src/store/runs/run-filters.ts';
import { listRuns } from '../../../src/store/runs/run-list.ts';
import { engines } from '../databases.ts';
import { withStore } from '../engines.ts';
import { type RunMaker, runMaker } from './run-rows.ts';

const NEWEST = { filter: {}, sortBy: 'created_at', descending: true, limit: 50 } as const;

describe.each(engines())('many runs on %s', (engine) => {
  const at = withStore(engine);
  let runs: RunMaker;
  let db: Kysely<Tables>;
  const statements: { sql: string; parameters: readonly unknown[] }[] = [];
  beforeEach(async () => {
    runs = await runMaker(at);
    const pool = new Pool({ ...connectionConfig(at.target(), 'api'), max: 1 });
    const log = ({ query }: { query: (typeof statements)[number] }): void =>
      void statements.push(query);
    db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }), log });
  });
  afterEach(() => db.destroy());

  const scope = () => ({
    organizationId: at.owner.organizationId,
    workflowId: runs.workflowId,
  });

  /** Completed ones, forty minutes apart. */
  async function seed(count: number, workflowId = runs.workflowId): Promise<void> {
    await at.sql(
      `insert into runs (organization_id, workflow_id, definition_id, name, mode, call_type, state,
         owner_node, initial_context, gathered_context, logs, annotations, disposition, duration_s,
         created_at)
       select $1, $2, $3, 'WR-' || n, 'twilio', 'outbound', 'completed', 'n', '{}', '{}', '{}', '{}',
         (array['user_hangup', 'user_qualified', 'busy', 'no-answer'])[1 + n % 4], (n * 37) % 300,
         '2026-01-01T00:10:00Z'::timestamptz + n * interval '40 minutes'
       from generate_series(1, $4::int) n`,
      [at.owner.organizationId, workflowId, runs.definitionId, count],
    );
  }

  async function total(of: { organizationId: string } = scope()): Promise<number> {
    return (await at.store.runs.list(of, { ...NEWEST, offset: 0 })).total;
  }

  it('are counted as they come and go', async () => {
    const [first] = [await runs.make(), await runs.make()];
    expect(await total()).toBe(2);
    expect(await total({ organizationId: at.owner.organizationId })).toBe(2);
    await at.sql('delete from runs where id = $1', [first.id]);
    expect(await total()).toBe(1);
    await seed(300);
    expect(await total()).toBe(301);
    // Nobody has counted these.
    expect(await at.sql('select count(*)::int as rows from run_counts where runs < 0')).toEqual([
      { rows: 0 },
    ]);
  });

  it('are counted by campaign, and stay the agent’s when it is deleted', async () => {
    const [campaign] = await at.sql(
      `insert into campaigns (organization_id, workflow_id, name, state, source_id, source_sync,
         retry, rate_per_second, created_at)
       values ($1, $2, 'c', 'paused', 'a.csv', 'completed', '{}', 1, now()) returning id::text`,
      [at.owner.organizationId, runs.workflowId],
    );
    const campaignId = String(campaign?.['id']);
    await runs.make({}, { campaignId });
    await runs.make({}, { campaignId });
    await runs.make();
    const { organizationId } = at.owner;
    const listed = await at.store.runs.list(
      { organizationId, campaignId },
      { ...NEWEST, offset: 0 },
    );
    expect(listed.total).toBe(2);
    await at.sql('delete from campaigns where id = $1', [campaignId]);
    expect(await total()).toBe(3);
    expect(
      await at.sql(`select campaign_id::int, sum(runs)::int as runs from run_counts
        where day <> '-infinity' group by 1`),
    ).toEqual([{ campaign_id: 0, runs: 3 }]);
  });

  it('are shown page by page, however far back', async () => {
    await seed(2_500);
    for (const descending of [true, false]) {
      const order = descending ? 'desc' : 'asc';
      const all = await at.sql(
        `select id::text from runs order by created_at ${order}, id ${order}`,
      );
      for (const offset of [0, 990, 1_001, 1_739, 2_449, 2_490, 2_500, 9_000]) {
        const page = { ...NEWEST, descending, offset };
        const listed = await at.store.runs.list(scope(), page);
        expect(listed.runs.map(({ id }) => id)).toEqual(
          all.slice(offset, offset + 50).map(({ id }) => id),
        );
        expect(listed.total).toBe(2_500);
      }
    }
  });

  it('are found in pieces where no index has the filter', async () => {
    await seed(45_000);
    await at.sql(
      `update runs set initial_context = '{"called_number": "+14155"}' where id % 700 = 0`,
    );
    for (const descending of [true, false]) {
      const order = descending ? 'desc' : 'asc';
      const all = await at.sql(
        `select id::text from runs where id % 700 = 0 order by created_at ${order}, id ${order}`,
      );
      const filter = { calledNumber: '4155' };
      for (const offset of [0, 25, 50, 100]) {
        const listed = await at.store.runs.list(scope(), { ...NEWEST, filter, descending, offset });
        expect(listed.runs.map(({ id }) => id)).toEqual(
          all.slice(offset, offset + 50).map(({ id }) => id),
        );
        expect(listed.total).toBe(all.length);
      }
    }
    // By duration, too: half of the runs have one, and many have the same.
    await at.sql('update runs set duration_s = id % 50 where id % 2 = 0');
    const ofOrganization = { organizationId: at.owner.organizationId };
    for (const descending of [true, false]) {
      const order = descending ? 'desc' : 'asc';
      const longest = { ...NEWEST, sortBy: 'duration' as const, descending, offset: 1_230 };
      const all = await at.sql(`select id::text from runs
        order by duration_s ${order} nulls last, runs.id ${order} limit 50 offset 1230`);
      statements.splice(0);
      const { runs } = await listRuns({ db }, ofOrganization, longest);
      expect(runs.map(({ id }) => id)).toEqual(all.map(({ id }) => id));
      expect(statements.filter(({ sql }) => sql.includes('nulls last'))).toHaveLength(3);
    }
    statements.splice(0);
    const page = { ...NEWEST, filter: { calledNumber: '4155' }, offset: 0 };
    await listRuns({ db }, scope(), page);
    expect(statements.filter(({ sql }) => sql.includes('count(*)'))).toHaveLength(3);
    await at.sql('truncate runs cascade'); // One by one they would take the next test's time.
  }, 60_000);

  it('are counted again, day by day, where the kept figures are wrong', async () => {
    await seed(100);
    await at.sql(`update run_counts set runs = runs + 5 where day = '2026-01-01'`);
    await at.sql(`update run_counts set runs = runs - 30 where day = '-infinity'`);
    await at.sql(`delete from run_counts where day = '2026-01-03'`);
    const maintenance = new RunCountMaintenance({ db }, { clock: at.clock, log: at.log });
    await maintenance.step();
    const days = await at.sql(
      `select sum(runs)::int as runs from run_counts where day > '-infinity'`,
    );
    expect(days).toEqual([{ runs: 100 }]);
    expect(await total()).toBe(100);
    await maintenance.step();
    expect(at.lines().filter(({ msg }) => String(msg).includes('stored number'))).toHaveLength(2);
    await at.sql('delete from run_counts');
    await maintenance.step();
    expect(await total()).toBe(100);
  });

  it('are summed up in pieces that together are all of them', async () => {
    await seed(1_000);
    const wanted = { from: undefined, to: undefined, runs: 100 };
    const spans = await spansOfRuns({ db }, scope(), wanted);
    expect(spans.length).toBeGreaterThan(5);
    let counted = 0;
    for (const { from, to } of spans) {
      const [row] = await at.sql(
        'select count(*)::int as runs from runs where created_at >= $1 and created_at < $2',
        [from, to],
      );
      expect(Number(row?.['runs'])).toBeLessThanOrEqual(136); // One day has 36.
      counted += Number(row?.['runs']);
    }
    expect(counted).toBe(1_000);
    const [all] = await at.sql('select sum(duration_s) as seconds from runs');
    expect(await at.store.reports.sums(scope(), {})).toEqual({
      calls: 1_000,
      durationS: all?.['seconds'],
      tokens: 0,
    });
  });

  it('come out of an index, whatever a page is filtered and sorted by', async () => {
    await seed(5_000);
    await at.sql('vacuum analyze runs');
    const filter = { dispositions: ['user_hangup'], durationMinS: 30, durationMaxS: 90 };
    const longest = { ...NEWEST, sortBy: 'duration', offset: 0 } as const;
    expect(await plans({ ...NEWEST, offset: 0 })).toMatchObject({
      page: expect.stringContaining('Index Only Scan using runs_workflow_created'),
      total: expect.stringContaining('run_counts'),
    });
    expect(await plans({ ...NEWEST, offset: 4_000 })).toMatchObject({
      page: expect.stringContaining('Index Only Scan using runs_workflow_created'),
    });
    const { page, total: count } = await plans({ ...longest, filter });
    for (const each of [page, count]) {
      expect(each).toContain('Index Only Scan using runs_workflow_disposition_duration');
    }
    expect(page).not.toContain('Sort');
    expect(await plans(longest)).toMatchObject({
      page: expect.stringContaining('Index Only Scan using runs_workflow_longest'),
    });
  });

  /** How the database carries out what a list asks. */
  async function plans(page: RunPage): Promise<{ page: string; total: string }> {
    statements.splice(0);
    expect((await listRuns({ db }, scope(), page)).runs).not.toEqual([]);
    const planOf = async (part: string): Promise<string> => {
      const statement = statements.find(({ sql }) => sql.includes(part));
      const rows = await at.sql(`explain ${statement?.sql}`, [...(statement?.parameters ?? [])]);
      return rows.map((row) => String(row['QUERY PLAN'])).join('\n');
    };
    const isFiltered = Object.keys(page.filter).length > 0;
    return {
      page: await planOf('select "id" from "runs"'),
      total: await planOf(isFiltered ? 'count(*)' : 'sum(runs), 0)'),
    };
  }

  it('of a foreign agent are none', async () => {
    await seed(10);
    const stranger = await at.sql(
      `insert into organizations (name, created_at) values ('O', now()) returning id::text`,
    );
    const organizationId = String(stranger[0]?.['id']);
    const foreign = { organizationId, workflowId: runs.workflowId };
    const page = { ...NEWEST, filter: { dispositions: ['busy'] }, offset: 0 };
    expect(await at.store.runs.list(foreign, page)).toEqual({ runs: [], total: 0 });
    expect((await at.store.reports.sums(foreign, {})).calls).toBe(0);
  });
});
