// Contacts and the dial queue as the one repository that the other rooms see.

import type { StoreContext } from '../db/store-context.ts';
import { noteDoubt, noteMissed, putOff } from './attempt-doubts.ts';
import { settleAttempt, settleable, strandedAttempts } from './attempt-settlement.ts';
import type { ContactStore } from './contact-store.ts';
import { addContacts } from './contacts.ts';
import { CampaignCountsCache } from './counts-cache.ts';
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

export function contactStore(context: StoreContext): ContactStore {
  const counts = new CampaignCountsCache(context);
  return {
    add: (...from) => addContacts(context, ...from),
    counts: (ids) => counts.of(ids),
    running: (horizonMs) => runningCampaigns(context, horizonMs),
    claim: (...from) => claimContacts(context, ...from),
    firstRetry: () => firstRetry(context),
    freeSlots: (...from) => freeSlots(context, ...from),
    begin: (...from) => beginAttempt(context, ...from),
    placed: (id) => notePlaced(context, id),
    doubt: (id) => noteDoubt(context, id),
    missed: (id) => noteMissed(context, id),
    putOff: (...from) => putOff(context, ...from),
    releaseAttempt: (...from) => releaseAttempt(context, ...from),
    releaseClaims: (node) => releaseClaims(context, node),
    stranded: (node) => strandedAttempts(context, node),
    settleable: (after) => settleable(context, after),
    settle: (...from) => settleAttempt(context, ...from),
    providerFailed: (...from) => providerFailed(context, ...from),
    providerAnswered: (id) => providerAnswered(context, id),
    recentOutcomes: (...from) => recentOutcomes(context, ...from),
    stop: (...from) => stopCampaign(context, ...from),
    note: (...from) => noteInLog(context, ...from),
    completeDone: () => completeDone(context),
  };
}
