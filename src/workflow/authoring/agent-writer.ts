// Writes an agent from a plain description with the organization's language model: requests a definition, validates it
// as publishing would, and requests it once more with the list of faults. Source: contract §5.1 (`POST
// /workflow/create/template`).

import { codeOf, GatewayError } from '../../errors/gateway-error.ts';
import type { LlmMessage } from '../../model/llm-message.ts';
import type { NodeSpec, PropertySpec } from '../../model/node-spec.ts';
import { type WorkflowDefinition, workflowDefinition } from '../../model/workflow.ts';
import type { LanguageModel } from '../../speech/llm/llm.ts';
import type { Clock } from '../../std/clock.ts';
import { deadlineSignal } from '../../std/deadline.ts';
import { parseJson } from '../../std/json.ts';
import { catalogue, nodeSpecOf } from '../graph/node-catalogue.ts';
import { stripUnknownData } from '../graph/node-data.ts';
import { withoutTriggerPaths } from '../graph/trigger-path.ts';
import { validateDefinition } from '../graph/validate.ts';

const TRIES_MAX = 2;
/** Deadline of all tries together; a user waits for the result. */
const WRITE_MS_MAX = 120_000;
const TOKENS_MAX = 8_000;
/** Faults in the list of the second request. */
const FAULTS_MAX = 20;
/** Longest answer. A definition of a dozen steps has a tenth of this. */
const ANSWER_CHARACTERS_MAX = 200_000;
/** Distance between nodes if the model gave no positions. */
const COLUMN_PIXELS = 350;

export interface WorkflowDescription {
  callType: 'inbound' | 'outbound';
  useCase: string;
  activity: string;
}

/** The language model of an organization; undefined: its requests are refused. */
type ModelOf = (organizationId: string) => Promise<LanguageModel | undefined>;

export class WorkflowGenerator {
  readonly #modelOf: ModelOf;
  readonly #clock: Clock;

  constructor({ modelOf, clock }: { modelOf: ModelOf; clock: Clock }) {
    this.#modelOf = modelOf;
    this.#clock = clock;
  }

  /** Writes a valid definition. Throws AGENT_WRITER_UNAVAILABLE, AGENT_NOT_WRITTEN. */
  async generate(wish: WorkflowDescription, organizationId: string): Promise<WorkflowDefinition> {
    const model = await this.#modelOf(organizationId);
    if (model === undefined) throw new GatewayError('AGENT_WRITER_UNAVAILABLE');
    const deadline = deadlineSignal(this.#clock, WRITE_MS_MAX, 'writing an agent');
    try {
      return await written(model, wish, deadline.signal);
    } catch (error) {
      const code = codeOf(error);
      if (code === 'AGENT_NOT_WRITTEN' || code === undefined) throw error;
      throw new GatewayError('AGENT_NOT_WRITTEN', { reason: String(error) }, error);
    } finally {
      deadline.done();
    }
  }
}

async function written(
  model: LanguageModel,
  wish: WorkflowDescription,
  signal: AbortSignal,
): Promise<WorkflowDefinition> {
  const messages: LlmMessage[] = [
    { role: 'system', content: INSTRUCTIONS },
    { role: 'user', content: wordsOf(wish) },
  ];
  let faults: readonly string[] = [];
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const { text } = await model.respond(
      {
        messages,
        tools: [],
        temperature: undefined,
        tokensMax: TOKENS_MAX,
        json: true,
        totalMsMax: WRITE_MS_MAX,
      },
      { onText: () => undefined }, // The answer is parsed when it is complete.
      signal,
    );
    const read = readDefinition(text.slice(0, ANSWER_CHARACTERS_MAX));
    if ('definition' in read) return read.definition;
    faults = read.faults.slice(0, FAULTS_MAX);
    messages.push(
      { role: 'assistant', content: text.slice(0, ANSWER_CHARACTERS_MAX), toolCalls: [] },
      { role: 'user', content: `That is not valid:\n${faults.join('\n')}\nSend it whole again.` },
    );
  }
  throw new GatewayError('AGENT_NOT_WRITTEN', { reason: faults.join('; ') });
}

type Read = { definition: WorkflowDefinition } | { faults: string[] };

/** A definition that can be published, or its faults, from any text. */
export function readDefinition(text: string): Read {
  const from = text.indexOf('{');
  const parsed = workflowDefinition.safeParse(
    from < 0 ? undefined : parseJson(text.slice(from, text.lastIndexOf('}') + 1)),
  );
  if (!parsed.success) {
    const faults = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
    return { faults };
  }
  const definition = placed(withoutReferences(withoutTriggerPaths(stripUnknownData(parsed.data))));
  const problems = validateDefinition(definition, { full: true });
  if (problems.length === 0) return { definition };
  return {
    faults: problems.map(({ kind, id, field, message }) =>
      [`${kind} ${id ?? ''}`.trim(), field, message].filter((part) => part !== null).join(': '),
    ),
  };
}

/** The definition without references to tools, documents, recordings and credentials: the model does not know the
 *  organization's, so any reference is invented. */
function withoutReferences(definition: WorkflowDefinition): WorkflowDefinition {
  const nodes = definition.nodes.map((node) => {
    const references = nodeSpecOf(node.type)?.properties.filter(isReference) ?? [];
    const names = references.map(({ name }) => name);
    const own = Object.entries(node.data).filter(([key]) => !names.includes(key));
    return { ...node, data: Object.fromEntries(own) };
  });
  return { ...definition, nodes };
}

function isReference({ type }: PropertySpec): boolean {
  return /_refs?$/.test(type);
}

function placed(definition: WorkflowDefinition): WorkflowDefinition {
  const nodes = definition.nodes.map((node, index) => ({
    ...node,
    position: node.position ?? { x: index * COLUMN_PIXELS, y: 0 },
  }));
  return { ...definition, nodes };
}

function wordsOf({ callType, useCase, activity }: WorkflowDescription): string {
  const direction = callType === 'inbound' ? 'People call the agent.' : 'The agent calls people.';
  return `${direction}\nWhat it is for: ${useCase}\nWhat it shall do: ${activity}`;
}

/** Categories of the node types of a conversation. */
const WRITTEN: readonly NodeSpec['category'][] = ['call_node', 'global_node'];

function shapeOf({ name, type, required, description, options }: PropertySpec): string {
  const values = options === null ? type : options.map(({ value }) => value).join(' | ');
  return `  ${name}${required ? ' (required)' : ''}: ${values}. ${description}`;
}

const INSTRUCTIONS = [
  'You design agents that hold telephone calls. An agent is a graph: nodes are steps of the',
  'conversation, edges are the ways from one step to the next. Answer with one JSON object and nothing',
  'else: {"nodes": [{"id", "type", "position": {"x", "y"}, "data"}], "edges": [{"id", "source", "target",',
  '"data": {"label", "condition"}}]}. Ids are texts. `label` names a way in two or three words, no two',
  'alike at one node; `condition` says in a sentence when it is taken. One startCall, no edge into it;',
  'every other step can be reached; at least one endCall, no edge out of it. A globalNode stands alone.',
  'Prompts say in plain words what the agent does in that step and when it is done. Speech is short and',
  'free of lists. Let values that are asked for be extracted. Variables are written {{name}}, with a',
  'default {{name | default}}.',
  'The types and what their `data` may hold:',
  ...catalogue
    .filter(({ category }) => WRITTEN.includes(category))
    .map(({ name, description, properties }) =>
      [
        `${name}: ${description}`,
        ...properties.filter((each) => !isReference(each)).map(shapeOf),
      ].join('\n'),
    ),
].join('\n');
