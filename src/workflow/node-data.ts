// A node's or edge's `data` against its schema: parsed for use, or with unknown keys taken out for
// storage. Source: contract §5.3 (updates strip unknown keys, creation does not).

import type { z } from 'zod';
import type { WorkflowDefinition } from '../model/workflow.ts';
import { edgeData } from './edge-data.ts';
import { nodeTypeOf } from './nodes/registry.ts';

/** Clients send null for "not set"; the schemas know only absence. */
export function withoutNulls(data: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null));
}

/** The definition without keys of `data` that the node type or the edge schema does not know. Nodes
 *  of unknown type keep theirs. No default is added. */
export function stripUnknownData(definition: WorkflowDefinition): WorkflowDefinition {
  return {
    ...definition,
    nodes: definition.nodes.map((node) => {
      const type = nodeTypeOf(node.type);
      return type === undefined ? node : { ...node, data: knownKeys(node.data, type.data) };
    }),
    edges: definition.edges.map((edge) => ({ ...edge, data: knownKeys(edge.data, edgeData) })),
  };
}

function knownKeys(data: Record<string, unknown>, schema: z.ZodObject): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(data).filter(([key]) => Object.hasOwn(schema.shape, key)),
  );
}
