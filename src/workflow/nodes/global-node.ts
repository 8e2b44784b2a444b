// A prompt that stands above the prompts of all nodes that want it. Source: contract §5.3, §8.2.

import { z } from 'zod';
import { commonFields, requiredPrompt } from './fields.ts';
import { type NodeType, UNCONSTRAINED } from './node-type.ts';

const data = z.object({ ...commonFields, prompt: requiredPrompt('global') });

export const globalNode = {
  name: 'globalNode',
  displayName: 'Global Node',
  description: 'Instructions that hold in every step of the call.',
  category: 'global_node',
  icon: 'Globe',
  constraints: { ...UNCONSTRAINED, incomingMax: 0, outgoingMax: 0, instancesMax: 1 },
  data,
} as const satisfies NodeType;
