// The contacts of campaigns, and the queue that campaigns dial from. The order of an attempt's life:
// claim (limits are taken, nothing is sent) -> begin (the run exists, the request may go out) -> placed ->
// settle (the run is completed). Whatever is killed when, a contact has at most one attempt that has not
// ended: a unique index holds that. A dial without a clear answer is in doubt until it is known whether a call
// was placed: if none was, the contact is put off and the attempt never was.

import type {
  AttemptOutcome,
  Campaign,
  CampaignCounts,
  CampaignLogEntry,
  ContactRetryReason,
} from '../../model/campaign.ts';
import type { Run } from '../../model/run.ts';
import type { NewRun } from '../runs/new-run.ts';

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

export interface ContactStore {
  /** Rows that are there already stay as they are. At most a thousand at a time. */
  add(campaignId: string, contacts: readonly NewContact[]): Promise<void>;
  /** Counted at this moment. */
  counts(campaignIds: readonly string[]): Promise<Map<string, CampaignCounts>>;

  /** Running campaigns of all organizations, longest without a call first. One statement. */
  running(horizonMs: number): Promise<RunningCampaign[]>;
  /** Attempts for contacts that are due, under all limits; none if another process claims just now.
   *  Retries first. */
  claim(campaignId: string, limits: ClaimLimits): Promise<ClaimedAttempt[]>;
  /** When the contact of a running campaign, of any organization, that has waited longest to be called
   *  again was due, or will be; undefined if none waits. */
  firstRetry(): Promise<Date | undefined>;
  /** Calls that the organization may still begin, those taken off that are claimed. */
  freeSlots(organizationId: string, limit: number): Promise<number>;
  /** The attempt's run, and the attempt `dialling`, in one step. Undefined if the claim has lapsed, the
   *  campaign no longer runs, or it has begun to wait for its provider. Throws CALL_LIMIT_REACHED. */
  begin(
    claim: Pick<ClaimedAttempt, 'attemptId' | 'providerFaults'>,
    run: NewRun,
    limit: number,
  ): Promise<Run | undefined>;
  /** The provider has the call. */
  placed(attemptId: string): Promise<void>;
  /** Nobody knows whether the provider has the call. */
  doubt(attemptId: string): Promise<void>;
  /** The provider's list does not have the call. The first time is kept. */
  missed(attemptId: string): Promise<void>;
  /** It is proved that no call was placed: the attempt never was, and the contact is due after `delayMs`.
   *  False if a call has turned up. */
  putOff(attemptId: string, delayMs: number): Promise<boolean>;
  /** Nothing was placed: the attempt never was, its run neither, and the contact is due after `delayMs`. */
  releaseAttempt(attemptId: string, delayMs: number): Promise<void>;
  /** Gives back claims that were not begun: those of `node` (at its start), and lapsed ones. Returns how
   *  many. */
  releaseClaims(node: string | undefined): Promise<number>;
  /** Attempts that `node` began, whose lease has lapsed and of whose call nothing is known, not even doubt. */
  stranded(node: string): Promise<string[]>;
  /** Attempts whose run is completed (or gone), and those in doubt of whose call nothing has come, oldest
   *  first, by pages: `after` is the last one of the page before. */
  settleable(after?: string): Promise<OpenAttempt[]>;
  /** Ends an attempt, once. False if it had ended. */
  settle(attemptId: string, settlement: Settlement): Promise<boolean>;

  /** The provider has failed a dial over the configuration. Returns how many it has failed in a row; at
   *  DIAL_FAULTS_MAX the campaign begins to wait. */
  providerFailed(configurationId: string, campaignId: string): Promise<number>;
  /** The provider has answered a dial: nobody waits for it any more. True if somebody did. */
  providerAnswered(configurationId: string): Promise<boolean>;

  /** Outcomes of the last `windowMs`, but none from before the breaker was reset last. */
  recentOutcomes(campaignId: string, windowMs: number): Promise<Map<AttemptOutcome, number>>;
  /** `running` to `paused` by the gateway itself, with the reason in the log. */
  stop(campaignId: string, entry: Omit<CampaignLogEntry, 'at'>): Promise<boolean>;
  /** Adds an entry to the log of a running campaign. */
  note(campaignId: string, entry: Omit<CampaignLogEntry, 'at'>): Promise<void>;
  /** `running` to `completed`, all campaigns of which every contact is done. Their ids. One statement. */
  completeDone(): Promise<string[]>;
}
