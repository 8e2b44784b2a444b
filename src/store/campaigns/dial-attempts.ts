// The contacts of campaigns, and the queue that campaigns dial from. The order of an attempt's life:
// claim (limits are taken, nothing is sent) -> begin (the run exists, the request may go out) -> placed ->
// settle (the run is completed). Whatever is killed when, a contact has at most one attempt that has not
// ended: a unique index holds that. A dial without a clear answer is in doubt until it is known whether a call
// was placed: if none was, the contact is put off and the attempt never was.

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
  /** From the claim to its turn in the pace of calls. */
  waitMs: number;
  /** Dials over its configuration that the provider has failed in a row. From DIAL_FAULTS_MAX on the campaign
   *  waits, and this one tries whether the provider answers again. */
  providerFaults: number;
}

/** A running campaign as the dispatcher meets it. */
export interface RunningCampaign {
  campaign: Campaign;
  /** Somebody is to be called now, and the campaign's turn comes within the horizon. */
  isDue: boolean;
  /** Attempts that have not ended. */
  openAttempts: number;
}

export interface ClaimLimits {
  /** How many at most. */
  count: number;
  /** Attempts of the campaign that may be open at a time. */
  openMax: number;
  /** Calls per second of the campaign and of the configuration; null for no limit. */
  ratePerSecond: number;
  configuration: { id: string; callsPerSecond: number | null };
  /** Turns later than this are left for the next claim. */
  horizonMs: number;
  /** The claim lapses unless it is begun within this time. */
  leaseMs: number;
}

/** An attempt that has not ended, with its run if there is one. */
export interface OpenAttempt {
  id: string;
  campaignId: string;
  contactId: string;
  phoneNumber: string;
  number: number;
  /** Attempts of the contact that our own stops broke off. */
  interruptions: number;
  state: 'dialling' | 'placed';
  node: string;
  run: Run | undefined;
  /** Nobody knew, or knows, whether a call was placed: the provider gave no clear answer to the dial. */
  isInDoubt: boolean;
  /** How long ago that was, or its run was made. */
  unclearMs: number;
  /** How long ago the provider's list was first read without the call; null if it was not. */
  missedMs: number | null;
  /** Dials of the contact since its last call that placed none, and how long ago the first of them was put
   *  off. */
  putOffs: number;
  putOffMs: number | null;
}

export interface Settlement {
  outcome: AttemptOutcome;
  /** After how long the contact is called again; null: never. */
  again: { delayMs: number; reason: ContactRetryReason } | null;
}
