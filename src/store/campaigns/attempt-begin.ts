// The steps of an attempt to its dial, on PostgreSQL: one statement creates its run and sets the attempt to `dialling`;
// `placed` follows when the provider has the call. Attempts of one organization that begin at the same time share the
// statement: each would wait for the organization's lock, and a campaign of a hundred calls per second has ten
// milliseconds for each.

import { sql } from 'kysely';
import { GatewayError } from '../../errors/gateway-error.ts';
import { DIAL_FAULTS_MAX } from '../../model/campaign.ts';
import type { Run } from '../../model/run.ts';
import { Batches, type BatchResult } from '../../std/batches.ts';
import { inShare } from '../../std/work-share.ts';
import { jsonText } from '../db/column-values.ts';
import type { StoreContext } from '../db/store-context.ts';
import { TOGETHER_MAX, together, togetherLimits } from '../db/together.ts';
import { columnsOf, type Inserted, type NewRun, rowOf, runsIn } from '../runs/run-insertion.ts';
import type { ClaimedAttempt } from './dial-attempts.ts';
import { faultsOf } from './provider-faults.ts';

interface Beginning {
  claim: Pick<ClaimedAttempt, 'attemptId' | 'providerFaults'>;
  /** New run, with the campaign's id as its `campaignId`. */
  run: NewRun;
}

/** Undefined if the claim has expired, the campaign no longer runs, or waits for its provider since the claim. */
type Begun = Run | undefined;

export class AttemptBeginnings {
  readonly #beginnings: Batches<Beginning, Begun>;
  readonly #placed: Batches<string, undefined>;

  constructor(context: StoreContext) {
    this.#beginnings = new Batches(
      (all) => beginEach(context, all),
      togetherLimits(({ run }) => run),
    );
    // Placements of all organizations together: they are the gateway's own work.
    this.#placed = new Batches(
      (attemptIds) =>
        inShare(undefined, () =>
          together(attemptIds, async (some) => {
            await notePlaced(context, some);
            return some.map(() => ({ value: undefined }));
          }),
        ),
      { itemsMax: TOGETHER_MAX },
    );
  }

  /** Throws CALL_LIMIT_REACHED. */
  begin(claim: Beginning['claim'], run: NewRun): Promise<Begun> {
    const key = `${run.organizationId} ${run.configurationId}`;
    return this.#beginnings.add(key, { claim, run });
  }

  /** Notes that the provider has the call. */
  async placed(attemptId: string): Promise<void> {
    await this.#placed.add('', attemptId);
  }
}

async function notePlaced({ db }: StoreContext, attemptIds: readonly string[]): Promise<void> {
  await db
    .updateTable('campaign_attempts')
    .set({ state: 'placed' })
    .where('id', '=', (of) => of.fn.any(of.val([...attemptIds])))
    .where('state', '=', 'dialling')
    .execute();
}

/** Begins attempts of one organization and configuration. */
function beginEach(
  context: StoreContext,
  all: readonly Beginning[],
): Promise<BatchResult<Begun>[]> {
  return together(all, (some) => beginTogether(context, some));
}

async function beginTogether(
  context: StoreContext,
  all: readonly Beginning[],
): Promise<BatchResult<Begun>[]> {
  const { claimed, made, limit } = await insertClaimed(context, all);
  const runs = made.values();
  return all.map(({ claim }) => {
    if (!claimed.has(claim.attemptId)) return { value: undefined };
    const run = runs.next().value;
    if (run === undefined) return { error: new GatewayError('CALL_LIMIT_REACHED', { limit }) };
    return { value: run };
  });
}

interface Insertion {
  /** Attempts that may begin. */
  claimed: ReadonlySet<string>;
  /** Runs of the claimed attempts, in their order, as far as the organization's limit allows. */
  made: Run[];
  limit: number;
}

/** Creates the runs. Attempts are locked in the order of their ids, and before their organization, which is locked only
 *  if one of them may begin. */
async function insertClaimed(context: StoreContext, all: readonly Beginning[]): Promise<Insertion> {
  const { organizationId = '0', configurationId = null } = all[0]?.run ?? {};
  const ids = all.map(({ claim }) => claim.attemptId);
  const probes = all.filter(({ claim }) => claim.providerFaults >= DIAL_FAULTS_MAX);
  const rows = all.map(({ run }) => rowOf(context, run, { isIdle: false }));
  const columns = columnsOf(rows[0] ?? {});
  const { rows: given } = await sql<Inserted & { claimed: string[] | null }>`
    with claimed as materialized (
      select attempt.id from campaign_attempts as attempt
      join campaigns on campaigns.id = attempt.campaign_id
      where attempt.id = any(${ids}::bigint[]) and attempt.state = 'claimed'
        and attempt.node = ${context.node} and attempt.lease_until >= ${context.time()}
        and campaigns.state = 'running' and (
          ${faultsOf(configurationId)} < ${DIAL_FAULTS_MAX}
          or attempt.id = any(${probes.map(({ claim }) => claim.attemptId)}::bigint[])
        )
      order by attempt.id for update of attempt
    ), calls as materialized (
      select * from lock_open_calls(${organizationId}::bigint, ${context.callLimit}::integer)
      where (select count(*) from claimed) > 0
    ), wanted as materialized (
      select fresh.*, attempt_id, calls_open, calls_max,
        row_number() over (order by ordinality) as place
      from calls, json_populate_recordset(null::runs, ${jsonText(rows)}::json)
        with ordinality as fresh
      join unnest(${ids}::bigint[]) with ordinality as asked (attempt_id, nth) on nth = ordinality
      join claimed on claimed.id = attempt_id
    ), made as (
      insert into runs (${columns})
      select ${columns} from wanted where calls_open + place <= calls_max order by place
      returning *
    ), begun as (
      update campaign_attempts set state = 'dialling', run_id = run.id
      from wanted
      join (select id, row_number() over (order by id) as nth from made) as run on nth = place
      where campaign_attempts.id = attempt_id
    )
    select (select array_agg(id::text) from claimed) as claimed, calls.calls_max, made.*
    from (select) as one left join calls on true left join made on true`.execute(context.db);
  const [first] = given;
  const claimed = new Set(first?.claimed ?? []);
  return { claimed, made: runsIn(given), limit: first?.calls_max ?? 0 };
}
