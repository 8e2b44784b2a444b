// Types of a campaign's contacts and attempts. The life cycle of an attempt: claim (limits are taken, nothing is sent)
// -> begin (the run exists, the request may be sent) -> placed -> settle (the run is completed). After a kill at any
// step, a contact has at most one open attempt: a unique index enforces it. A dial without a clear answer is in doubt
// until it is known whether a call was placed: if not, the contact is postponed and the attempt is removed.

import type { AttemptOutcome, Campaign, ContactRetryReason } from '../../model/campaign.ts';
import type { Run } from '../../model/run.ts';

export interface NewContact {
  /** Line of the contact file, counted from 2. */
  rowNumber: number;
  /** Number in E.164 form. */
  phoneNumber: string;
  /** Columns of the row, for the call's initial context. */
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
  /** Number of the attempt, counted from 1. */
  number: number;
  retryReason: ContactRetryReason | null;
  /** Milliseconds from the claim to its turn at the campaign's call rate. */
  waitMs: number;
  /** Consecutive dials over its configuration that the provider has failed. From DIAL_FAULTS_MAX on the campaign
   *  waits, and this dial tests whether the provider answers again. */
  providerFaults: number;
}

/** A running campaign, for the dispatcher. */
export interface RunningCampaign {
  campaign: Campaign;
  /** Whether a contact is due, and the campaign's turn comes within the horizon. */
  isDue: boolean;
  /** Number of attempts that have not ended. */
  openAttempts: number;
}

export interface ClaimLimits {
  /** Largest number of claims. */
  count: number;
  /** Largest number of concurrent attempts of the campaign. */
  openMax: number;
  /** Calls per second of the campaign and of the configuration; null for no limit. */
  ratePerSecond: number;
  configuration: { id: string; callsPerSecond: number | null };
  /** Milliseconds from now within which turns are claimed. */
  horizonMs: number;
  /** Milliseconds within which the attempt must begin before the claim expires. */
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
  /** Whether the provider gave no clear answer to the dial, so that it was, or is, not known whether a call was
   *  placed. */
  isInDoubt: boolean;
  /** Milliseconds since the doubt began, or since the run was created. */
  unclearMs: number;
  /** Milliseconds since the provider's list was first read without the call; null if it was not. */
  missedMs: number | null;
  /** Number of the contact's dials since its last call that placed none, and the time since the first of them. */
  putOffs: number;
  putOffMs: number | null;
}

export interface Settlement {
  outcome: AttemptOutcome;
  /** The retry; null for none. */
  again: { delayMs: number; reason: ContactRetryReason } | null;
}
