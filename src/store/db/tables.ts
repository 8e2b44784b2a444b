// Types of the tables, with which kysely checks our statements. migrations/*.sql creates them; the repositories' tests
// keep both equal. Ids are bigint: strings of digits here.

import type { ColumnType, Generated, GeneratedAlways, Selectable } from 'kysely';
import type { CallEventBody } from '../../model/call-event.ts';
import type { CredentialType } from '../../model/credential.ts';
import type { DeliveryState } from '../../model/delivery-state.ts';
import type { LineFaultCode } from '../../model/line-fault.ts';
import type { LineKind, LineStateName } from '../../model/line-watch.ts';
import type { OverflowPolicy } from '../../model/overflow.ts';
import type { ConfiguredProviderName } from '../../model/provider.ts';
import type { Run, RunField, RunFields } from '../../model/run.ts';
import type { AddressType } from '../../model/telephony.ts';
import type { ToolStatus } from '../../model/tool.ts';
import type { VersionStatus, WorkflowDefinition, WorkflowStatus } from '../../model/workflow.ts';
import type {
  CampaignAttemptTable,
  CampaignContactTable,
  CampaignTable,
} from './campaign-tables.ts';
import type { TextChatTable, TextChatTurnTable } from './text-chat-tables.ts';

/** JSON column, read as a value and written as text (column-values.ts). */
type JsonColumn<T> = ColumnType<T, string, string>;
type NullableJsonColumn<T> = ColumnType<T | null, string | null | undefined, string | null>;
export type Fields = Record<string, unknown>;

export interface OrganizationTable {
  id: Generated<string>;
  slug: string | null;
  name: string;
  concurrent_call_limit: number | null;
  test_phone_number: Generated<string | null>;
  timezone: Generated<string | null>;
  external_pbx_integrations_enabled: Generated<boolean>;
  created_at: Date;
}

export interface UserTable {
  id: Generated<string>;
  organization_id: string;
  name: string | null;
  email: Generated<string | null>;
  password_hash: Generated<string | null>;
  onboarding: ColumnType<Fields, string | undefined, string>;
  created_at: Date;
}

export interface ApiKeyTable {
  id: Generated<string>;
  organization_id: string;
  user_id: string;
  name: string;
  prefix: string;
  key_hash: Buffer;
  is_active: Generated<boolean>;
  created_at: Date;
  last_used_at: Date | null;
  archived_at: Date | null;
}

export interface TelephonyConfigurationTable {
  id: Generated<string>;
  organization_id: string;
  name: string;
  provider: ConfiguredProviderName;
  is_default_outbound: boolean;
  credentials: JsonColumn<Fields>;
  sealed_fields: string[];
  account_id: string | null;
  inactive_since: Date | null;
  inactive_reason: string | null;
  calls_per_second: number | null;
  overflow: NullableJsonColumn<OverflowPolicy>;
  dial_next_at: Generated<Date | null>;
  dial_faults: Generated<number>;
  probe_at: Generated<Date | null>;
  created_at: Date;
  updated_at: Date;
}

export interface ConfigurationLeaseTable {
  configuration_id: string;
  node: string | null;
  lease_until: Date;
  epoch: Generated<string>;
}

export interface PhoneNumberTable {
  id: Generated<string>;
  organization_id: string;
  configuration_id: string;
  provider: ConfiguredProviderName;
  account_id: string | null;
  address: string;
  address_normalized: string;
  address_type: AddressType;
  country_code: string | null;
  label: string | null;
  inbound_workflow_id: string | null;
  trunk_id: string | null;
  is_active: boolean;
  is_default_caller_id: boolean;
  extra_metadata: JsonColumn<Fields>;
  overflow: NullableJsonColumn<OverflowPolicy>;
  created_at: Date;
  updated_at: Date;
}

export interface TrunkTable {
  id: Generated<string>;
  configuration_id: string;
  name: string;
  enabled: boolean;
  settings: JsonColumn<Fields>;
  created_at: Date;
  updated_at: Date;
}

export interface WorkflowTable {
  id: Generated<string>;
  organization_id: string;
  user_id: string;
  uuid: string;
  name: string;
  status: WorkflowStatus;
  disposition_codes: Generated<string[]>;
  folder_id: Generated<string | null>;
  version_number_last: number;
  created_at: Date;
}

export interface WorkflowFolderTable {
  id: Generated<string>;
  organization_id: string;
  name: string;
  created_at: Date;
}

export interface WorkflowVersionTable {
  id: Generated<string>;
  workflow_id: string;
  version_number: number;
  status: VersionStatus;
  definition: JsonColumn<WorkflowDefinition>;
  configurations: JsonColumn<Fields>;
  template_context_variables: JsonColumn<Fields>;
  trigger_paths: string[];
  sealed_fields: Generated<string[]>;
  created_at: Date;
  published_at: Date | null;
}

export interface WorkflowTriggerTable {
  path: string;
  workflow_id: string;
  is_active: boolean;
}

export interface PlaceTable {
  id: GeneratedAlways<string>;
  name: string;
  node: string;
  until: Date;
}

export interface NodeTable {
  name: string;
  epoch: string | null;
  process_epoch: Generated<string | null>;
  started_at: Date;
  seen_at: Date;
  /** The condition of its gateway (model/gateway-condition.ts), in the row of the API process. */
  condition: Generated<unknown>;
  condition_at: Generated<Date | null>;
  dials_campaigns: Generated<boolean>;
  /** In the row of a gateway itself. */
  url: Generated<string | null>;
  version: Generated<string | null>;
}

/** The columns of the run's fields. */
type RunColumns = {
  [Name in RunField as RunFields[Name]['column']]: Name extends 'id'
    ? Generated<string>
    : RunFields[Name] extends { kind: 'object' }
      ? ColumnType<Run[Name], JsonText<Run[Name]>, JsonText<Run[Name]>>
      : Run[Name];
};

type JsonText<Value> = string | Extract<Value, null>;

export interface RunTable extends RunColumns {
  owner_node: string;
  owner_epoch: string | null;
  fenced_epochs: Generated<string[] | null>;
  adopted_epochs: Generated<string[] | null>;
  public_access_until: Generated<Date | null>;
  files_node: Generated<string | null>;
  is_idle: Generated<boolean>;
  has_afterwork: Generated<boolean>;
  caller_number: GeneratedAlways<string | null>;
  called_number: GeneratedAlways<string | null>;
  call_tags: GeneratedAlways<unknown>;
  tokens: GeneratedAlways<number | null>;
}

/** A run's fields as they are read. */
export type RunRow = Selectable<RunColumns>;

/** Counts of runs, which triggers write. */
export interface RunCountTable {
  organization_id: string;
  workflow_id: string;
  /** Campaign's id; `0` for runs without a campaign. */
  campaign_id: string;
  /** The day; `-infinity` for all days. */
  day: ColumnType<Date, string, string>;
  runs: string;
}

export interface StartKeyTable {
  organization_id: string;
  key: string;
  request_hash: string;
  run_id: string;
  created_at: Date;
  made_by: Generated<string | null>;
}

export interface RunEventTable {
  run_id: string;
  seq: number;
  at: string;
  media_ms: number;
  body: JsonColumn<CallEventBody>;
}

/** Summaries of runs that are over; `words` is read in conditions only. */
export interface RunSummaryTable {
  run_id: string;
  organization_id: string;
  created_at: Date;
  attention: string[] | null;
  faults: number;
  answer_p50_ms: number | null;
  answer_p95_ms: number | null;
  answer_max_ms: number | null;
  ended_by: string | null;
}

export interface RunCallbackTable {
  run_id: string;
  dedupe_key: string;
}

export interface AfterworkTable {
  run_id: string;
  organization_id: string;
  due_at: Date;
  since: Date;
  claims: Generated<number>;
  claimed_node: Generated<string | null>;
}

export interface DeliveryTable {
  id: Generated<string>;
  organization_id: string;
  workflow_id: string;
  run_id: string;
  node_id: string;
  node_name: string;
  method: string;
  url: string;
  headers: JsonColumn<[string, string][]>;
  credential_uuid: string | null;
  body: string | null;
  state: DeliveryState;
  attempts: Generated<number>;
  claims: Generated<number>;
  claimed_node: Generated<string | null>;
  due_at: Date | null;
  created_at: Date;
  attempted_at: Generated<Date | null>;
  finished_at: Generated<Date | null>;
  response_status: Generated<number | null>;
  response_excerpt: Generated<string | null>;
  error: Generated<string | null>;
}

export interface SigningSecretTable {
  organization_id: string;
  secret: string;
  prefix: string;
  created_at: Date;
  former: string | null;
  former_until: Date | null;
}

export interface ClipTable {
  id: Generated<string>;
  organization_id: string;
  workflow_id: string | null;
  user_id: string | null;
  name: string;
  transcript: string;
  storage_key: string;
  tts_provider: string | null;
  tts_model: string | null;
  tts_voice_id: string | null;
  metadata: JsonColumn<Fields>;
  is_active: Generated<boolean>;
  created_at: Date;
}

export interface CredentialTable {
  id: Generated<string>;
  organization_id: string;
  user_id: string | null;
  uuid: string;
  name: string;
  description: string | null;
  type: CredentialType;
  secret: string | null;
  created_at: Date;
  updated_at: Date | null;
  deleted_at: Generated<Date | null>;
}

export interface ToolTable {
  id: Generated<string>;
  organization_id: string;
  user_id: string | null;
  uuid: string;
  name: string;
  description: string | null;
  category: string;
  icon: string | null;
  icon_color: string | null;
  status: ToolStatus;
  definition: JsonColumn<Fields>;
  sealed_headers: string | null;
  created_at: Date;
  updated_at: Date | null;
}

export interface ModelConfigurationTable {
  id: Generated<string>;
  organization_id: string;
  user_id: string | null;
  sealed: string;
  revision: string;
  validated_at: Date | null;
  updated_at: Date;
}

export interface LogInAttemptTable {
  name: string;
  attempts: number;
  ends_at: Date;
}

export interface WebhookNonceTable {
  provider: string;
  nonce: string;
  content: string;
  seen_at: Date;
}

export interface InstallationTable {
  id: string;
}

export interface ServiceFaultTable {
  organization_id: string;
  job: 'llm' | 'tts' | 'stt';
  service: string;
  kind: string;
  detail: string;
  run_id: string;
  first_at: Date;
  last_at: Date;
}

export interface LineWatchTable {
  id: GeneratedAlways<string>;
  organization_id: string;
  configuration_id: string;
  name: string;
  kind: LineKind;
  number: string | null;
  context: string | null;
  is_enabled: boolean;
  interval_minutes: number;
  places: number | null;
  tests_keys: boolean;
  next_at: Date;
  state: Generated<LineStateName>;
  fault: Generated<LineFaultCode | null>;
  failures: Generated<number>;
  since: Generated<Date | null>;
  tested_at: Generated<Date | null>;
  tested_by: Generated<string | null>;
  message: Generated<string | null>;
  delay_ms: Generated<number | null>;
  loss_share: Generated<number | null>;
  codec: Generated<string | null>;
  created_at: Date;
  updated_at: Date;
}

export interface LineTestTable {
  id: GeneratedAlways<string>;
  line_id: string;
  at: Date;
  fault: LineFaultCode | null;
  message: string;
  delay_ms: number | null;
  loss_share: number | null;
  codec: string | null;
}

export interface Tables {
  organizations: OrganizationTable;
  users: UserTable;
  api_keys: ApiKeyTable;
  telephony_configurations: TelephonyConfigurationTable;
  configuration_leases: ConfigurationLeaseTable;
  phone_numbers: PhoneNumberTable;
  telephony_trunks: TrunkTable;
  line_watches: LineWatchTable;
  line_tests: LineTestTable;
  workflows: WorkflowTable;
  workflow_folders: WorkflowFolderTable;
  workflow_versions: WorkflowVersionTable;
  workflow_triggers: WorkflowTriggerTable;
  places: PlaceTable;
  nodes: NodeTable;
  runs: RunTable;
  run_counts: RunCountTable;
  start_keys: StartKeyTable;
  log_in_attempts: LogInAttemptTable;
  webhook_nonces: WebhookNonceTable;
  installations: InstallationTable;
  text_chats: TextChatTable;
  text_chat_turns: TextChatTurnTable;
  run_events: RunEventTable;
  run_callbacks: RunCallbackTable;
  run_summaries: RunSummaryTable;
  campaigns: CampaignTable;
  campaign_contacts: CampaignContactTable;
  campaign_attempts: CampaignAttemptTable;
  clips: ClipTable;
  afterworks: AfterworkTable;
  deliveries: DeliveryTable;
  signing_secrets: SigningSecretTable;
  credentials: CredentialTable;
  tools: ToolTable;
  model_configurations: ModelConfigurationTable;
  service_faults: ServiceFaultTable;
}
