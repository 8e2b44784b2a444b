// The pre-call request of an agent: whether variables are fetched before its first word, and from where. Source:
// contract §5.3, §8.1.

import type { Direction } from '../../model/provider.ts';
import type { WorkflowDefinition } from '../../model/workflow.ts';
import type { PreCallRequest } from '../nodes/node-type.ts';
import { nodeTypeOf } from '../nodes/registry.ts';

/** The request for a call of that direction; undefined without one. Only the first node with a pre-call request
 *  counts. */
export function preCallRequestOf(
  { nodes }: WorkflowDefinition,
  direction: Direction,
): PreCallRequest | undefined {
  const asking = nodes.find(({ type }) => nodeTypeOf(type)?.preCallRequest !== undefined);
  if (asking === undefined) return undefined;
  return nodeTypeOf(asking.type)?.preCallRequest?.(asking.data, direction);
}
