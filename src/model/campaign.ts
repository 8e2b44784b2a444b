// Campaigns: one agent that calls a list of contacts, with its settings. Source: specification §2.6 and §3, contract
// §9.1, §9.2 and §9.7.

import { z } from 'zod';

/** States: `created -> syncing -> running <-> paused -> completed | failed`, and `cancelled` from any of the first
 *  four; the last three are final. */
export const campaignState = z.enum([
  'created',
  'syncing',
  'running',
  'paused',
  'completed',
  'failed',
  'cancelled',
]);
export type CampaignState = z.infer<typeof campaignState>;

export const ENDED_STATES: readonly CampaignState[] = ['completed', 'failed', 'cancelled'];

/** Why a started campaign places no call at present. `contact_file`: it is being read. `telephony`: the configuration
 *  is inactive. `provider`: it fails all dials. `schedule`: outside the hours. `retry`: the next contact is due later.
 *  `calls_under_way`: no other contact is left. `call_limit`: the campaign's own limit. `organization_limit`: the
 *  organization's limit. */
export const campaignWaitReason = z.enum([
  'contact_file',
  'telephony',
  'provider',
  'schedule',
  'retry',
  'calls_under_way',
  'call_limit',
  'organization_limit',
]);

export interface CampaignWait {
  reason: z.infer<typeof campaignWaitReason>;
  /** Text for users. */
  message: string;
  /** Time when the wait ends; null if that is not known. */
  until: Date | null;
}

/** Outcomes of an attempt after which a contact may be called again. */
export const retryReason = z.enum(['busy', 'no_answer', 'voicemail']);
export type RetryReason = z.infer<typeof retryReason>;

/** Reasons for a retry, including the gateway's own: it stopped before anyone answered. */
export type ContactRetryReason = RetryReason | 'interrupted';

/** Result of an attempt. `unknown`: it is not known whether a call was placed. `not_placed`: no call was placed,
 *  and the attempt was postponed as often as allowed. `interrupted`: the gateway stopped before anyone answered.
 *  `error`: the call failed. */
export type AttemptOutcome =
  | 'answered'
  | 'voicemail'
  | 'busy'
  | 'no_answer'
  | 'failed'
  | 'canceled'
  | 'error'
  | 'unknown'
  | 'not_placed'
  | 'interrupted';

/** Outcomes that say nothing about the contact: a redial of unreached contacts includes them. */
export const UNHEARD: readonly AttemptOutcome[] = ['unknown', 'not_placed', 'interrupted'];

/** Consecutive failed dials after which a provider counts as down; fewer may be chance. */
export const DIAL_FAULTS_MAX = 5;
/** Pause between two test dials to a provider that is down. */
export const PROBE_MS = 15_000;

export const retrySettings = z.object({
  enabled: z.boolean(),
  /** Attempts after the first, 0 to 10. */
  maxRetries: z.int(),
  /** Pause before a retry in seconds, 30 to 3600. */
  delayS: z.int(),
  onBusy: z.boolean(),
  onNoAnswer: z.boolean(),
  onVoicemail: z.boolean(),
});
export type RetrySettings = z.infer<typeof retrySettings>;

/** Default for campaigns without this setting. */
export const RETRY_DEFAULT: RetrySettings = {
  enabled: true,
  maxRetries: 1,
  delayS: 120,
  onBusy: true,
  onNoAnswer: true,
  onVoicemail: false,
};

export const scheduleSettings = z.object({
  enabled: z.boolean(),
  /** IANA name of the time zone. */
  timezone: z.string(),
  /** Times when calls may be placed, in that zone. An end before the start means the next day; the end is exclusive. */
  slots: z.array(
    z.object({
      /** Day of the week; 0 is Monday. */
      dayOfWeek: z.int(),
      /** Start: `00:00` to `23:59`. */
      start: z.string(),
      /** End: `00:01` to `24:00`. */
      end: z.string(),
    }),
  ),
});
export type ScheduleSettings = z.infer<typeof scheduleSettings>;

export const breakerSettings = z.object({
  enabled: z.boolean(),
  /** Share of failures at which calls stop, 0 to 1. */
  failureThreshold: z.number(),
  /** Length of the window in seconds, 30 to 600. */
  windowS: z.int(),
  /** Fewest calls in the window, 1 to 100. */
  minCalls: z.int(),
});
export type BreakerSettings = z.infer<typeof breakerSettings>;

/** Default for campaigns without this setting. */
export const BREAKER_DEFAULT: BreakerSettings = {
  enabled: true,
  failureThreshold: 0.5,
  windowS: 120,
  minCalls: 5,
};

/** Calls per second of a campaign without this setting. */
export const RATE_PER_SECOND_DEFAULT = 1;

export interface CampaignSettings {
  retry: RetrySettings;
  /** Largest number of concurrent calls; null: the organization's limit. */
  maxConcurrency: number | null;
  /** Null: calls may be placed at any time. */
  schedule: ScheduleSettings | null;
  /** Null: the default applies. */
  breaker: BreakerSettings | null;
  ratePerSecond: number;
}

export interface CampaignLogEntry {
  at: Date;
  level: 'info' | 'warning' | 'error';
  /** Name for programs, such as `source_sync_failed`. */
  event: string;
  /** Text for users. */
  message: string;
  details: Record<string, unknown> | null;
}

export type SourceSync = 'pending' | 'in_progress' | 'completed' | 'failed';

export interface Campaign extends CampaignSettings {
  id: string;
  organizationId: string;
  name: string;
  workflowId: string;
  workflowName: string;
  state: CampaignState;
  sourceType: 'csv';
  /** Storage key of the contact file. */
  sourceId: string;
  sourceSync: SourceSync;
  sourceSyncedAt: Date | null;
  sourceError: string | null;
  /** Number of rows; null until the file is read. */
  totalRows: number | null;
  /** Telephony configuration; null: the organization's default at the time of each call. */
  configurationId: string | null;
  configurationName: string | null;
  /** The campaign whose unreached contacts this one calls. */
  parentCampaignId: string | null;
  /** Configuration whose provider fails all dials, while the campaign waits for it. */
  waitsForConfigurationId: string | null;
  /** The campaign that redials this one's unreached contacts. */
  redialedCampaignId: string | null;
  /** Log entries, the newest last; the oldest are dropped. */
  logs: CampaignLogEntry[];
  createdAt: Date;
  startedAt: Date | null;
  completedAt: Date | null;
}

/** Progress of a campaign, counted from its contacts and their attempts at this moment. */
export interface CampaignCounts {
  contacts: number;
  /** Contacts that were called at least once. */
  attempted: number;
  /** Contacts that were reached. */
  reached: number;
  /** Contacts whose last attempt failed and that are not called again. */
  failed: number;
  /** Attempts whose call is in progress. */
  inFlight: number;
  /** Attempts that are over. */
  executed: number;
  /** Attempts of every kind: due, in progress and over. */
  attempts: number;
  /** Attempts after the first of their contact. */
  retries: number;
  /** Retries that are still due. */
  retriesPending: number;
  /** Retries by their reason. */
  retriesBy: Readonly<Record<RetryReason, number>>;
}
