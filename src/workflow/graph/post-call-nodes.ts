// Work after a call: the settings of an agent's webhook and review nodes, in the graph's order. Source: contract
// §5.3, §8.10.

import type { WorkflowDefinition, WorkflowNode } from '../../model/workflow.ts';
import type { NodeType, ReviewSettings, WebhookSettings } from '../nodes/node-type.ts';
import { nodeTypeOf } from '../nodes/registry.ts';

/** Nodes of each kind, far more than an agent has receivers or reviewers. */
const NODES_MAX = 20;

export type WebhookNodeSettings = WebhookSettings & { nodeId: string };
export type ReviewNodeSettings = ReviewSettings & { nodeId: string };

/** Settings of webhooks that are enabled and have an address. */
export function webhooksOf({ nodes }: WorkflowDefinition): WebhookNodeSettings[] {
  return settingsOf(nodes, (type, { data }) => type.webhook?.(data));
}

/** Settings of enabled reviews. */
export function reviewsOf({ nodes }: WorkflowDefinition): ReviewNodeSettings[] {
  return settingsOf(nodes, (type, { data }) => type.review?.(data));
}

/** Whether the agent has work after a call. */
export function hasPostCallNodes(definition: WorkflowDefinition): boolean {
  return webhooksOf(definition).length > 0 || reviewsOf(definition).length > 0;
}

function settingsOf<Settings>(
  nodes: readonly WorkflowNode[],
  read: (type: NodeType, node: WorkflowNode) => Settings | undefined,
): (Settings & { nodeId: string })[] {
  const found: (Settings & { nodeId: string })[] = [];
  for (const node of nodes) {
    const type = nodeTypeOf(node.type);
    const settings = type === undefined ? undefined : read(type, node);
    if (settings === undefined || found.length >= NODES_MAX) continue;
    found.push({ nodeId: node.id, ...settings });
  }
  return found;
}
