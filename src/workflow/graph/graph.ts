// A definition as the engine walks it: typed nodes with their edges, defaults filled in. Nodes that take
// no part in the conversation (triggers, integrations) are left out. Source: contract §5.3.

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { ClipRef } from '../../model/clip.ts';
import type { WorkflowDefinition, WorkflowNode } from '../../model/workflow.ts';
import { agentNode } from '../nodes/agent-node.ts';
import { endCallNode } from '../nodes/end-call-node.ts';
import type { ExtractionVariable, SlotHint } from '../nodes/fields.ts';
import { globalNode } from '../nodes/global-node.ts';
import { startCallNode } from '../nodes/start-call-node.ts';
import { type EdgeData, edgeData } from './edge-data.ts';
import { withoutNulls } from './node-data.ts';

export interface GraphEdge extends EdgeData {
  id: string;
  source: string;
  target: string;
}

export interface Extraction {
  prompt: string;
  variables: readonly ExtractionVariable[];
}

/** A step of the conversation. */
export interface GraphNode {
  id: string;
  type: 'startCall' | 'agentNode' | 'endCall';
  name: string;
  prompt: string;
  /** Scripted speech; undefined if the node has none. */
  say: string | undefined;
  reprompt: string | undefined;
  slots: readonly SlotHint[];
  interruptible: boolean;
  addGlobalPrompt: boolean;
  /** Undefined if nothing is extracted here. */
  extraction: Extraction | undefined;
  edges: readonly GraphEdge[];
  toolUuids: readonly string[];
}

export interface Graph {
  start: GraphNode;
  opening: {
    /** A template; undefined if the agent has no fixed greeting. */
    greeting: string | undefined;
    /** Played in place of the greeting. */
    clip: ClipRef | undefined;
    /** 0 for a call that begins at once. */
    delayMs: number;
  };
  globalPrompt: string | undefined;
  nodes: ReadonlyMap<string, GraphNode>;
}

const stepNode = z.discriminatedUnion('type', [
  z.object({ type: z.literal(startCallNode.name), data: startCallNode.data }),
  z.object({ type: z.literal(agentNode.name), data: agentNode.data }),
  z.object({ type: z.literal(endCallNode.name), data: endCallNode.data }),
]);
const STEP_TYPES: readonly string[] = [startCallNode.name, agentNode.name, endCallNode.name];

/** Throws WORKFLOW_INVALID if no call can run on it: no start node, or a step with wrong data. Edges
 *  that lead nowhere are left out. */
export function parseGraph(definition: WorkflowDefinition): Graph {
  const steps = definition.nodes.filter(({ type }) => STEP_TYPES.includes(type));
  const ids = new Set(steps.map(({ id }) => id));
  const edges = definition.edges
    .filter(({ source, target }) => ids.has(source) && ids.has(target))
    .map((edge) => {
      const data = parsed(edgeData, withoutNulls(edge.data), `edge ${edge.id}`);
      return { ...data, id: edge.id, source: edge.source, target: edge.target };
    });
  const nodes = new Map(
    steps.map((node) => [
      node.id,
      toStep(
        node,
        edges.filter(({ source }) => source === node.id),
      ),
    ]),
  );
  const starts = [...nodes.values()].filter(({ type }) => type === startCallNode.name);
  const [start] = starts;
  if (start === undefined || starts.length > 1)
    throw new GatewayError('WORKFLOW_INVALID', { problems: 'exactly one Start Call is needed' });
  return { start, opening: openingOf(definition), globalPrompt: globalPromptOf(definition), nodes };
}

function parsed<S extends z.ZodType>(schema: S, value: unknown, where: string): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const faults = result.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new GatewayError('WORKFLOW_INVALID', { problems: `${where}: ${faults.join('; ')}` });
}

function toStep(node: WorkflowNode, edges: GraphEdge[]): GraphNode {
  const step = parsed(
    stepNode,
    { type: node.type, data: withoutNulls(node.data) },
    `node ${node.id}`,
  );
  const { type, data } = step;
  const { name, prompt, add_global_prompt: addGlobalPrompt } = data;
  const asks = step.type === endCallNode.name ? undefined : step.data;
  return {
    id: node.id,
    type,
    name,
    prompt,
    say: textOf(data.say),
    reprompt: textOf(asks?.reprompt),
    slots: asks?.slots ?? [],
    interruptible: asks?.allow_interrupt ?? false,
    addGlobalPrompt,
    extraction: extractionOf(data),
    edges: type === endCallNode.name ? [] : edges,
    toolUuids: asks?.tool_uuids ?? [],
  };
}

function extractionOf(data: {
  extraction_enabled: boolean;
  extraction_prompt?: string | undefined;
  extraction_variables?: ExtractionVariable[] | undefined;
}): Extraction | undefined {
  const variables = data.extraction_variables ?? [];
  if (!data.extraction_enabled || variables.length === 0) return undefined;
  return { prompt: data.extraction_prompt ?? '', variables };
}

function openingOf({ nodes }: WorkflowDefinition): Graph['opening'] {
  const node = nodes.find(({ type }) => type === startCallNode.name);
  const data = parsed(startCallNode.data, withoutNulls(node?.data ?? {}), 'start node');
  return {
    greeting: textOf(data.greeting),
    clip:
      data.greeting_type === 'audio' && textOf(data.greeting_recording_id) !== undefined
        ? { by: 'id', value: data.greeting_recording_id ?? '' }
        : undefined,
    delayMs: data.delayed_start ? data.delayed_start_duration * 1_000 : 0,
  };
}

function globalPromptOf({ nodes }: WorkflowDefinition): string | undefined {
  const node = nodes.find(({ type }) => type === globalNode.name);
  const prompt = node?.data['prompt'];
  return typeof prompt === 'string' ? textOf(prompt) : undefined;
}

function textOf(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === '' ? undefined : text;
}
