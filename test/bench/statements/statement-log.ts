// What a PostgreSQL server has done, by statement and by table: pg_stat_statements and pg_stat_user_tables between two
// readings. Sources: PostgreSQL 15, "F.32. pg_stat_statements", "28.2. The Cumulative Statistics System".

import type { Client } from 'pg';

/** Settings of a server of which this can be read. */
export const STATISTICS_SETTINGS = [
  '-c',
  'shared_preload_libraries=pg_stat_statements',
  '-c',
  'pg_stat_statements.track_planning=on',
  '-c',
  'track_io_timing=off',
] as const;

/** A backend reports its counts at most a second after its last statement; an idle one reports at once. */
const REPORTED_MS = 2_500;

export interface StatementCount {
  text: string;
  calls: number;
  /** Milliseconds of the server, planning and execution. */
  planMs: number;
  runMs: number;
  walBytes: number;
}

export interface TableCount {
  table: string;
  inserted: number;
  updated: number;
  /** Updates that touched no index (heap-only tuples). */
  hot: number;
  deleted: number;
}

export interface Reading {
  statements: ReadonlyMap<string, StatementCount>;
  tables: ReadonlyMap<string, TableCount>;
}

export async function prepareStatistics(client: Client): Promise<void> {
  await client.query('create extension if not exists pg_stat_statements');
}

export async function readStatistics(client: Client): Promise<Reading> {
  await new Promise((resolve) => setTimeout(resolve, REPORTED_MS));
  const { rows: statements } = await client.query<StatementCount & { id: string }>(
    `select queryid::text as id, query as text, calls::float8, total_plan_time as "planMs",
       total_exec_time as "runMs", wal_bytes::float8 as "walBytes"
     from pg_stat_statements where query not like '%pg_stat_%' and toplevel`,
  );
  const { rows: tables } = await client.query<TableCount>(
    `select relname as table, n_tup_ins::float8 as inserted, n_tup_upd::float8 as updated,
       n_tup_hot_upd::float8 as hot, n_tup_del::float8 as deleted
     from pg_stat_user_tables`,
  );
  return {
    statements: new Map(statements.map(({ id, ...count }) => [id, count])),
    tables: new Map(tables.map((count) => [count.table, count])),
  };
}

/** What was done between the two, the most time first. */
export function between(before: Reading, after: Reading): Reading {
  return {
    statements: lessThose(after.statements, before.statements, 'calls'),
    tables: lessThose(after.tables, before.tables, 'inserted', 'updated', 'deleted'),
  };
}

function lessThose<Count extends object>(
  after: ReadonlyMap<string, Count>,
  before: ReadonlyMap<string, Count>,
  ...counts: (keyof Count)[]
): Map<string, Count> {
  const grown = [...after].map(([key, count]): [string, Count] => {
    const old: Partial<Count> = before.get(key) ?? {};
    const entries = Object.entries(count).map(([name, value]) =>
      typeof value === 'number'
        ? [name, value - Number(old[name as keyof Count] ?? 0)]
        : [name, value],
    );
    return [key, Object.fromEntries(entries) as Count]; // The same keys.
  });
  return new Map(grown.filter(([, count]) => counts.some((name) => Number(count[name]) > 0)));
}
