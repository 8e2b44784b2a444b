// The stored shape of an agent: the graph as clients send it, and its settings. Source: contract §5.3 and §5.5.
// workflow/nodes defines the content of each node's `data`; here a node is only an id, a type and an object, so that
// drafts may be incomplete.

import { z } from 'zod';

const position = z.looseObject({
  x: z.number().describe('To the right, in pixels of the editor.'),
  y: z.number().describe('Downwards, in pixels of the editor.'),
});

export const workflowNode = z.looseObject({
  id: z.string().describe('A text of your own that no other node has; edges name it.'),
  type: z.string().describe('A node type, as `listNodeTypes` names it, such as `startCall`.'),
  position: position.optional().describe('Where an editor shows the node. Calls ignore it.'),
  data: z
    .record(z.string(), z.unknown())
    .default({})
    .describe(
      'Fields of the node by its type: `listNodeTypes` describes each with its default. Unknown ones are not kept.',
    ),
});
export type WorkflowNode = z.infer<typeof workflowNode>;

export const workflowEdge = z.looseObject({
  id: z.string().describe('A text of your own that no other edge has.'),
  source: z.string().describe('The `id` of the node that the conversation leaves.'),
  target: z.string().describe('The `id` of the node that it goes on with.'),
  data: z
    .record(z.string(), z.unknown())
    .default({})
    .describe(
      '`label` (at most 64 characters, the name of the function that the model calls) and `condition` (when to go this way); calls need both. `transition_speech`: said on the way.',
    ),
});
export type WorkflowEdge = z.infer<typeof workflowEdge>;

export const workflowDefinition = z.looseObject({
  nodes: z
    .array(workflowNode)
    .max(500)
    .default([])
    .describe('Steps of the conversation, and what goes with it. Calls need one `startCall`.'),
  edges: z.array(workflowEdge).max(2_000).default([]).describe('Ways from one step to the next.'),
});
export type WorkflowDefinition = z.infer<typeof workflowDefinition>;

/** One problem of a workflow. Wire shape of the contract (§5.3). */
export const workflowProblem = z.object({
  kind: z.enum(['node', 'edge', 'workflow']).describe('What has the problem.'),
  id: z.string().nullable().describe('Id of the node or edge. Null: the workflow as a whole.'),
  field: z.string().nullable().describe('Dotted path in the node or edge, such as `data.prompt`.'),
  message: z.string().describe('What is wrong.'),
});
export type WorkflowProblem = z.infer<typeof workflowProblem>;

/** A field of a lead, as the external PBX names it. */
const FIELD_NAME = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;

/** Longest call, a day: no provider allows longer ones. */
const CALL_S_MAX = 86_400;

/** `workflow_configurations`: known keys with their defaults; unknown keys are kept. */
export const workflowConfigurations = z.looseObject({
  max_call_duration: z
    .int()
    .gt(0)
    .max(CALL_S_MAX)
    .default(300)
    .describe(
      "Seconds after which a call is ended in any case; the provider's own maximum applies too.",
    ),
  call_ending_warning_seconds: z
    .int()
    .min(0)
    .max(600)
    .default(30)
    .describe(
      'Seconds before that end at which the agent announces it; 0: it does not. Calls of at most four times this length end without an announcement.',
    ),
  call_ending_warning_text: z
    .string()
    .max(1_000)
    .default('')
    .describe('The announcement, with template variables. Empty: a line of the gateway.'),
  max_user_idle_timeout: z
    .number()
    .min(1)
    .max(600)
    .default(10)
    .describe('Seconds of silence before the agent asks whether the caller is there.'),
  filler_delay_seconds: z
    .union([z.literal(0), z.number().min(0.5).max(10)])
    .default(2)
    .describe(
      'Seconds that the caller waits in silence before the agent says that it needs a moment: 0.5 to 10; 0: it does not.',
    ),
  filler_phrases: z
    .array(z.string().trim().min(1).max(200))
    .max(10)
    .default([])
    .describe(
      'Lines for that, used in turn, with template variables. Empty: lines of the gateway in `agent_language`.',
    ),
  waiting_tone_enabled: z
    .boolean()
    .default(true)
    .describe('Whether a soft tone sounds while the caller continues to wait.'),
  fault_transfer_enabled: z
    .boolean()
    .default(true)
    .describe(
      'Whether a caller whose agent fails repeatedly (model, tools, voice, recognition) is connected with a person.',
    ),
  fault_transfer_destination: z
    .string()
    .trim()
    .max(500)
    .default('')
    .describe(
      'Destination for that: a telephone number or SIP address, with template variables. Empty: the destination of a transfer tool of the agent, those of the current step first; without one the call ends with an apology.',
    ),
  agent_language: z
    .string()
    .regex(/^[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*$/)
    .default('en')
    .describe(
      "Language (BCP 47) of the gateway's own lines, such as apologies; English if it has none in this language. Also that of callers if neither node nor recogniser has one.",
    ),
  turn_start_strategy: z
    .enum(['default', 'min_words', 'provisional_vad'])
    .default('default')
    .describe(
      'What interrupts the agent. `default`: words or sustained voice. `min_words`: words alone, at least `turn_start_min_words`. `provisional_vad`: any voice pauses the agent, words stop it.',
    ),
  turn_start_min_words: z
    .int()
    .min(1)
    .max(20)
    .default(3)
    .describe('With `min_words`: words that interrupt the agent.'),
  provisional_vad_pause_secs: z
    .number()
    .min(0.1)
    .max(10)
    .default(1.5)
    .describe('With `provisional_vad`: seconds without words after which the agent goes on.'),
  turn_stop_strategy: z
    .enum(['transcription', 'turn_analyzer'])
    .default('transcription')
    .describe('Stored, and has no effect in this version.'),
  smart_turn_stop_secs: z
    .number()
    .min(0.1)
    .max(10)
    .default(2)
    .describe('Seconds. Stored, and has no effect in this version.'),
  user_turn_stop_timeout: z
    .number()
    .min(0.5)
    .max(30)
    .default(5)
    .describe(
      "Seconds after the caller's last new word until the turn ends without the recogniser's decision.",
    ),
  dictionary: z
    .string()
    .default('')
    .describe(
      'Words that the recogniser should expect, with commas between them; the first 100 are used.',
    ),
  context_compaction_enabled: z
    .boolean()
    .default(false)
    .describe('Stored, and has no effect in this version.'),
  ambient_noise_configuration: z
    .looseObject({
      enabled: z.boolean().default(false).describe('Whether there is any.'),
      volume: z.number().min(0).default(0.3).describe('Its loudness: 1 is that of the file.'),
      storage_key: z
        .string()
        .max(300)
        .nullish()
        .describe('A file from `createAmbientNoiseUpload`. Left out: the built-in noise.'),
    })
    .prefault({})
    .describe("Background noise under the agent's voice."),
  text_chat_inactivity_timeout_seconds: z
    .int()
    .min(60)
    .max(10_500)
    .default(1_800)
    .describe('Seconds without a message after which a text chat ends.'),
  external_pbx_field_mappings: z
    .array(
      z.object({
        context_path: z
          .string()
          .min(1)
          .max(255)
          .describe("Dotted path of a value in the call's context."),
        destination_field: z
          .string()
          .regex(FIELD_NAME)
          .describe('Field of the lead that gets the value.'),
      }),
    )
    .max(100)
    .default([])
    .describe(
      "Fields of an external dialler's lead that get the call's values. Stored, but not used.",
    ),
  external_pbx_lead_headers: z
    .array(z.string().regex(FIELD_NAME))
    .max(50)
    .default([])
    .describe('Fields of the lead that come as SIP headers. Stored, but not used.'),
  transcript_configuration: z
    .looseObject({
      include_end_timestamps: z
        .boolean()
        .default(false)
        .describe('Whether a line has the time at which it ends too.'),
    })
    .prefault({})
    .describe('Form of the transcript.'),
});
export type WorkflowConfigurations = z.infer<typeof workflowConfigurations>;

const SECRET_NAME = /(^|_)(api_key|secret|password|token)$/;

/** Whether a text with that name, anywhere in a definition or in settings, is a secret: sealed in the store and masked
 *  in responses. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

/** Longest call of an agent with these settings, in seconds; a value out of range counts as not set. */
export function callSecondsIn({ max_call_duration: stored }: Record<string, unknown>): number {
  const { max_call_duration: setting } = workflowConfigurations.shape;
  return setting.safeParse(stored ?? undefined).data ?? setting.parse(undefined);
}

/** Keys of `workflow_configurations` with speech services of the workflow's own: a whole model configuration, and the
 *  older form, which changes fields of the organization's. */
export const SERVICE_OVERRIDES = ['model_configuration_v2_override', 'model_overrides'] as const;

/** Key of a node's `data` with services of the node's own. */
export const NODE_OVERRIDES = 'model_overrides';

export type WorkflowStatus = 'active' | 'archived';
export type VersionStatus = 'draft' | 'published' | 'archived';

/** A workflow's row. Ids are strings of digits. */
export interface Workflow {
  id: string;
  organizationId: string;
  uuid: string;
  name: string;
  status: WorkflowStatus;
  dispositionCodes: string[];
  /** Folder of the workflow; null for none. */
  folderId: string | null;
  createdAt: Date;
}

/** A workflow as lists show it. */
export interface ListedWorkflow extends Workflow {
  totalRuns: number;
  /** Number of the version that calls use; null if none is published. */
  publishedVersion: number | null;
  hasDraft: boolean;
}

/** A folder for an organization's agents. */
export interface WorkflowFolder {
  id: string;
  name: string;
  createdAt: Date;
}

/** One numbered version of a workflow's content. */
export interface WorkflowVersion {
  id: string;
  workflowId: string;
  versionNumber: number;
  status: VersionStatus;
  definition: WorkflowDefinition;
  configurations: Record<string, unknown>;
  templateContextVariables: Record<string, unknown>;
  createdAt: Date;
  publishedAt: Date | null;
}

/** The component that decides the agent's words. */
export type DialoguePolicy = 'model' | 'scripted';
