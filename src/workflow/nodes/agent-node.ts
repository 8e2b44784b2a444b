// A step of the conversation between the first and the last. Source: contract §5.3, §12.1.

import { z } from 'zod';
import {
  commonFields,
  extractionFields,
  requiredPrompt,
  scriptedFields,
  toolFields,
} from './fields.ts';
import { type NodeType, UNCONSTRAINED } from './node-type.ts';

const data = z.object({
  ...commonFields,
  prompt: requiredPrompt('agent'),
  allow_interrupt: z.boolean().default(false),
  add_global_prompt: z.boolean().default(true),
  ...extractionFields,
  ...toolFields,
  ...scriptedFields,
});

export const agentNode = {
  name: 'agentNode',
  displayName: 'Agent Node',
  description: 'One step of the conversation with a prompt of its own.',
  category: 'call_node',
  icon: 'Headset',
  constraints: { ...UNCONSTRAINED, incomingMin: 1 },
  data,
} as const satisfies NodeType;
