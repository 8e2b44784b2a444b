// A node in which the call ends, once its closing words have been heard. Source: contract §5.3, §8.3.

import { z } from 'zod';
import { commonFields, extractionFields, requiredPrompt, scriptedFields } from './fields.ts';
import { type NodeType, UNCONSTRAINED } from './node-type.ts';

const data = z.object({
  ...commonFields,
  prompt: requiredPrompt('end'),
  add_global_prompt: z.boolean().default(true),
  ...extractionFields,
  say: scriptedFields.say,
});

export const endCall = {
  name: 'endCall',
  displayName: 'End Call',
  description: 'Says goodbye and ends the call.',
  category: 'call_node',
  icon: 'OctagonX',
  constraints: { ...UNCONSTRAINED, incomingMin: 1, outgoingMax: 0 },
  data,
} as const satisfies NodeType;
