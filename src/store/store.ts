// The store as the rest of the gateway sees it: one repository per noun. Every read and write names the
// organization that owns the row; a foreign id is the same as no id (undefined).

import type { CallEvent } from '../model/call-event.ts';
import type { ProviderName } from '../model/provider.ts';
import type { Run } from '../model/run.ts';
import type { NewPhoneNumber, PhoneNumber, TelephonyConfiguration } from '../model/telephony.ts';
import type {
  Workflow,
  WorkflowDefinition,
  WorkflowStatus,
  WorkflowVersion,
} from '../model/workflow.ts';
import type { CampaignStore } from './campaign-store.ts';
import type { ClipStore } from './clip-store.ts';
import type { ContactStore } from './contact-store.ts';
import type { CredentialStore } from './credential-store.ts';
import type { AfterworkStore, DeliveryStore, SigningSecretStore } from './delivery-store.ts';
import type { FolderStore } from './folder-store.ts';
import type { LeaseStore } from './lease-store.ts';
import type { NewRun } from './new-run.ts';
import type { OrganizationStore } from './organizations.ts';
import type { ReportStore } from './report-store.ts';
import type { RunOwner } from './run-owners.ts';
import type { ActiveCall, EventCursor, FollowedRun, RunPage, RunScope } from './run-pages.ts';
import type { RunStartStore, StartedRun } from './run-start-store.ts';
import type { TextChatStore } from './text-chat-store.ts';
import type { ToolStore } from './tool-store.ts';
import type { TrunkStore } from './trunk-store.ts';
import type { UserStore } from './users.ts';

export interface ApiKey {
  id: string;
  organizationId: string;
  userId: string;
  name: string;
  /** First eight characters, for people to recognise it. */
  prefix: string;
  isActive: boolean;
  createdAt: Date;
  lastUsedAt: Date | null;
  archivedAt: Date | null;
}

/** Who makes a request. */
export interface Principal {
  organizationId: string;
  userId: string;
  /** Null for a user who has logged in. */
  apiKeyId: string | null;
}

export interface AccountStore {
  /** On an empty database: one organization, one user and one key, whose text is returned once. */
  ensureFirst(): Promise<{ apiKey: string } | undefined>;
  createApiKey(
    owner: { organizationId: string; userId: string },
    name: string,
  ): Promise<{ record: ApiKey; apiKey: string }>;
  /** Oldest first; of more than a thousand the newest. */
  listApiKeys(organizationId: string, includeArchived: boolean): Promise<ApiKey[]>;
  /** False if there is none of that id. */
  archiveApiKey(organizationId: string, id: string): Promise<boolean>;
  reactivateApiKey(organizationId: string, id: string): Promise<boolean>;
  /** Whose key this is; undefined for an unknown or archived one. Notes the time of use. */
  authenticate(apiKey: string): Promise<Principal | undefined>;
  concurrentCallLimit(organizationId: string): Promise<number>;
}

export interface ConfigurationSummary extends TelephonyConfiguration {
  activePhoneNumbers: number;
  enabledTrunks: number;
}

export interface TelephonyStore {
  /** Oldest first. */
  listConfigurations(organizationId: string): Promise<ConfigurationSummary[]>;
  getConfiguration(organizationId: string, id: string): Promise<ConfigurationSummary | undefined>;
  /** Throws CONFIGURATION_NAME_TAKEN. */
  createConfiguration(
    organizationId: string,
    input: {
      name: string;
      provider: ProviderName;
      isDefaultOutbound: boolean;
      credentials: Record<string, unknown>;
      /** The value by which inbound calls find this configuration; null if it has none. */
      accountId: string | null;
      /** Names of the credential fields to seal. */
      secretFields: readonly string[];
      /** 1..1000. Default null: no limit of its own. */
      callsPerSecond?: number | null;
    },
  ): Promise<ConfigurationSummary>;
  /** Throws CONFIGURATION_NAME_TAKEN, PHONE_NUMBER_ROUTED_ELSEWHERE. */
  updateConfiguration(
    organizationId: string,
    id: string,
    patch: {
      name?: string;
      credentials?: Record<string, unknown>;
      accountId?: string | null;
      secretFields?: readonly string[];
      callsPerSecond?: number | null;
    },
  ): Promise<ConfigurationSummary | undefined>;
  /** No call goes out over it until it is taken back into use. `reason` is shown, with since when it has
   *  been out of use. False if there is none of that id. */
  deactivate(organizationId: string, id: string, reason: string): Promise<boolean>;
  /** Takes it back into use. */
  reactivate(organizationId: string, id: string): Promise<ConfigurationSummary | undefined>;
  setDefaultOutbound(organizationId: string, id: string): Promise<ConfigurationSummary | undefined>;
  /** False if there is none of that id. Removes its numbers. Throws CONFIGURATION_IN_USE if a campaign
   *  names it. */
  deleteConfiguration(organizationId: string, id: string): Promise<boolean>;
  /** Across organizations: the active configuration and active number that an inbound call reaches. */
  findInbound(
    provider: ProviderName,
    accountId: string,
    addressNormalized: string,
  ): Promise<{ configuration: TelephonyConfiguration; number: PhoneNumber } | undefined>;

  listNumbers(configurationId: string): Promise<(PhoneNumber & { workflowName: string | null })[]>;
  getNumber(
    configurationId: string,
    id: string,
  ): Promise<(PhoneNumber & { workflowName: string | null }) | undefined>;
  /** Throws PHONE_NUMBER_TAKEN, PHONE_NUMBER_ROUTED_ELSEWHERE, WORKFLOW_NOT_FOUND, TRUNK_NOT_FOUND. */
  createNumber(
    organizationId: string,
    configurationId: string,
    input: NewPhoneNumber,
  ): Promise<PhoneNumber>;
  /** Throws WORKFLOW_NOT_FOUND, TRUNK_NOT_FOUND. */
  updateNumber(
    configurationId: string,
    id: string,
    patch: {
      label?: string | null;
      inboundWorkflowId?: string | null;
      trunkId?: string | null;
      isActive?: boolean;
      countryCode?: string | null;
      extraMetadata?: Record<string, unknown>;
    },
  ): Promise<PhoneNumber | undefined>;
  setDefaultCaller(configurationId: string, id: string): Promise<PhoneNumber | undefined>;
  deleteNumber(configurationId: string, id: string): Promise<boolean>;
}

export interface WorkflowContent {
  definition: WorkflowDefinition;
  configurations: Record<string, unknown>;
  templateContextVariables: Record<string, unknown>;
}

export interface WorkflowStore {
  /** Version 1, published. Throws WORKFLOW_CONFLICT if a trigger path is taken, FOLDER_NOT_FOUND. */
  create(
    owner: { organizationId: string; userId: string },
    input: {
      name: string;
      triggerPaths: readonly string[];
      /** Default: none. */
      folderId?: string | null;
    } & WorkflowContent,
  ): Promise<{ workflow: Workflow; version: WorkflowVersion }>;
  /** Oldest first; of more than five thousand the newest. */
  list(
    organizationId: string,
    statuses: readonly WorkflowStatus[],
  ): Promise<(Workflow & { totalRuns: number })[]>;
  count(organizationId: string): Promise<Record<WorkflowStatus, number>>;
  get(organizationId: string, id: string): Promise<Workflow | undefined>;
  findByUuid(uuid: string): Promise<Workflow | undefined>;
  /** The workflow that owns a trigger path, live or archived. */
  findTrigger(path: string): Promise<{ workflow: Workflow; isActive: boolean } | undefined>;
  rename(organizationId: string, id: string, name: string): Promise<Workflow | undefined>;
  setStatus(
    organizationId: string,
    id: string,
    status: WorkflowStatus,
  ): Promise<Workflow | undefined>;
  /** Null takes it out of its folder. Throws FOLDER_NOT_FOUND. */
  moveToFolder(
    organizationId: string,
    id: string,
    folderId: string | null,
  ): Promise<Workflow | undefined>;
  totalRuns(id: string): Promise<number>;
  /** Writes into the draft, made from the published version if there is none. */
  saveDraft(
    id: string,
    patch: Partial<WorkflowContent> & { triggerPaths?: readonly string[] },
  ): Promise<WorkflowVersion>;
  /** The draft, made if there is none. */
  createDraft(id: string): Promise<WorkflowVersion>;
  /** Throws WORKFLOW_NO_DRAFT. The former published version becomes archived. */
  publish(id: string): Promise<WorkflowVersion>;
  /** Newest first. */
  versions(id: string, page: { limit: number; offset: number }): Promise<WorkflowVersion[]>;
  published(id: string): Promise<WorkflowVersion | undefined>;
  /** The published version of a workflow that is active. */
  inService(organizationId: string, id: string): Promise<WorkflowVersion | undefined>;
  draft(id: string): Promise<WorkflowVersion | undefined>;
  version(id: string, definitionId: string): Promise<WorkflowVersion | undefined>;
  /** Paths among `paths` that another workflow owns. */
  takenTriggers(paths: readonly string[], exceptWorkflowId: string | null): Promise<string[]>;
  addDisposition(id: string, disposition: string): Promise<void>;
}

/** Contexts, logs and annotations are merged by top-level key; every other field replaces. */
export interface RunPatch {
  state?: Run['state'];
  providerCallId?: string;
  initialContext?: Record<string, unknown>;
  gatheredContext?: Record<string, unknown>;
  logs?: Record<string, unknown>;
  annotations?: Record<string, unknown>;
  usageInfo?: Record<string, unknown>;
  costInfo?: Record<string, unknown>;
  disposition?: string;
  durationS?: number;
  recordingKey?: string;
  transcriptKey?: string;
  startedAt?: Date;
  endedAt?: Date;
}

export interface RunStore {
  /** Throws CALL_LIMIT_REACHED if the organization already has `limit` runs that are not completed; the
   *  default is its own limit. A provider's call that has a run already gets that run, however many ask at
   *  once. */
  create(input: NewRun, limit?: number): Promise<StartedRun>;
  get(organizationId: string, id: string): Promise<Run | undefined>;
  /** For webhooks, which know no organization. */
  find(id: string): Promise<Run | undefined>;
  findByProviderCall(configurationId: string, callId: string): Promise<Run | undefined>;
  /** Logs come with runs that are not completed. */
  list(scope: RunScope, page: RunPage): Promise<{ runs: Run[]; total: number }>;
  /** A completed run keeps its state, disposition, duration and end. */
  patch(id: string, patch: RunPatch): Promise<Run | undefined>;
  /** Patches a run that is `initialized`. False, and nothing is changed, if there is none of that id. */
  patchInitialized(id: string, patch: RunPatch): Promise<boolean>;
  /** Appends one provider callback to `logs.telephony_status_callbacks`; false if `dedupeKey` was
   *  seen before. Atomic. */
  appendCallback(id: string, dedupeKey: string, entry: Record<string, unknown>): Promise<boolean>;
  /** The run's public token, which works for a month from now at most and for four weeks at least. */
  publicToken(id: string): Promise<string>;
  /** Those of many runs, by run. An id that is no run's is left out. */
  publicTokens(ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  findByToken(token: string): Promise<Run | undefined>;
  /** Runs that a process left open: not completed, and of a node that is dead or, in the next process of that
   *  name, lives on. They are this process's from then on. */
  openRuns(): Promise<Run[]>;
  /** Undefined if there is no such run. */
  owner(id: string): Promise<RunOwner | undefined>;
  /** A call that has no media yet is this node's from now on, whichever placed it. */
  adopt(id: string): Promise<void>;
  /** Calls that ring or talk, of all nodes, newest first. */
  activeCalls(
    organizationId: string,
    page: { limit: number; offset: number },
  ): Promise<{ calls: ActiveCall[]; total: number }>;
  /** Runs that have a call and are not completed, of all organizations and nodes. */
  countOpen(): Promise<number>;
  appendEvents(events: readonly CallEvent[]): Promise<void>;
  events(runId: string): Promise<CallEvent[]>;
  /** What lies behind each cursor, by run and in order; at most `limit` events of each run. */
  eventsAfter(cursors: readonly EventCursor[], limit: number): Promise<CallEvent[]>;
  /** The runs of `known`, those that have a call, and those that are newer than `afterId`; by age, at
   *  most two hundred of each. */
  toFollow(
    organizationId: string,
    which: { known: readonly string[]; afterId: string },
  ): Promise<FollowedRun[]>;
  /** `0` if the organization has none. */
  newestId(organizationId: string): Promise<string>;
}

/** Files of runs and of organizations. Keys look like `recordings/42.wav` or `campaigns/7/list.csv`; each
 *  is checked, no path leaves the folder. */
export interface FileStore {
  /** Opens a file that grows as the call goes. */
  create(key: string): Promise<FileWriter>;
  write(key: string, bytes: Uint8Array): Promise<void>;
  /** Under `key` once all of `source` is on the disk: whole, or not at all. Throws FILE_OVERSIZED beyond
   *  `bytesMax`, and what `source` throws. */
  receive(key: string, source: AsyncIterable<Uint8Array>, bytesMax: number): Promise<void>;
  stat(key: string): Promise<{ size: number; modifiedAt: Date } | undefined>;
  /** Both ends of `range` are read. Throws FILE_NOT_FOUND, as `readAll` does. */
  read(key: string, range?: { start: number; end: number }): Promise<NodeJS.ReadableStream>;
  readAll(key: string): Promise<Buffer>;
  remove(key: string): Promise<void>;
}

export interface FileWriter {
  /** Queues `bytes` (borrowed until the call returns) at the end. False if the disk does not keep up and
   *  there is no room: nothing was taken then. */
  append(bytes: Uint8Array): boolean;
  /** Leaves out so many bytes at the end: they are zeros. For what `append` did not take in time. */
  skip(bytes: number): void;
  /** Replaces bytes at `offset`, in order with the appends. False as with `append`. */
  patch(offset: number, bytes: Uint8Array): boolean;
  /** Of what was appended and skipped. */
  readonly size: number;
  /** Of these, bytes that are not in the file: zeros are in their place. */
  readonly lostBytes: number;
  /** The first error of the disk, once there is one. What comes after it may be written again. */
  readonly error: Error | undefined;
  /** Everything is on the disk then, with `head` over the file's first bytes. Throws the first error
   *  (STORE_FULL, RECORDING_FAILED). */
  close(head?: Uint8Array): Promise<void>;
}

export interface Store {
  readonly campaigns: CampaignStore;
  readonly contacts: ContactStore;
  readonly clips: ClipStore;
  readonly credentials: CredentialStore;
  readonly tools: ToolStore;
  readonly accounts: AccountStore;
  readonly organizations: OrganizationStore;
  readonly users: UserStore;
  readonly telephony: TelephonyStore;
  readonly leases: LeaseStore;
  readonly trunks: TrunkStore;
  readonly workflows: WorkflowStore;
  readonly folders: FolderStore;
  readonly runs: RunStore;
  readonly reports: ReportStore;
  readonly starts: RunStartStore;
  readonly textChats: TextChatStore;
  readonly afterworks: AfterworkStore;
  readonly deliveries: DeliveryStore;
  readonly signingSecrets: SigningSecretStore;
  /** False if the database does not answer within a second. */
  alive(): Promise<boolean>;
  close(): Promise<void>;
}
