// Runs that clients start, with idempotency keys, on PostgreSQL. One statement stores a key with its run, so a killed
// process leaves both or neither. Keys are valid for a day. Batches of starts: start-batch.ts.

import { type Selectable, sql } from 'kysely';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Run } from '../../model/run.ts';
import { Batches } from '../../std/batches.ts';
import { isRowId, jsonText } from '../db/column-values.ts';
import { inOrganizationTurn } from '../db/organization-lock.ts';
import type { StoreContext, TransactionContext } from '../db/store-context.ts';
import type { RunTable } from '../db/tables.ts';
import { togetherLimits } from '../db/together.ts';
import { insertRow, lockOpenCalls, type NewRun, type StartedRun } from './run-insertion.ts';
import { toRun } from './runs.ts';
import { keepKey, runOfKey, type StartKey, startAll, type WantedStart } from './start-batch.ts';

/** The call of a run that was created without one. */
export interface CallOfRun {
  organizationId: string;
  workflowId: string;
  runId: string;
  mode: string;
  configurationId: string;
  /** Variables that are merged into the run's. */
  initialContext: Record<string, unknown>;
  gatheredContext: Record<string, unknown>;
}

export type RunStartStore = Pick<IdempotentRunStarts, keyof IdempotentRunStarts>;

export class IdempotentRunStarts {
  readonly #context: StoreContext;
  readonly #starts: Batches<WantedStart, StartedRun>;

  constructor(context: StoreContext) {
    this.#context = context;
    this.#starts = new Batches(
      (wanted) => startAll(context, wanted),
      togetherLimits(({ input }) => input),
    );
  }

  /** The run that a request with this key created within the last day; undefined if there is none. Throws
   *  START_KEY_REUSED. */
  async startedBy(organizationId: string, key: StartKey): Promise<Run | undefined> {
    if (!isRowId(organizationId)) return undefined;
    return this.#runOf(this.#context.db, organizationId, key);
  }

  /** Creates a run; its key is stored with it or not at all. Throws CALL_LIMIT_REACHED, START_KEY_REUSED. */
  start(input: NewRun, key: StartKey | undefined): Promise<StartedRun> {
    const kind = key === undefined ? 'plain' : 'keyed';
    return this.#starts.add(`${input.organizationId} ${kind}`, { input, key });
  }

  /** Whether the run was created without a call and has not been started. */
  async isIdle(runId: string): Promise<boolean> {
    if (!isRowId(runId)) return false;
    const { db } = this.#context;
    const of = db.selectFrom('runs').select('is_idle').where('id', '=', runId);
    return (await of.executeTakeFirst())?.is_idle ?? false;
  }

  /** Creates a run without a call, which does not count against the limit. */
  createIdle(input: NewRun): Promise<Run> {
    return insertRow(this.#context.db, this.#context, input, { isIdle: true });
  }

  /** Starts a call of an existing run without one. Throws RUN_NOT_FOUND, RUN_HAS_CALL, RUN_OF_OTHER_WORKFLOW, then what
   *  `start` throws. */
  startIdle(call: CallOfRun, key: StartKey | undefined): Promise<StartedRun> {
    const context = this.#context;
    const { organizationId } = call;
    return inOrganizationTurn(context, organizationId, async (tx) => {
      const { limit, open } = await lockOpenCalls(tx, context, organizationId);
      const known = key && (await this.#runOf(tx, organizationId, key));
      if (known !== undefined) return { run: known, isNew: false };
      await checkIdle(tx, call);
      if (open >= limit) throw new GatewayError('CALL_LIMIT_REACHED', { limit });
      const run = await startRun(tx, context, call);
      if (key !== undefined) await keepKey(tx, context, { run, key });
      return { run, isNew: true };
    });
  }

  async #runOf(
    db: StoreContext['db'],
    organizationId: string,
    { key, requestHash }: StartKey,
  ): Promise<Run | undefined> {
    const known = await runOfKey(db, this.#context, { organizationId, key });
    if (known === undefined) return undefined;
    if (known.requestHash !== requestHash) throw new GatewayError('START_KEY_REUSED');
    return known.run;
  }
}

async function startRun(
  tx: TransactionContext,
  { node, epoch }: StoreContext,
  call: CallOfRun,
): Promise<Run> {
  const { rows } = await sql<Selectable<RunTable>>`
    update runs set
      is_idle = false,
      owner_node = ${node},
      owner_epoch = ${epoch},
      mode = ${call.mode},
      call_type = 'outbound',
      configuration_id = ${call.configurationId},
      initial_context = initial_context || ${jsonText(call.initialContext)}::jsonb,
      gathered_context = gathered_context || ${jsonText(call.gatheredContext)}::jsonb
    where id = ${call.runId} returning *`.execute(tx);
  const [row] = rows;
  if (row === undefined) throw new GatewayError('RUN_NOT_FOUND');
  return toRun(row);
}

/** Locks the run and checks that it can get a call. Order of checks: contract §6.1. */
async function checkIdle(tx: TransactionContext, call: CallOfRun): Promise<void> {
  const row = !isRowId(call.runId)
    ? undefined
    : await tx
        .selectFrom('runs')
        .select(['workflow_id', 'is_idle', 'state', 'provider_call_id'])
        .where('id', '=', call.runId)
        .where('organization_id', '=', call.organizationId)
        .forUpdate()
        .executeTakeFirst();
  if (row === undefined) throw new GatewayError('RUN_NOT_FOUND');
  // A text chat has no call either, a run that was hung up gets none, and a caller who waits has one.
  const hasNone = row.is_idle && row.provider_call_id === null;
  if (!hasNone || row.state !== 'initialized') throw new GatewayError('RUN_HAS_CALL');
  if (row.workflow_id !== call.workflowId) throw new GatewayError('RUN_OF_OTHER_WORKFLOW');
}
