// Normalises a node's or edge's `data` from a client: removes nulls before use, removes unknown keys before
// storage, replaces older keys. Source: contract §5.3 (updates strip unknown keys, creation does not).

import type { z } from 'zod';
import type { WorkflowDefinition, WorkflowNode } from '../../model/workflow.ts';
import { nodeTypeOf } from '../nodes/registry.ts';
import { edgeData } from './edge-data.ts';
import { misspeltDataKeys, misspeltEdgeKeys } from './misspelt-keys.ts';
import { PROMPT_MISSING } from './public-definition.ts';

type Data = Record<string, unknown>;

/** Keys that calls read and no catalogue has, so clients that edit by the catalogue never see them: if a client omits
 *  one, the stored value stays. */
const UNSEEN: readonly string[] = ['mcp_tool_filters'];

/** The data without null, which clients send for "not set"; the schemas only have absence. */
export function withoutNulls(data: Data): Data {
  return Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null));
}

/** The definition without keys of `data` that the node type or the edge schema does not have, which editors add.
 *  Misspelt keys stay: `validate` names them. Nodes of unknown type keep theirs. No default is added. */
export function stripUnknownData(definition: WorkflowDefinition): WorkflowDefinition {
  return {
    ...definition,
    nodes: definition.nodes.map((node) => {
      const type = nodeTypeOf(node.type);
      if (type === undefined) return node;
      const more = [...UNSEEN, ...misspeltDataKeys(node).map(({ path }) => path[0])];
      return { ...node, data: knownKeys(node.data, type.data, more) };
    }),
    edges: definition.edges.map((edge) => {
      const more = misspeltEdgeKeys(edge.data).map(({ path }) => path[0]);
      return { ...edge, data: knownKeys(edge.data, edgeData, more) };
    }),
  };
}

function knownKeys(data: Data, schema: z.ZodObject, more: readonly unknown[]): Data {
  return Object.fromEntries(
    Object.entries(data).filter(([key]) => Object.hasOwn(schema.shape, key) || more.includes(key)),
  );
}

/** `sent` with the keys of `stored` that its sender could not see, node by node of the same id and type. */
export function keepUnseen(
  sent: WorkflowDefinition,
  stored: WorkflowDefinition | undefined,
): WorkflowDefinition {
  const before = new Map(stored?.nodes.map((node) => [node.id, node]));
  const nodes = sent.nodes.map((node) => {
    const former = before.get(node.id);
    if (former === undefined || former.type !== node.type) return node;
    const unseen = Object.entries(former.data).filter(([key]) => UNSEEN.includes(key));
    return unseen.length === 0
      ? node
      : { ...node, data: { ...Object.fromEntries(unseen), ...node.data } };
  });
  return { ...sent, nodes };
}

/** The client's data in the stored form: without the placeholder of a missing prompt, and with older keys replaced. */
export function storedForm(definition: WorkflowDefinition): WorkflowDefinition {
  return { ...definition, nodes: definition.nodes.map(storedNode) };
}

function storedNode(node: WorkflowNode): WorkflowNode {
  const { prompt, ...unprompted } = node.data;
  const data = prompt === PROMPT_MISSING ? unprompted : node.data;
  const stored = nodeTypeOf(node.type)?.storedForm?.(data) ?? data;
  return stored === node.data ? node : { ...node, data: stored };
}
