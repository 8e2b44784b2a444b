// A run: the stored record of one call. `runFields` is the list of its fields; the store, the API, the reports and the
// webhooks read it. How to add a field: CONTRIBUTING.md.

import type { Direction } from './provider.ts';

/** State of a run. It only moves forward; `completed` is final. */
export type RunState = 'initialized' | 'running' | 'completed';

/** A run's files, by their name in URLs. */
export const ARTIFACTS = ['recording', 'transcript', 'user_recording', 'bot_recording'] as const;
export type Artifact = (typeof ARTIFACTS)[number];

/** Types of the values, by the kind of the field. */
interface RunValues {
  id: string;
  text: string;
  number: number;
  time: Date;
  object: Record<string, unknown>;
  direction: Direction;
  state: RunState;
}

export interface RunFieldFacts {
  /** Column of the table `runs`. */
  column: string;
  kind: keyof RunValues;
  isNullable?: true;
  /** First value: given with the new run, or always the same. Default: the column's default, or null. */
  first?: 'given' | { value: unknown };
  /** How a patch changes it: `set` replaces, `merge` merges objects by their top-level keys, `settle` replaces until the
   *  run is completed, `rule` follows a rule of its own in `store/runs/runs.ts`. Default: never changed. */
  change?: 'set' | 'merge' | 'settle' | 'rule';
  /** The field in the API's run. Default: not in the API. */
  api?: {
    name: string;
    description?: string;
    /** Null in lists. */
    isDetail?: true;
    /** Declared nullable although it is never null, as on the reference platform. */
    isNullable?: true;
  };
}

/** The fields in the order of the API's run. */
export const runFields = {
  organizationId: { column: 'organization_id', kind: 'id', first: 'given' },
  id: { column: 'id', kind: 'id', api: { name: 'id' } },
  workflowId: { column: 'workflow_id', kind: 'id', first: 'given', api: { name: 'workflow_id' } },
  name: { column: 'name', kind: 'text', first: 'given', api: { name: 'name' } },
  /** Name of the provider of a phone call. */
  mode: {
    column: 'mode',
    kind: 'text',
    first: 'given',
    api: { name: 'mode', description: "The provider's name; `textchat` of a text chat." },
  },
  createdAt: { column: 'created_at', kind: 'time', api: { name: 'created_at' } },
  costInfo: {
    column: 'cost_info',
    kind: 'object',
    isNullable: true,
    change: 'set',
    api: {
      name: 'cost_info',
      description: "Seconds and tokens; with the operator's prices also the cost in US dollars.",
    },
  },
  usageInfo: {
    column: 'usage_info',
    kind: 'object',
    isNullable: true,
    change: 'set',
    api: {
      name: 'usage_info',
      description:
        'Use of services: tokens by model, characters of speech synthesis, seconds of recognition and of the call. Null in lists.',
      isDetail: true,
    },
  },
  definitionId: {
    column: 'definition_id',
    kind: 'id',
    first: 'given',
    api: {
      name: 'definition_id',
      description: 'The version of the agent that the run used.',
      isNullable: true,
    },
  },
  initialContext: {
    column: 'initial_context',
    kind: 'object',
    first: 'given',
    change: 'merge',
    api: {
      name: 'initial_context',
      description: "The start's variables, and what the gateway added, such as `called_number`.",
      isNullable: true,
    },
  },
  gatheredContext: {
    column: 'gathered_context',
    kind: 'object',
    first: 'given',
    change: 'merge',
    api: {
      name: 'gathered_context',
      description: 'What the call brought: extracted values, tags, nodes visited, end reason.',
      isNullable: true,
    },
  },
  callType: { column: 'call_type', kind: 'direction', first: 'given', api: { name: 'call_type' } },
  logs: {
    column: 'logs',
    kind: 'object',
    first: 'given',
    change: 'merge',
    api: {
      name: 'logs',
      description: "The call's events and the provider's callbacks. Null in lists.",
      isDetail: true,
    },
  },
  annotations: {
    column: 'annotations',
    kind: 'object',
    first: { value: {} },
    change: 'merge',
    api: {
      name: 'annotations',
      description: 'Results of reviews. Null in lists.',
      isDetail: true,
    },
  },
  state: {
    column: 'state',
    kind: 'state',
    first: { value: 'initialized' },
    change: 'rule',
    api: {
      name: 'state',
      description: '`running` once the call is answered and its media is accepted.',
    },
  },
  durationS: {
    column: 'duration_s',
    kind: 'number',
    isNullable: true,
    change: 'settle',
    api: {
      name: 'duration',
      description: 'Seconds from the answer to the end. Null before the end.',
    },
  },
  startedAt: {
    column: 'started_at',
    kind: 'time',
    isNullable: true,
    change: 'set',
    api: { name: 'started_at', description: 'When the conversation began.' },
  },
  endedAt: {
    column: 'ended_at',
    kind: 'time',
    isNullable: true,
    change: 'rule',
    api: { name: 'ended_at' },
  },
  /** Result of the call, in the contract's words; null while it runs. */
  disposition: {
    column: 'disposition',
    kind: 'text',
    isNullable: true,
    change: 'settle',
    api: { name: 'disposition', description: 'How the call ended, in a word or two.' },
  },
  /** Set for a call of a campaign. */
  campaignId: { column: 'campaign_id', kind: 'id', isNullable: true, first: 'given' },
  /** Telephony configuration of a phone call, which may be deleted. */
  configurationId: { column: 'configuration_id', kind: 'id', isNullable: true, first: 'given' },
  /** Call id of the provider, once known. */
  providerCallId: {
    column: 'provider_call_id',
    kind: 'text',
    isNullable: true,
    first: 'given',
    change: 'set',
  },
  /** Storage keys; null until there is a file. */
  recordingKey: { column: 'recording_key', kind: 'text', isNullable: true, change: 'set' },
  transcriptKey: { column: 'transcript_key', kind: 'text', isNullable: true, change: 'set' },
  publicAccessToken: { column: 'public_access_token', kind: 'text', isNullable: true },
} as const satisfies Record<string, RunFieldFacts>;

export type RunFields = typeof runFields;
export type RunField = keyof RunFields;

export type Run = {
  [Name in RunField]:
    | RunValues[RunFields[Name]['kind']]
    | (RunFields[Name] extends { isNullable: true } ? null : never);
};

/** Fields with those facts, such as `{ first: 'given' }`. */
export type RunFieldWith<Facts> = {
  [Name in RunField]: RunFields[Name] extends Facts ? Name : never;
}[RunField];

/** Changes of a run's fields. */
export type RunChanges = {
  -readonly [Name in RunFieldWith<{ change: string }>]?: NonNullable<Run[Name]>;
};

/** The fields by name, in the order of the list. */
export const runFieldNames = Object.keys(runFields) as RunField[]; // The list has no other keys.

/** Columns of a CSV report before those of the variables, by title, in their order. The phone number is that of the
 *  other side. */
export const reportColumns = {
  'Run ID': 'id',
  'Campaign ID': 'campaignId',
  'Agent ID': 'workflowId',
  'Agent Definition ID': 'definitionId',
  'Created At': 'createdAt',
  'Phone Number': 'phoneNumber',
  'Call Disposition': 'disposition',
  'Call Duration (s)': 'durationS',
} as const satisfies Record<string, RunField | 'phoneNumber'>;

/** Body of a webhook without a template, in its order. The agent's name and the numbers are no fields of the run. */
export const webhookBody = {
  workflow_run_id: 'id',
  workflow_run_name: 'name',
  workflow_id: 'workflowId',
  workflow_name: 'workflowName',
  campaign_id: 'campaignId',
  call_type: 'callType',
  caller_number: 'callerNumber',
  called_number: 'calledNumber',
  call_time: 'createdAt',
  started_at: 'startedAt',
  ended_at: 'endedAt',
  call_duration_seconds: 'durationS',
  call_disposition: 'disposition',
  gathered_context: 'gatheredContext',
} as const satisfies Record<string, RunField | 'workflowName' | 'callerNumber' | 'calledNumber'>;

/** Names that a webhook's template may use, besides the links of the files. */
export const webhookVariables = {
  workflow_run_id: 'id',
  workflow_run_name: 'name',
  workflow_id: 'workflowId',
  workflow_name: 'workflowName',
  campaign_id: 'campaignId',
  call_time: 'createdAt',
  initial_context: 'initialContext',
  gathered_context: 'gatheredContext',
  cost_info: 'usageInfo',
  annotations: 'annotations',
} as const satisfies Record<string, RunField | 'workflowName'>;
