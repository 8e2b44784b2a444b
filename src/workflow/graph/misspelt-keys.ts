// Keys of an agent that nothing reads and that stand in the place of a known key: misspelt (`tool_uids`), in another
// spelling (`toolUuids`), or under another name (`url` for `endpoint_url`). They are kept (contract §5.3, §5.5);
// `validate` warns. A key that resembles nothing is a client's own.

import { z } from 'zod';
import {
  SERVICE_OVERRIDES,
  type WorkflowDefinition,
  type WorkflowNode,
  type WorkflowProblem,
  workflowConfigurations,
  workflowEdge,
  workflowNode,
} from '../../model/workflow.ts';
import { isObject } from '../../std/json.ts';
import { editsBetween, isNear } from '../../std/text/near-name.ts';
import { nodeTypeOf } from '../nodes/registry.ts';
import { edgeData } from './edge-data.ts';

/** Keys of an object and items of a list that are examined; an agent that is written by hand has fewer. */
const KEYS_MAX = 200;
const ITEMS_MAX = 200;
/** Levels of an object that are examined: settings of an agent have three. */
const DEPTH_MAX = 5;
/** Warnings of a list; a longer one does not help a reader. */
const WARNINGS_MAX = 100;
/** Letters of the shortest name that may be misspelt: of the names of services, such as `stt`. */
const SHORT_MIN = 3;

type Aliases = Readonly<Record<string, string>>;

export interface MisspeltKey {
  path: (string | number)[];
  /** The key that was meant; a dotted path if it belongs into another object. */
  meant: string;
}

/** Services of an agent or of a node. Their fields depend on the provider. */
const overrides = z.looseObject({
  llm: z.unknown(),
  stt: z.unknown(),
  tts: z.unknown(),
  is_realtime: z.unknown(),
  realtime: z.unknown(),
  embeddings: z.unknown(),
});

/** `workflow_configurations` with the keys that other schemas check. */
const configurations = workflowConfigurations.extend({
  model_overrides: overrides,
  [SERVICE_OVERRIDES[0]]: z.unknown(),
  voicemail_detection: z.looseObject({
    enabled: z.unknown(),
    long_speech_timeout: z.unknown(),
    listening_window_ms: z.unknown(),
    human_utterance_max_ms: z.unknown(),
    machine_utterance_cap_ms: z.unknown(),
    classify_budget_ms: z.unknown(),
    screening_wait_ms: z.unknown(),
    max_screening_rearms: z.unknown(),
    voicemail_action: z.unknown(),
    voicemail_message: z.unknown(),
    screening_message: z.unknown(),
    menu_action: z.unknown(),
    menu_steps: z.unknown(),
    hold_wait_ms: z.unknown(),
    system_prompt: z.unknown(),
    use_workflow_llm: z.unknown(),
    provider: z.unknown(),
    model: z.unknown(),
    api_key: z.unknown(),
  }),
});

/** Keys that a node's `data` may have beyond its type's own: those that clients of the reference write. */
const hiddenKeys = { is_start: z.unknown(), is_end: z.unknown(), mcp_tool_filters: z.unknown() };

/** Warnings about an agent: every key without effect that stands for a known one. */
export function misspeltKeyWarnings(
  { nodes, edges }: WorkflowDefinition,
  settings: Readonly<Record<string, unknown>>,
): WorkflowProblem[] {
  const inSettings = misspeltKeys(configurations, settings, CONFIGURATION_ALIASES);
  const ofWorkflow = inSettings.map(({ path, meant }) =>
    warning('workflow', null, { path: ['workflow_configurations', ...path], meant }),
  );
  const ofNodes = nodes.flatMap(({ data, ...node }) =>
    [
      ...misspeltKeys(workflowNode, { data: {}, ...node }),
      ...inData(misspeltDataKeys({ data, ...node })),
    ].map((found) => warning('node', node.id, found)),
  );
  const ofEdges = edges.flatMap(({ data, ...edge }) =>
    [...misspeltKeys(workflowEdge, { data: {}, ...edge }), ...inData(misspeltEdgeKeys(data))].map(
      (found) => warning('edge', edge.id, found),
    ),
  );
  return [...ofWorkflow, ...ofNodes, ...ofEdges].slice(0, WARNINGS_MAX);
}

function inData(found: readonly MisspeltKey[]): MisspeltKey[] {
  return found.map(({ path, meant }) => ({ path: ['data', ...path], meant }));
}

function warning(
  kind: WorkflowProblem['kind'],
  id: string | null,
  { path, meant }: MisspeltKey,
): WorkflowProblem {
  const message = `Unknown key ${path.at(-1)} has no effect: did you mean ${meant}?`;
  return { kind, id, field: path.join('.'), message };
}

/** The misspelt keys of a node's `data`; none for a node of an unknown type. */
export function misspeltDataKeys({ type: name, data }: WorkflowNode): MisspeltKey[] {
  const type = nodeTypeOf(name);
  if (type === undefined) return [];
  const known = type.data.extend(hiddenKeys);
  const hasServices = Object.hasOwn(known.shape, 'model_overrides');
  const schema = hasServices ? known.extend({ model_overrides: overrides }) : known;
  return misspeltKeys(schema, data, NODE_ALIASES[name]);
}

/** The misspelt keys of an edge's `data`. */
export function misspeltEdgeKeys(data: Readonly<Record<string, unknown>>): MisspeltKey[] {
  return misspeltKeys(edgeData, data, EDGE_ALIASES);
}

/** The misspelt keys of `data`, at any level that `schema` describes. `aliases`: other names of its own keys. */
function misspeltKeys(
  schema: z.core.$ZodType,
  data: unknown,
  aliases: Aliases = {},
  path: (string | number)[] = [],
): MisspeltKey[] {
  const inner = unwrapped(schema);
  if (path.length >= DEPTH_MAX) return [];
  if (inner instanceof z.ZodArray && Array.isArray(data)) {
    const items = data.slice(0, ITEMS_MAX);
    return items.flatMap((item, i) => misspeltKeys(inner.element, item, {}, [...path, i]));
  }
  if (!(inner instanceof z.ZodObject) || !isObject(data)) return [];
  const { shape } = inner;
  const members = Object.entries(data).slice(0, KEYS_MAX);
  return members.flatMap(([name, member]) => {
    const known = Object.hasOwn(shape, name) ? shape[name] : undefined;
    if (known !== undefined) return misspeltKeys(known, member, {}, [...path, name]);
    const meant = member === null ? undefined : meantBy(name, Object.keys(shape), aliases);
    const isFree = meant !== undefined && !isSet(data, meant);
    return isFree ? [{ path: [...path, name], meant }] : [];
  });
}

/** The known key for which `name` stands; undefined if it resembles none. */
function meantBy(name: string, known: readonly string[], aliases: Aliases): string | undefined {
  const plain = snakeCase(name);
  const targets = new Map([
    ...Object.entries(aliases),
    ...known.map((each): [string, string] => [each, each]),
  ]);
  const exact = targets.get(plain);
  if (exact !== undefined) return exact;
  const near = [...targets].filter(([each]) => isMisspelling(plain, each));
  const edits = ([each]: [string, string]): number => editsBetween(plain, each);
  return near.toSorted((a, b) => edits(a) - edits(b))[0]?.[1];
}

/** `toolUuids` and `tool-uuids` as `tool_uuids`. */
function snakeCase(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[-\s]+/g, '_')
    .toLowerCase();
}

function isMisspelling(name: string, known: string): boolean {
  if (isNear(name, known)) return true;
  const isShort = name.length >= SHORT_MIN && name.length === known.length;
  return isShort && editsBetween(name, known) === 1;
}

/** Whether `data` has a value at the dotted path. */
function isSet(data: Readonly<Record<string, unknown>>, path: string): boolean {
  let at: unknown = data;
  for (const key of path.split('.')) at = isObject(at) ? at[key] : undefined;
  const isBlank = typeof at === 'string' && at.trim() === '';
  return at !== undefined && at !== null && !isBlank;
}

function unwrapped(schema: z.core.$ZodType): z.core.$ZodType {
  let inner = schema;
  while (
    inner instanceof z.ZodOptional ||
    inner instanceof z.ZodNullable ||
    inner instanceof z.ZodDefault ||
    inner instanceof z.ZodPrefault
  ) {
    inner = inner.unwrap();
  }
  return inner;
}

/** Other names of a step's keys, as people and other products write them. Nothing reads a value under one of them. */
const stepAliases: Aliases = {
  system_prompt: 'prompt',
  instructions: 'prompt',
  tools: 'tool_uuids',
  tool_ids: 'tool_uuids',
  documents: 'document_uuids',
  document_ids: 'document_uuids',
  knowledge_base: 'document_uuids',
  interruptible: 'allow_interrupt',
  allow_interruptions: 'allow_interrupt',
  variables: 'extraction_variables',
  llm: 'model_overrides.llm',
  stt: 'model_overrides.stt',
  tts: 'model_overrides.tts',
};

/** Other names of a node's keys, by the name of the node type. */
const NODE_ALIASES: Readonly<Record<string, Aliases>> = {
  startCall: {
    ...stepAliases,
    greeting_message: 'greeting',
    greeting_text: 'greeting',
    first_message: 'greeting',
    initial_message: 'greeting',
    welcome_message: 'greeting',
    recording_id: 'greeting_recording_id',
  },
  agentNode: stepAliases,
  endCall: stepAliases,
  globalNode: { system_prompt: 'prompt', instructions: 'prompt' },
  trigger: { path: 'trigger_path' },
  webhook: {
    url: 'endpoint_url',
    uri: 'endpoint_url',
    endpoint: 'endpoint_url',
    webhook_url: 'endpoint_url',
    method: 'http_method',
    headers: 'custom_headers',
    body: 'payload_template',
    payload: 'payload_template',
    credential: 'credential_uuid',
    credential_id: 'credential_uuid',
  },
  qa: {
    enabled: 'qa_enabled',
    prompt: 'qa_system_prompt',
    system_prompt: 'qa_system_prompt',
    min_call_duration: 'qa_min_call_duration',
    voicemail_calls: 'qa_voicemail_calls',
    sample_rate: 'qa_sample_rate',
    use_workflow_llm: 'qa_use_workflow_llm',
    provider: 'qa_provider',
    model: 'qa_model',
    api_key: 'qa_api_key',
    endpoint: 'qa_endpoint',
  },
};

const EDGE_ALIASES: Aliases = {
  name: 'label',
  description: 'condition',
  speech: 'transition_speech',
};

const CONFIGURATION_ALIASES: Aliases = {
  max_duration: 'max_call_duration',
  call_duration: 'max_call_duration',
  max_call_duration_seconds: 'max_call_duration',
  idle_timeout: 'max_user_idle_timeout',
  user_idle_timeout: 'max_user_idle_timeout',
  language: 'agent_language',
  ambient_noise: 'ambient_noise_configuration',
  voicemail: 'voicemail_detection',
  transcript: 'transcript_configuration',
  keywords: 'dictionary',
  vocabulary: 'dictionary',
  llm: 'model_overrides.llm',
  stt: 'model_overrides.stt',
  tts: 'model_overrides.tts',
};
