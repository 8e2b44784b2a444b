// What a template is, and the strokes with which the definitions beside it are drawn.

import type { WorkflowDefinition, WorkflowEdge, WorkflowNode } from '../../model/workflow.ts';

/** An agent to begin from. Ids are digits and stay what they are; triggers have no path. */
export interface WorkflowTemplate {
  id: string;
  name: string;
  description: string;
  /** ISO 8601. */
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

/** `path` is `<source>-<target>`; where two edges join the same nodes, something more in the end. */
export function edge(
  path: string,
  label: string,
  data: Data & { condition: string },
): WorkflowEdge {
  const [source = '', target = ''] = path.split('-');
  return { id: path, source, target, data: { label, ...data } };
}
