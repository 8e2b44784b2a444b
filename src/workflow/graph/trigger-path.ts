// Trigger paths of a definition: reads them and creates missing ones. The store checks that a path is unique across
// organizations. Source: contract §2, §5.1, §5.2.

import type { WorkflowDefinition, WorkflowNode } from '../../model/workflow.ts';
import type { Random } from '../../std/random.ts';
import { nodeTypeOf } from '../nodes/registry.ts';

/** The path of a trigger node; undefined for other nodes and for a trigger without one. */
export function triggerPathOf(node: WorkflowNode): string | undefined {
  if (!isTrigger(node)) return undefined;
  const path = node.data['trigger_path'];
  return typeof path === 'string' && path !== '' ? path : undefined;
}

/** All paths in the definition without repetition, in order. */
export function triggerPathsOf(definition: WorkflowDefinition): string[] {
  const paths = definition.nodes.map(triggerPathOf).filter((path) => path !== undefined);
  return [...new Set(paths)];
}

/** Whether the path starts calls, as its trigger may be disabled. Undefined if no trigger of the definition has the
 *  path. */
export function isTriggerEnabled(
  definition: WorkflowDefinition,
  path: string,
): boolean | undefined {
  const node = definition.nodes.find((each) => triggerPathOf(each) === path);
  return node === undefined ? undefined : node.data['enabled'] !== false;
}

/** The definition without trigger paths, for a copy of the agent. */
export function withoutTriggerPaths(definition: WorkflowDefinition): WorkflowDefinition {
  const nodes = definition.nodes.map((node) => {
    if (!isTrigger(node)) return node;
    const { trigger_path: _path, ...data } = node.data;
    return { ...node, data };
  });
  return { ...definition, nodes };
}

/** The definition with a new path for each trigger without one. The rest is unchanged. */
export function mintTriggerPaths(
  definition: WorkflowDefinition,
  random: Random,
): WorkflowDefinition {
  const nodes = definition.nodes.map((node) => {
    const own = node.data['trigger_path'] ?? '';
    if (!isTrigger(node) || own !== '') return node;
    return { ...node, data: { ...node.data, trigger_path: random.uuid() } };
  });
  return { ...definition, nodes };
}

function isTrigger({ type }: WorkflowNode): boolean {
  return nodeTypeOf(type)?.hasTriggerPath === true;
}
