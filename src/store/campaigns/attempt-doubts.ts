// Attempts in doubt: it is not known whether a call was placed. The doubt ends when it is proved that none was;
// campaign/look-ups.ts decides what is proof.

import { type RawBuilder, sql } from 'kysely';
import { shifted } from '../db/database-time.ts';
import type { StoreContext, TransactionContext } from '../db/store-context.ts';
import { loggedPutOff } from './campaigns.ts';

/** Notes that it is not known whether the provider has the call. */
export async function noteDoubt({ db, time }: StoreContext, attemptId: string): Promise<void> {
  await db
    .updateTable('campaign_attempts')
    .set({ doubt_since: time() })
    .where('id', '=', attemptId)
    .where('state', '=', 'dialling')
    .where('doubt_since', 'is', null)
    .execute();
}

/** Notes the first time that the provider's list does not have the call. */
export async function noteMissed({ db, time }: StoreContext, attemptId: string): Promise<void> {
  await db
    .updateTable('campaign_attempts')
    .set({ missed_at: time() })
    .where('id', '=', attemptId)
    .where('missed_at', 'is', null)
    .execute();
}

/** Ends an attempt that placed no call, as was proved: it is removed, and the contact is due after `delayMs`. False if
 *  a call has turned up. One statement: a call that turns up meanwhile ends the doubt and stays. */
export async function putOff(
  context: StoreContext,
  attemptId: string,
  delayMs: number,
): Promise<boolean> {
  return context.db.transaction().execute(async (tx) => {
    const attempt = await tx
      .selectFrom('campaign_attempts')
      .select(['id', 'campaign_id', 'contact_id', 'run_id'])
      .where('id', '=', attemptId)
      .where('state', 'in', ['dialling', 'placed'])
      .forUpdate()
      .executeTakeFirst();
    if (attempt === undefined || attempt.run_id === null) return false;
    if (!(await endWithoutCall(tx, attempt.run_id))) return false;
    await returnContact(tx, attempt, shifted(context.time(), delayMs));
    await tx
      .updateTable('campaign_contacts')
      .set({
        put_offs: sql`put_offs + 1`,
        put_off_since: sql`coalesce(put_off_since, ${context.time()})`,
      })
      .where('id', '=', attempt.contact_id)
      .execute();
    await tx
      .updateTable('campaigns')
      .set({ logs: loggedPutOff(context) })
      .where('id', '=', attempt.campaign_id)
      .execute();
    return true;
  });
}

/** Deletes the run if it is unchanged. A run that our own stop has closed stays, because others have seen it. False if
 *  it has a call. */
async function endWithoutCall(tx: TransactionContext, runId: string): Promise<boolean> {
  const run = await tx
    .selectFrom('runs')
    .select('state')
    .where('id', '=', runId)
    .where('state', 'in', ['initialized', 'completed'])
    .where('provider_call_id', 'is', null)
    .forUpdate()
    .executeTakeFirst();
  if (run?.state === 'initialized') await tx.deleteFrom('runs').where('id', '=', runId).execute();
  return run !== undefined;
}

/** Removes the attempt and makes its contact due again. */
export async function returnContact(
  tx: TransactionContext,
  attempt: { id: string; contact_id: string },
  due: RawBuilder<Date>,
): Promise<void> {
  await tx.deleteFrom('campaign_attempts').where('id', '=', attempt.id).execute();
  await tx
    .updateTable('campaign_contacts')
    .set({
      state: sql`case when attempts > 1 then 'waiting' else 'fresh' end`,
      attempts: sql`attempts - 1`,
      ...retriesBy(-1),
      due_at: due,
    })
    .where('id', '=', attempt.contact_id)
    .execute();
}

/** Adds or subtracts one retry of the contact's reason, when an attempt is made or removed. */
export function retriesBy(change: 1 | -1) {
  const changed = (reason: 'busy' | 'no_answer' | 'voicemail') => sql<number>`
    ${sql.ref(`${reason}_retries`)}
      + case when retry_reason = ${sql.lit(reason)} then ${sql.lit(change)} else 0 end`;
  return {
    busy_retries: changed('busy'),
    no_answer_retries: changed('no_answer'),
    voicemail_retries: changed('voicemail'),
  };
}
