// Contacts and the dial queue as one repository. The life cycle of an attempt: dial-attempts.ts.

import { jsonText } from '../db/column-values.ts';
import { readTime } from '../db/database-time.ts';
import type { StoreContext } from '../db/store-context.ts';
import { withContext } from '../db/with-context.ts';
import { AttemptBeginnings } from './attempt-begin.ts';
import { noteDoubt, noteMissed, putOff } from './attempt-doubts.ts';
import { settleAttempt, settleable, strandedAttempts } from './attempt-settlement.ts';
import { CampaignCountsCache } from './contact-counts.ts';
import type { NewContact } from './dial-attempts.ts';
import { claimContacts, freeSlots, releaseAttempt, releaseClaims } from './dial-queue.ts';
import { lookForWork } from './dispatch-look.ts';
import { providerAnswered, providerFailed } from './provider-faults.ts';
import {
  completeDone,
  firstRetry,
  noteInLog,
  recentOutcomes,
  runningCampaigns,
  stopCampaign,
} from './running-campaigns.ts';

/** Contacts of one statement, which allows 65,535 values. */
const ADD_MAX = 1_000;

export type ContactStore = ReturnType<typeof contactStore>;

export function contactStore(context: StoreContext) {
  const counts = new CampaignCountsCache(context);
  const beginnings = new AttemptBeginnings(context);
  return withContext(context, {
    counts: (_context, ids: readonly string[]) => counts.of(ids),
    add: addContacts,
    look: lookForWork,
    running: runningCampaigns,
    claim: claimContacts,
    firstRetry,
    freeSlots,
    begin: (_context, ...of: Parameters<AttemptBeginnings['begin']>) => beginnings.begin(...of),
    placed: (_context, attemptId: string) => beginnings.placed(attemptId),
    doubt: noteDoubt,
    missed: noteMissed,
    putOff,
    releaseAttempt,
    releaseClaims,
    stranded: strandedAttempts,
    settleable,
    settle: settleAttempt,
    providerFailed,
    providerAnswered,
    recentOutcomes,
    stop: stopCampaign,
    note: noteInLog,
    completeDone,
  });
}

/** Adds contacts; existing rows are unchanged. At most a thousand at a time. */
async function addContacts(
  context: StoreContext,
  campaignId: string,
  contacts: readonly NewContact[],
): Promise<void> {
  if (contacts.length === 0) return;
  if (contacts.length > ADD_MAX) throw new RangeError(`at most ${ADD_MAX} contacts at a time`);
  const dueAt = await readTime(context);
  await context.db
    .insertInto('campaign_contacts')
    .values(
      contacts.map(({ rowNumber, phoneNumber, variables }) => ({
        campaign_id: campaignId,
        row_number: rowNumber,
        phone_number: phoneNumber,
        variables: jsonText(variables),
        due_at: dueAt,
      })),
    )
    .onConflict((conflict) => conflict.columns(['campaign_id', 'row_number']).doNothing())
    .execute();
}
