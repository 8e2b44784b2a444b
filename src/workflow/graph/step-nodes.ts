// The stored nodes of a conversation's steps, for settings that are read before the graph is parsed.

import type { WorkflowDefinition, WorkflowNode } from '../../model/workflow.ts';
import { nodeTypeOf } from '../nodes/registry.ts';

export interface StepNodes {
  /** The node in which calls begin; undefined if there is none. */
  first: WorkflowNode | undefined;
  all: readonly WorkflowNode[];
}

export function stepNodesIn({ nodes }: WorkflowDefinition): StepNodes {
  const all = nodes.filter(({ type }) => nodeTypeOf(type)?.step !== undefined);
  return { first: all.find(({ type }) => nodeTypeOf(type)?.step === 'first'), all };
}
