// The node types by machine name, in the order of the catalogue.

import { agentNode } from './agent-node.ts';
import { endCall } from './end-call.ts';
import { globalNode } from './global-node.ts';
import type { NodeType } from './node-type.ts';
import { qa } from './qa.ts';
import { startCall } from './start-call.ts';
import { trigger } from './trigger.ts';
import { webhook } from './webhook.ts';

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
