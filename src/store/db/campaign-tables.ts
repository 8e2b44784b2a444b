// Types of the tables of campaigns (migrations/006-campaigns.sql and later); the other tables are in tables.ts.

import type { ColumnType, Generated } from 'kysely';
import type {
  AttemptOutcome,
  BreakerSettings,
  CampaignLogEntry,
  CampaignState,
  ContactRetryReason,
  RetrySettings,
  ScheduleSettings,
  SourceSync,
} from '../../model/campaign.ts';

/** JSON column, read as a value and written as text (column-values.ts). */
type JsonColumn<T> = ColumnType<T, string, string>;
type Fields = Record<string, unknown>;

export interface CampaignTable {
  id: Generated<string>;
  organization_id: string;
  workflow_id: string;
  configuration_id: string | null;
  name: string;
  state: CampaignState;
  source_id: string;
  source_sync: SourceSync;
  source_synced_at: Generated<Date | null>;
  source_error: Generated<string | null>;
  sync_lease_until: Generated<Date | null>;
  sync_node: Generated<string | null>;
  sync_missed_node: Generated<string | null>;
  sync_missed_since: Generated<Date | null>;
  total_rows: Generated<number | null>;
  retry: JsonColumn<RetrySettings>;
  max_concurrency: number | null;
  schedule: ColumnType<ScheduleSettings | null, string | null, string | null>;
  breaker: ColumnType<BreakerSettings | null, string | null, string | null>;
  rate_per_second: number;
  parent_campaign_id: Generated<string | null>;
  /** `at` is stored as text. */
  logs: ColumnType<(Omit<CampaignLogEntry, 'at'> & { at: string })[], string | undefined, string>;
  created_at: Date;
  started_at: Generated<Date | null>;
  completed_at: Generated<Date | null>;
  dial_next_at: Generated<Date | null>;
  breaker_since: Generated<Date | null>;
  waits_for_configuration_id: Generated<string | null>;
  deleted_at: Generated<Date | null>;
}

export interface CampaignContactTable {
  id: Generated<string>;
  campaign_id: string;
  row_number: number;
  phone_number: string;
  variables: JsonColumn<Fields>;
  state: Generated<'fresh' | 'waiting' | 'calling' | 'reached' | 'failed'>;
  attempts: Generated<number>;
  interruptions: Generated<number>;
  due_at: Date;
  retry_reason: Generated<ContactRetryReason | null>;
  last_outcome: Generated<AttemptOutcome | null>;
  put_offs: Generated<number>;
  put_off_since: Generated<Date | null>;
  busy_retries: Generated<number>;
  no_answer_retries: Generated<number>;
  voicemail_retries: Generated<number>;
}

export interface CampaignAttemptTable {
  id: Generated<string>;
  campaign_id: string;
  contact_id: string;
  number: number;
  retry_reason: ContactRetryReason | null;
  state: 'claimed' | 'dialling' | 'placed' | 'ended';
  run_id: Generated<string | null>;
  node: string;
  lease_until: Date;
  dial_at: Date;
  outcome: Generated<AttemptOutcome | null>;
  ended_at: Generated<Date | null>;
  doubt_since: Generated<Date | null>;
  missed_at: Generated<Date | null>;
}
