// The steps of an attempt to its dial, on PostgreSQL: its run is created, and the attempt is `dialling`, in one
// transaction; then the provider has the call. Attempts of one organization that begin at the same time share the
// transaction: each would wait for the organization's lock, and a campaign of a hundred calls a second has ten
// milliseconds for each.

import { sql } from 'kysely';
import { GatewayError } from '../../errors/gateway-error.ts';
import { DIAL_FAULTS_MAX } from '../../model/campaign.ts';
import type { Run } from '../../model/run.ts';
import { Batches, type BatchResult } from '../../std/batches.ts';
import { inShare } from '../../std/work-share.ts';
import type { StoreContext, TransactionContext } from '../db/store-context.ts';
import { TOGETHER_MAX, together, togetherLimits } from '../db/together.ts';
import type { NewRun } from '../runs/new-run.ts';
import { insertRows, lockOpenCalls } from '../runs/run-insertion.ts';
import type { ClaimedAttempt } from './dial-attempts.ts';
import { faultsOf } from './provider-faults.ts';

interface Beginning {
  claim: Pick<ClaimedAttempt, 'attemptId' | 'providerFaults'>;
  /** Its `campaignId` is the campaign's. */
  run: NewRun;
  /** Of the organization's open calls; undefined: its own. */
  limit: number | undefined;
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
    // Of all organizations: the gateway's own work.
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
  begin(claim: Beginning['claim'], run: NewRun, limit?: number): Promise<Begun> {
    const key = `${run.organizationId} ${run.configurationId}`;
    return this.#beginnings.add(key, { claim, run, limit });
  }

  /** The provider has the call. */
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

/** Of one organization and configuration. */
function beginEach(
  context: StoreContext,
  all: readonly Beginning[],
): Promise<BatchResult<Begun>[]> {
  return together(all, (some) =>
    context.db.transaction().execute((tx) => beginTogether(tx, context, some)),
  );
}

async function beginTogether(
  tx: TransactionContext,
  context: StoreContext,
  all: readonly Beginning[],
): Promise<BatchResult<Begun>[]> {
  const claimed = await lockClaims(tx, context, all);
  if (claimed.size === 0) return all.map(() => ({ value: undefined }));
  const organizationId = all[0]?.run.organizationId ?? '0';
  const calls = await lockOpenCalls(tx, context, organizationId);
  const fresh: Beginning[] = [];
  const results = all.map((each): number | BatchResult<Begun> => {
    const { claim, limit = calls.limit } = each;
    if (!claimed.has(claim.attemptId)) return { value: undefined };
    if (calls.open + fresh.length < limit) return fresh.push(each) - 1;
    return { error: new GatewayError('CALL_LIMIT_REACHED', { limit }) };
  });
  const runs = await insertRows(
    tx,
    context,
    fresh.map(({ run }) => run),
  );
  await noteDialling(
    tx,
    fresh.map(({ claim }, nth) => ({ attemptId: claim.attemptId, runId: runs[nth]?.id })),
  );
  return results.map((each) => (typeof each === 'number' ? { value: runs[each] } : each));
}

/** Attempts that may begin, locked in the order of their ids. */
async function lockClaims(
  tx: TransactionContext,
  { node, time }: StoreContext,
  all: readonly Beginning[],
): Promise<ReadonlySet<string>> {
  const isProbe = new Map(
    all.map(({ claim }) => [claim.attemptId, claim.providerFaults >= DIAL_FAULTS_MAX]),
  );
  const rows = await tx
    .selectFrom('campaign_attempts')
    .innerJoin('campaigns', 'campaigns.id', 'campaign_attempts.campaign_id')
    .select('campaign_attempts.id')
    .select(faultsOf(all[0]?.run.configurationId ?? null).as('faults'))
    .where('campaign_attempts.id', '=', (of) => of.fn.any(of.val([...isProbe.keys()])))
    .where('campaign_attempts.state', '=', 'claimed')
    .where('campaign_attempts.node', '=', node)
    .where('campaign_attempts.lease_until', '>=', time())
    .where('campaigns.state', '=', 'running')
    .orderBy('campaign_attempts.id')
    .forUpdate('campaign_attempts')
    .execute();
  const claimed = rows.filter(({ id, faults }) => isProbe.get(id) || faults < DIAL_FAULTS_MAX);
  return new Set(claimed.map(({ id }) => id));
}

async function noteDialling(
  tx: TransactionContext,
  begun: readonly { attemptId: string; runId: string | undefined }[],
): Promise<void> {
  if (begun.length === 0) return;
  await sql`
    update campaign_attempts set state = 'dialling', run_id = begun.run_id
    from unnest(
      ${begun.map(({ attemptId }) => attemptId)}::bigint[],
      ${begun.map(({ runId }) => runId)}::bigint[]
    ) as begun (id, run_id)
    where campaign_attempts.id = begun.id`.execute(tx);
}
