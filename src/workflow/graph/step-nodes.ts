// The steps of a definition's conversation, as stored: for settings that are read before the graph is.

import type { WorkflowDefinition, WorkflowNode } from '../../model/workflow.ts';
import { nodeTypeOf } from '../nodes/registry.ts';

export interface StepNodes {
  /** Where calls begin. Undefined: nowhere. */
  first: WorkflowNode | undefined;
  all: readonly WorkflowNode[];
}

export function stepNodesIn({ nodes }: WorkflowDefinition): StepNodes {
  const all = nodes.filter(({ type }) => nodeTypeOf(type)?.step !== undefined);
  return { first: all.find(({ type }) => nodeTypeOf(type)?.step === 'first'), all };
}
