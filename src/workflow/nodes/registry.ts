// The node types by machine name, in the order of the catalogue.

import { agentNode } from './agent-node.ts';
import { endCall } from './end-call-node.ts';
import { globalNode } from './global-node.ts';
import type { NodeType } from './node-type.ts';
import { qa } from './qa-node.ts';
import { startCall } from './start-call-node.ts';
import { trigger } from './trigger-node.ts';
import { webhook } from './webhook-node.ts';

export const nodeTypes: readonly NodeType[] = [
  agentNode,
  endCall,
  globalNode,
  qa,
  startCall,
  trigger,
  webhook,
];

const byName = new Map(nodeTypes.map((type) => [type.name, type]));

export function nodeTypeOf(name: string): NodeType | undefined {
  return byName.get(name);
}
