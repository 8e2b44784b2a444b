// Changes of runs by their dials: the owner before, the provider's id after. Those of many dials per second are batched
// in one statement, for one flush of the disk.

import { type Selectable, sql } from 'kysely';
import type { Run } from '../../model/run.ts';
import { Batches, type BatchResult } from '../../std/batches.ts';
import { inShare } from '../../std/work-share.ts';
import { isRowId, jsonText } from '../db/column-values.ts';
import type { StoreContext } from '../db/store-context.ts';
import type { RunTable } from '../db/tables.ts';
import { TOGETHER_MAX, together, togetherLimits } from '../db/together.ts';
import { isFenced, toRun } from './runs.ts';

/** A placed call, as the provider reports it. */
export interface DialledCall {
  runId: string;
  callId: string;
  /** Merged into the run's gathered context. */
  gatheredContext: Record<string, unknown>;
}

/** A run that this process took from its owner. */
export interface TakenOver {
  run: Run;
  /** Name of the former owner in `nodes`. */
  from: string;
}

export class RunDials {
  readonly #adoptions: Batches<string, Run | undefined>;
  readonly #takeOvers: Batches<string, TakenOver | undefined>;
  readonly #dialled: Batches<DialledCall, Run | undefined>;

  constructor(context: StoreContext) {
    // Batches of all organizations: they are the gateway's own work, not that of the first dial's organization.
    this.#adoptions = new Batches(
      (ids) => inShare(undefined, () => together(ids, (some) => adopted(context, some))),
      { itemsMax: TOGETHER_MAX },
    );
    this.#takeOvers = new Batches(
      (ids) => inShare(undefined, () => together(ids, (some) => takenOver(context, some))),
      { itemsMax: TOGETHER_MAX },
    );
    this.#dialled = new Batches(
      (calls) => inShare(undefined, () => together(calls, (some) => noted(context, some))),
      togetherLimits(({ gatheredContext }) => gatheredContext),
    );
  }

  /** Makes this node the owner of a call without media, whichever node placed it. Writes nothing for a run that is this
   *  node's. Returns the run if its owner changed. */
  adopt(id: string): Promise<Run | undefined> {
    return isRowId(id) ? this.#adoptions.add('', id) : Promise.resolve(undefined);
  }

  /** Takes a call without media over from the process that has it, whose later writes to the run are refused until the
   *  call is over (`isTaken`). Undefined, without a change, for a run that is this node's, or is not `initialized`. */
  takeOver(id: string): Promise<TakenOver | undefined> {
    return isRowId(id) ? this.#takeOvers.add('', id) : Promise.resolve(undefined);
  }

  /** Stores the provider's id. Returns the run; undefined if there is none, or if it was taken from this process. */
  dialled(call: DialledCall): Promise<Run | undefined> {
    return isRowId(call.runId) ? this.#dialled.add('', call) : Promise.resolve(undefined);
  }
}

/** Result of one item: the run, or undefined. */
type Found = BatchResult<Run | undefined>;

async function adopted(context: StoreContext, ids: readonly string[]): Promise<Found[]> {
  const { db, node, epoch } = context;
  const { rows } = await sql<Selectable<RunTable>>`
    update runs set owner_node = ${node}, owner_epoch = ${epoch}
    where id = any(${ids}::bigint[]) and state = 'initialized' and not ${isFenced(context)}
      and (owner_node, owner_epoch) is distinct from (${node}::text, ${epoch}::bigint)
    returning *`.execute(db);
  const runs = byId(rows);
  return ids.map((id) => ({ value: runs.get(id) }));
}

async function takenOver(
  context: StoreContext,
  ids: readonly string[],
): Promise<BatchResult<TakenOver | undefined>[]> {
  const { db, node, epoch } = context;
  const { rows } = await sql<Selectable<RunTable> & { former_node: string }>`
    update runs set owner_node = ${node}, owner_epoch = ${epoch},
      adopted_epochs = case when held.owner_epoch is null then adopted_epochs
        else array_append(adopted_epochs, held.owner_epoch) end
    from (
      select id, owner_node, owner_epoch from runs
      where id = any(${ids}::bigint[]) and state = 'initialized'
        and (owner_node, owner_epoch) is distinct from (${node}::text, ${epoch}::bigint)
      order by id for no key update
    ) as held
    where runs.id = held.id
    returning runs.*, held.owner_node as former_node`.execute(db);
  const taken = new Map(rows.map((row) => [row.id, { run: toRun(row), from: row.former_node }]));
  return ids.map((id) => ({ value: taken.get(id) }));
}

/** Stores the dials. Runs are locked in the order of their ids, so that two processes with the same ones do not
 *  deadlock. */
async function noted(context: StoreContext, calls: readonly DialledCall[]): Promise<Found[]> {
  const dialled = calls.map(({ runId, callId, gatheredContext }) => {
    return { id: runId, call_id: callId, context: gatheredContext };
  });
  const { rows } = await sql<Selectable<RunTable>>`
    update runs set provider_call_id = held.call_id,
      gathered_context = runs.gathered_context || held.context
    from (
      select runs.id, dialled.call_id, dialled.context
      from json_to_recordset(${jsonText(dialled)}::json)
        as dialled (id bigint, call_id text, context jsonb)
      join runs on runs.id = dialled.id
      where not ${isFenced(context)}
      order by runs.id for no key update of runs
    ) as held
    where runs.id = held.id
    returning runs.*`.execute(context.db);
  const runs = byId(rows);
  return calls.map(({ runId }) => ({ value: runs.get(runId) }));
}

function byId(rows: readonly Selectable<RunTable>[]): ReadonlyMap<string, Run> {
  return new Map(rows.map((row) => [row.id, toRun(row)]));
}
