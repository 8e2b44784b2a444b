// Contacts and the dial queue as one repository. The life of an attempt: dial-attempts.ts.

import type { StoreContext } from '../db/store-context.ts';
import { withContext } from '../db/with-context.ts';
import { noteDoubt, noteMissed, putOff } from './attempt-doubts.ts';
import { settleAttempt, settleable, strandedAttempts } from './attempt-settlement.ts';
import { CampaignCountsCache } from './contact-counts.ts';
import { addContacts } from './contacts.ts';
import {
  beginAttempt,
  claimContacts,
  freeSlots,
  notePlaced,
  releaseAttempt,
  releaseClaims,
} from './dial-queue.ts';
import { providerAnswered, providerFailed } from './provider-faults.ts';
import {
  completeDone,
  firstRetry,
  noteInLog,
  recentOutcomes,
  runningCampaigns,
  stopCampaign,
} from './running-campaigns.ts';

export type ContactStore = ReturnType<typeof contactStore>;

export function contactStore(context: StoreContext) {
  const counts = new CampaignCountsCache(context);
  return withContext(context, {
    counts: (_context, ids: readonly string[]) => counts.of(ids),
    add: addContacts,
    running: runningCampaigns,
    claim: claimContacts,
    firstRetry,
    freeSlots,
    begin: beginAttempt,
    placed: notePlaced,
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
