// Creation of runs with idempotency keys on PostgreSQL. A key is stored with its run in one transaction: a killed
// process leaves both or neither. Keys are kept for a day.

import { type Selectable, sql } from 'kysely';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Run } from '../../model/run.ts';
import { isRowId, jsonText } from '../db/column-values.ts';
import { lockOrganization } from '../db/organization-lock.ts';
import type { StoreContext, TransactionContext } from '../db/store-context.ts';
import type { RunTable } from '../db/tables.ts';
import type { NewRun, StartedRun } from './new-run.ts';
import { insertRow, refuseOverLimit, toRun } from './runs.ts';

/** The client's idempotency key, and the hash of its request. */
export interface StartKey {
  key: string;
  /** Equal for equal requests: SHA-256, hexadecimal. */
  requestHash: string;
}

/** The call for a run that was created without one. */
export interface CallOfRun {
  organizationId: string;
  workflowId: string;
  runId: string;
  mode: string;
  configurationId: string;
  /** Merged into the run's. */
  initialContext: Record<string, unknown>;
  gatheredContext: Record<string, unknown>;
}

const KEY_LIFE_MS = 86_400_000;
/** Expired keys that a new one deletes: more than are added, and little work. */
const SWEPT_MAX = 100;

export type RunStartStore = Pick<IdempotentRunStarts, keyof IdempotentRunStarts>;

export class IdempotentRunStarts {
  readonly #context: StoreContext;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  /** The run that a request with this key created within the last day. Throws START_KEY_REUSED. */
  async startedBy(organizationId: string, key: StartKey): Promise<Run | undefined> {
    if (!isRowId(organizationId)) return undefined;
    return this.#runOf(this.#context.db, organizationId, key);
  }

  /** Throws CALL_LIMIT_REACHED, START_KEY_REUSED. Run and key are stored together or not at all. */
  start(input: NewRun, limit: number, key: StartKey | undefined): Promise<StartedRun> {
    const { organizationId } = input;
    return this.#once(organizationId, key, async (tx) => {
      await refuseOverLimit(tx, organizationId, limit);
      return insertRow(tx, this.#context, input, { isIdle: false });
    });
  }

  /** Whether the run was created without a call and has not been started. */
  async isIdle(runId: string): Promise<boolean> {
    if (!isRowId(runId)) return false;
    const { db } = this.#context;
    const of = db.selectFrom('runs').select('is_idle').where('id', '=', runId);
    return (await of.executeTakeFirst())?.is_idle ?? false;
  }

  /** A run without a call; it does not count against the limit. */
  createIdle(input: NewRun): Promise<Run> {
    return insertRow(this.#context.db, this.#context, input, { isIdle: true });
  }

  /** The same for an existing run without a call. Throws RUN_NOT_FOUND, RUN_HAS_CALL, RUN_OF_OTHER_WORKFLOW,
   *  then what `start` throws. */
  startIdle(call: CallOfRun, limit: number, key: StartKey | undefined): Promise<StartedRun> {
    const { organizationId } = call;
    return this.#once(organizationId, key, async (tx) => {
      await checkIdle(tx, call);
      await refuseOverLimit(tx, organizationId, limit);
      const { rows } = await sql<Selectable<RunTable>>`
        update runs set
          is_idle = false,
          owner_node = ${this.#context.node},
          owner_epoch = ${this.#context.epoch},
          mode = ${call.mode},
          call_type = 'outbound',
          configuration_id = ${call.configurationId},
          initial_context = initial_context || ${jsonText(call.initialContext)}::jsonb,
          gathered_context = gathered_context || ${jsonText(call.gatheredContext)}::jsonb
        where id = ${call.runId} returning *`.execute(tx);
      const [row] = rows;
      if (row === undefined) throw new GatewayError('RUN_NOT_FOUND');
      return toRun(row);
    });
  }

  /** `begin` unless a request with the key has begun a run already. */
  #once(
    organizationId: string,
    key: StartKey | undefined,
    begin: (tx: TransactionContext) => Promise<Run>,
  ): Promise<StartedRun> {
    return this.#context.db.transaction().execute(async (tx) => {
      await lockOrganization(tx, organizationId);
      const known = key === undefined ? undefined : await this.#runOf(tx, organizationId, key);
      if (known !== undefined) return { run: known, isNew: false };
      const run = await begin(tx);
      if (key !== undefined) await this.#keep(tx, run, key);
      return { run, isNew: true };
    });
  }

  async #runOf(
    db: StoreContext['db'],
    organizationId: string,
    { key, requestHash }: StartKey,
  ): Promise<Run | undefined> {
    const row = await db
      .selectFrom('start_keys')
      .innerJoin('runs', 'runs.id', 'start_keys.run_id')
      .selectAll('runs')
      .select('start_keys.request_hash')
      .where('start_keys.organization_id', '=', organizationId)
      .where('start_keys.key', '=', key)
      .where('start_keys.created_at', '>', this.#lapsedAt())
      .executeTakeFirst();
    if (row === undefined) return undefined;
    if (row.request_hash !== requestHash) throw new GatewayError('START_KEY_REUSED');
    return toRun(row);
  }

  async #keep(tx: TransactionContext, run: Run, { key, requestHash }: StartKey): Promise<void> {
    await sql`
      delete from start_keys where ctid = any(array(
        select ctid from start_keys where created_at <= ${this.#lapsedAt()}
        order by created_at limit ${SWEPT_MAX} for update skip locked
      ))`.execute(tx);
    const facts = {
      request_hash: requestHash,
      run_id: run.id,
      created_at: new Date(this.#context.clock.now()),
    };
    await tx
      .insertInto('start_keys')
      .values({ organization_id: run.organizationId, key, ...facts })
      .onConflict((conflict) => conflict.columns(['organization_id', 'key']).doUpdateSet(facts))
      .execute();
  }

  #lapsedAt(): Date {
    return new Date(this.#context.clock.now() - KEY_LIFE_MS);
  }
}

/** Locks the run. Order of checks: contract §6.1. */
async function checkIdle(tx: TransactionContext, call: CallOfRun): Promise<void> {
  const row = !isRowId(call.runId)
    ? undefined
    : await tx
        .selectFrom('runs')
        .select(['workflow_id', 'is_idle', 'state'])
        .where('id', '=', call.runId)
        .where('organization_id', '=', call.organizationId)
        .forUpdate()
        .executeTakeFirst();
  if (row === undefined) throw new GatewayError('RUN_NOT_FOUND');
  // A text chat is one without a call, too, and a run that was hung up gets none.
  if (!row.is_idle || row.state !== 'initialized') throw new GatewayError('RUN_HAS_CALL');
  if (row.workflow_id !== call.workflowId) throw new GatewayError('RUN_OF_OTHER_WORKFLOW');
}
