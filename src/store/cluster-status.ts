// The gateways on this database: the condition that each reports, its processes, their open calls, and its PBXs.

import { sql } from 'kysely';
import {
  type ClusterStatus,
  type GatewayCondition,
  type GatewayStatus,
  gatewayCondition,
} from '../model/gateway-condition.ts';
import type { ConfiguredProviderName } from '../model/provider.ts';
import type { StoreContext } from './db/store-context.ts';
import { isOpen } from './runs/runs.ts';

/** Rows of one answer: processes, and configurations of PBXs. */
const ROWS_MAX = 2_000;
const SUPERVISOR = 'supervisor';

export type ClusterStatusStore = Pick<ClusterStatusRepository, keyof ClusterStatusRepository>;

interface ProcessRow {
  name: string;
  url: string | null;
  started_at: Date;
  heartbeat_s: number;
  calls: string;
  condition: unknown;
  condition_s: number | null;
  orphans: string;
  now: Date;
}

export class ClusterStatusRepository {
  readonly #context: StoreContext;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  /** Stores the condition of this gateway. Returns the database's time, milliseconds since 1970; undefined if the row
   *  of this process is gone, which its next heartbeat notices. */
  async report(condition: GatewayCondition): Promise<number | undefined> {
    const { db, time, node, epoch } = this.#context;
    const { rows } = await sql<{ condition_at: Date }>`
      update nodes set condition = ${JSON.stringify(condition)}::json, condition_at = ${time()}
      where name = ${node} and epoch = ${epoch}
      returning condition_at`.execute(db);
    return rows[0]?.condition_at.getTime();
  }

  /** `pbxProviders`: those whose configurations have a connection. */
  async read(
    pbxProviders: readonly ConfiguredProviderName[],
  ): Promise<Omit<ClusterStatus, 'asked'>> {
    const [rows, leases] = await Promise.all([this.#processes(), this.#leases(pbxProviders)]);
    const gateways = gatewaysOf(rows);
    const orphans = Number(rows[0]?.orphans ?? 0);
    return {
      now: (rows[0]?.now ?? new Date(this.#context.clock.now())).toISOString(),
      gateways,
      pbx_leases: leases,
      calls: orphans + gateways.reduce((sum, { calls }) => sum + calls, 0),
      calls_without_owner: orphans,
    };
  }

  async #processes(): Promise<ProcessRow[]> {
    const { db, time } = this.#context;
    // An owner without an epoch is of a version that knew none.
    const { rows } = await sql<ProcessRow>`
      with owned as materialized (
        select owner_node, owner_epoch, count(*) as calls from runs where ${isOpen()} group by 1, 2
      ), clock as (select ${time()} as now)
      select name, to_jsonb(nodes) ->> 'url' as url, started_at, condition, now,
        extract(epoch from now - seen_at)::float8 as heartbeat_s,
        extract(epoch from now - condition_at)::float8 as condition_s,
        (
          select coalesce(sum(calls), 0) from owned
          where owner_node = name
            and (owner_epoch is null or epoch is null or owner_epoch = epoch)
        ) as calls,
        (
          select coalesce(sum(calls), 0) from owned
          where not exists (
            select from nodes as living
            where living.name = owner_node
              and (owner_epoch is null or living.epoch is null or owner_epoch = living.epoch)
          )
        ) as orphans
      from nodes, clock order by name limit ${ROWS_MAX}`.execute(db);
    return rows;
  }

  async #leases(
    providers: readonly ConfiguredProviderName[],
  ): Promise<ClusterStatus['pbx_leases']> {
    const { db, time } = this.#context;
    const { rows } = await sql<ClusterStatus['pbx_leases'][number]>`
      with clock as (select ${time()} as now)
      select of.id::text as configuration_id, of.name, of.organization_id::text,
        held.node, extract(epoch from lease_until - now)::float8 as seconds_left,
        of.inactive_reason
      from telephony_configurations as of
      left join configuration_leases as held on held.configuration_id = of.id, clock
      where of.provider = any(${[...providers]}::text[])
      order by of.id limit ${ROWS_MAX}`.execute(db);
    return rows;
  }
}

/** Processes by their gateway: `<gateway>`, `<gateway>#api`, `<gateway>#1`. */
function gatewaysOf(rows: readonly ProcessRow[]): GatewayStatus[] {
  const byGateway = new Map<string, ProcessRow[]>();
  for (const row of rows) {
    const [name] = splitName(row.name);
    byGateway.set(name, [...(byGateway.get(name) ?? []), row]);
  }
  return [...byGateway].map(([name, of]) => gatewayOf(name, of));
}

function gatewayOf(name: string, rows: readonly ProcessRow[]): GatewayStatus {
  const told = rows.find(({ condition }) => condition !== null);
  const oldest = Math.min(...rows.map((row) => row.started_at.getTime()));
  return {
    name,
    url: rows.find(({ url }) => url !== null)?.url ?? null,
    since: new Date(oldest).toISOString(),
    heartbeat_seconds: Math.max(0, ...rows.map((row) => row.heartbeat_s)),
    calls: rows.reduce((sum, { calls }) => sum + Number(calls), 0),
    processes: rows.map((row) => ({
      name: splitName(row.name)[1],
      since: row.started_at.toISOString(),
      heartbeat_seconds: Math.max(0, row.heartbeat_s),
      calls: Number(row.calls),
    })),
    // Null too for the form of another version.
    condition: gatewayCondition.safeParse(told?.condition).data ?? null,
    condition_seconds: told?.condition_s ?? null,
  };
}

function splitName(name: string): [gateway: string, process: string] {
  const end = name.lastIndexOf('#');
  return end === -1 ? [name, SUPERVISOR] : [name.slice(0, end), name.slice(end + 1)];
}
