// Every node type, in the order of the catalogue. To add one: write `<type>-node.ts` beside this file and add a
// row here; contract §5.3 lists the fields of each.

import { agentNode } from './agent-node.ts';
import { endCallNode } from './end-call-node.ts';
import { globalNode } from './global-node.ts';
import type { NodeType } from './node-type.ts';
import { qaNode } from './qa-node.ts';
import { startCallNode } from './start-call-node.ts';
import { triggerNode } from './trigger-node.ts';
import { webhookNode } from './webhook-node.ts';

export const nodeTypes: readonly NodeType[] = [
  agentNode,
  endCallNode,
  globalNode,
  qaNode,
  startCallNode,
  triggerNode,
  webhookNode,
];

const byName = new Map(nodeTypes.map((type) => [type.name, type]));

export function nodeTypeOf(name: string): NodeType | undefined {
  return byName.get(name);
}
