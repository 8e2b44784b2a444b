// The interface of a template, and functions that build definitions.

import type { WorkflowDefinition, WorkflowEdge, WorkflowNode } from '../../model/workflow.ts';

/** An agent as a starting point. Ids are digits and do not change; triggers have no path. */
export interface WorkflowTemplate {
  id: string;
  name: string;
  description: string;
  /** Time in ISO 8601 form. */
  createdAt: string;
  definition: WorkflowDefinition;
}

type Data = Record<string, unknown>;

export function step(
  id: string,
  type: string,
  { at: [x, y], ...data }: Data & { at: readonly [x: number, y: number] },
): WorkflowNode {
  return { id, type, position: { x, y }, data };
}

/** An edge. `path` is `<source>-<target>`, with a suffix where two edges join the same nodes. */
export function edge(
  path: string,
  label: string,
  data: Data & { condition: string },
): WorkflowEdge {
  const [source = '', target = ''] = path.split('-');
  return { id: path, source, target, data: { label, ...data } };
}
