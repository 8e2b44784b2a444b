// Whether an agent asks for variables before its first word, and where. Source: contract §5.3, §8.1.

import type { Direction } from '../../model/provider.ts';
import type { WorkflowDefinition } from '../../model/workflow.ts';
import type { PreCallRequest } from '../nodes/node-type.ts';
import { nodeTypeOf } from '../nodes/registry.ts';

/** Undefined if nothing is to be asked for a call of that direction. Only the first node that could ask
 *  counts. */
export function preCallRequestOf(
  { nodes }: WorkflowDefinition,
  direction: Direction,
): PreCallRequest | undefined {
  const asking = nodes.find(({ type }) => nodeTypeOf(type)?.preCallRequest !== undefined);
  if (asking === undefined) return undefined;
  return nodeTypeOf(asking.type)?.preCallRequest?.(asking.data, direction);
}
