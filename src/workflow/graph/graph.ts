// The graph of a definition as the engine uses it: typed nodes with their edges, defaults filled in. Nodes outside
// the conversation (triggers, integrations) are omitted. Source: contract §5.3.

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import { nodeServicesIn } from '../../model/speech-services/node-services.ts';
import type { WorkflowDefinition, WorkflowNode } from '../../model/workflow.ts';
import { type ExtractionVariable, type SlotHint, stepFields } from '../nodes/fields.ts';
import type { NodeType, Opening } from '../nodes/node-type.ts';
import { nodeTypeOf } from '../nodes/registry.ts';
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
  /** Whether the agent says goodbye here and the call ends. */
  endsCall: boolean;
  name: string;
  prompt: string;
  /** Scripted speech; undefined if the node has none. */
  say: string | undefined;
  reprompt: string | undefined;
  slots: readonly SlotHint[];
  interruptible: boolean;
  addGlobalPrompt: boolean;
  /** Undefined if the node extracts nothing. */
  extraction: Extraction | undefined;
  edges: readonly GraphEdge[];
  toolUuids: readonly string[];
  /** Uuid of the agent to which the call is transferred here. Undefined: to none. */
  transferTo: string | undefined;
  /** Language of the node (BCP 47). Undefined: that of the agent. */
  language: string | undefined;
}

export interface Graph {
  start: GraphNode;
  opening: Opening;
  globalPrompt: string | undefined;
  nodes: ReadonlyMap<string, GraphNode>;
}

const AT_ONCE: Opening = { greeting: undefined, clip: undefined, delayMs: 0 };

/** Parses a definition. Throws WORKFLOW_INVALID if no call can run on it: no start node, or a step with invalid data.
 *  Edges to missing nodes are omitted. */
export function parseGraph(definition: WorkflowDefinition): Graph {
  const steps = definition.nodes.flatMap((node) => {
    const type = nodeTypeOf(node.type);
    return type?.step === undefined ? [] : [{ node, type }];
  });
  const ids = new Set(steps.map(({ node }) => node.id));
  const edges = definition.edges
    .filter(({ source, target }) => ids.has(source) && ids.has(target))
    .map((edge) => {
      const data = parsed(edgeData, withoutNulls(edge.data), `edge ${edge.id}`);
      return { ...data, id: edge.id, source: edge.source, target: edge.target };
    });
  const nodes = new Map(
    steps.map(({ node, type }) => [
      node.id,
      toStep(node, {
        type,
        edges: edges.filter(({ source }) => source === node.id),
      }),
    ]),
  );
  const starts = steps.filter(({ type }) => type.step === 'first');
  const [first] = starts;
  const start = nodes.get(first?.node.id ?? '');
  if (first === undefined || start === undefined || starts.length > 1)
    throw new GatewayError('WORKFLOW_INVALID', { problems: 'exactly one Start Call is needed' });
  const opening = first.type.opening?.(withoutNulls(first.node.data)) ?? AT_ONCE;
  return { start, opening, globalPrompt: globalPromptOf(definition), nodes };
}

function parsed<S extends z.ZodType>(schema: S, value: unknown, where: string): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const faults = result.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new GatewayError('WORKFLOW_INVALID', { problems: `${where}: ${faults.join('; ')}` });
}

function toStep(
  { id, data: stored }: WorkflowNode,
  { type, edges }: { type: NodeType; edges: GraphEdge[] },
): GraphNode {
  const { data } = parsed(
    z.object({ data: type.data }),
    { data: withoutNulls(stored) },
    `node ${id}`,
  );
  const own = stepFields.parse(data);
  const endsCall = type.step === 'last';
  return {
    id,
    endsCall,
    name: own.name,
    prompt: own.prompt,
    say: textOf(own.say),
    reprompt: textOf(own.reprompt),
    slots: own.slots ?? [],
    interruptible: own.allow_interrupt,
    addGlobalPrompt: own.add_global_prompt,
    extraction: extractionOf(own),
    edges: endsCall ? [] : edges,
    toolUuids: own.tool_uuids ?? [],
    transferTo: textOf(own.transfer_to_agent)?.trim(),
    language: nodeServicesIn(data)?.language,
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

function globalPromptOf({ nodes }: WorkflowDefinition): string | undefined {
  const node = nodes.find(({ type }) => nodeTypeOf(type)?.globalPrompt !== undefined);
  return node === undefined ? undefined : nodeTypeOf(node.type)?.globalPrompt?.(node.data);
}

function textOf(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === '' ? undefined : text;
}
