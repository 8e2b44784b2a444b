// The contacts of campaigns, and the queue from which campaigns dial. The life of an attempt: claim (limits are
// taken, nothing is sent) -> begin (the run exists, the request may go out) -> placed -> settle (the run is
// completed). After a kill at any step, a contact has at most one attempt that has not ended: a unique index
// enforces it. A dial without a clear answer is in doubt until it is known whether a call was placed: if not, the
// contact is postponed and the attempt is removed.

import type { AttemptOutcome, Campaign, ContactRetryReason } from '../../model/campaign.ts';
import type { Run } from '../../model/run.ts';

export interface NewContact {
  /** Line of the contact file, from 2. */
  rowNumber: number;
  /** E.164. */
  phoneNumber: string;
  /** The row's columns, for the call's initial context. */
  variables: Record<string, unknown>;
}

/** An attempt to call a contact, not sent yet. */
export interface ClaimedAttempt {
  attemptId: string;
  contactId: string;
  campaignId: string;
  rowNumber: number;
  phoneNumber: string;
  variables: Record<string, unknown>;
  /** From 1. */
  number: number;
  retryReason: ContactRetryReason | null;
  /** From the claim to its turn at the campaign's call rate. */
  waitMs: number;
  /** Consecutive dials over its configuration that the provider has failed. From DIAL_FAULTS_MAX on the campaign
   *  waits, and this dial tests whether the provider answers again. */
  providerFaults: number;
}

/** A running campaign for the dispatcher. */
export interface RunningCampaign {
  campaign: Campaign;
  /** A contact is due, and the campaign's turn comes within the horizon. */
  isDue: boolean;
  /** Attempts that have not ended. */
  openAttempts: number;
}

export interface ClaimLimits {
  /** Largest number of claims. */
  count: number;
  /** Concurrent attempts of the campaign. */
  openMax: number;
  /** Calls per second of the campaign and of the configuration; null for no limit. */
  ratePerSecond: number;
  configuration: { id: string; callsPerSecond: number | null };
  /** Later turns are left for the next claim. */
  horizonMs: number;
  /** The claim expires unless the attempt begins within this time. */
  leaseMs: number;
}

/** An attempt that has not ended, with its run if there is one. */
export interface OpenAttempt {
  id: string;
  campaignId: string;
  contactId: string;
  phoneNumber: string;
  number: number;
  /** Attempts of the contact that our own stops interrupted. */
  interruptions: number;
  state: 'dialling' | 'placed';
  node: string;
  run: Run | undefined;
  /** It was, or is, not known whether a call was placed: the provider gave no clear answer to the dial. */
  isInDoubt: boolean;
  /** Milliseconds since then, or since the run was created. */
  unclearMs: number;
  /** Milliseconds since the provider's list was first read without the call; null if it was not. */
  missedMs: number | null;
  /** Dials of the contact since its last call that placed none, and the time since the first of them. */
  putOffs: number;
  putOffMs: number | null;
}

export interface Settlement {
  outcome: AttemptOutcome;
  /** Delay of the retry; null: none. */
  again: { delayMs: number; reason: ContactRetryReason } | null;
}
