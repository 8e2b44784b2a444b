// What the database says of runs, asked past every gateway.

import type { ClusterDatabase } from './cluster-database.ts';

export interface StoredRun {
  id: string;
  state: string;
  disposition: string | null;
  /** Name of the gateway. */
  owner: string;
  callId: string | null;
  recordingKey: string | null;
  endedAt: string | null;
}

/** Keys of the recordings that runs have. */
export function recordingsOf(runs: readonly StoredRun[]): string[] {
  return runs.flatMap(({ recordingKey }) => (recordingKey === null ? [] : [recordingKey]));
}

const RUNS = `
  select id::text, state, disposition, split_part(owner_node, '#', 1) as owner, provider_call_id as "callId",
    recording_key as "recordingKey", ended_at::text as "endedAt"
  from runs`;

export class Ledger {
  readonly #database: ClusterDatabase;

  constructor(database: ClusterDatabase) {
    this.#database = database;
  }

  all(): Promise<StoredRun[]> {
    return this.#database.query<StoredRun>(`${RUNS} order by id`);
  }

  open(): Promise<StoredRun[]> {
    return this.#database.query<StoredRun>(`${RUNS} where state <> 'completed' order by id`);
  }

  of(ids: readonly string[]): Promise<StoredRun[]> {
    return this.#database.query<StoredRun>(`${RUNS} where id = any($1) order by id`, [ids]);
  }

  async byCall(callId: string): Promise<StoredRun | undefined> {
    const rows = await this.#database.query<StoredRun>(`${RUNS} where provider_call_id = $1`, [
      callId,
    ]);
    return rows[0];
  }

  /** Open runs of each gateway. */
  async openByOwner(): Promise<Map<string, string[]>> {
    const byOwner = new Map<string, string[]>();
    for (const { id, owner } of await this.open()) {
      byOwner.set(owner, [...(byOwner.get(owner) ?? []), id]);
    }
    return byOwner;
  }

  /** Runs whose events are not numbered without a gap from the first on. */
  async runsWithGaps(): Promise<string[]> {
    const rows = await this.#database.query<{ id: string }>(
      `select run_id::text as id from run_events group by run_id
       having count(*) <> max(seq) - min(seq) + 1 or min(seq) > 1`,
    );
    return rows.map(({ id }) => id);
  }

  /** Runs with more than one end in their log, or none though they are completed. */
  async runsEndedOtherThanOnce(): Promise<string[]> {
    const rows = await this.#database.query<{ id: string }>(
      `select runs.id::text from runs left join run_events event
         on event.run_id = runs.id and event.body->>'type' = 'call.ended'
       where runs.state = 'completed' group by runs.id having count(event.seq) <> 1`,
    );
    return rows.map(({ id }) => id);
  }

  /** Runs whose calls went on in another process. */
  async resumed(): Promise<string[]> {
    const rows = await this.#database.query<{ id: string }>(
      `select distinct run_id::text as id from run_events where body->>'type' = 'call.resumed'`,
    );
    return rows.map(({ id }) => id);
  }

  async countEvents(): Promise<number> {
    const rows = await this.#database.query<{ events: string }>(
      'select count(*) as events from run_events',
    );
    return Number(rows[0]?.events);
  }

  /** Milliseconds until none of these runs is open, or `msMax`. */
  async msUntilClosed(ids: readonly string[], msMax: number): Promise<number> {
    return await msUntil(async () => {
      const runs = await this.of(ids);
      return runs.every(({ state }) => state === 'completed');
    }, msMax);
  }
}

const LOOK_MS = 100;

/** Milliseconds until something is so; infinite if it is not within `msMax`. */
export async function msUntil(
  isSo: () => Promise<boolean> | boolean,
  msMax: number,
): Promise<number> {
  const sinceMs = performance.now();
  while (performance.now() - sinceMs < msMax) {
    if (await isSo()) return performance.now() - sinceMs;
    await pause(LOOK_MS);
  }
  return Number.POSITIVE_INFINITY;
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
