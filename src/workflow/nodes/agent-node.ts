// A step of the conversation between the first and the last. Source: contract §5.3, §12.1.

import { z } from 'zod';
import {
  agentTransferFacts,
  extractionFacts,
  globalPromptFacts,
  interruptFacts,
  nameFacts,
  promptFacts,
  scriptedFacts,
  serviceFacts,
  toolFacts,
} from './field-facts.ts';
import {
  agentTransferFields,
  commonFields,
  extractionFields,
  interruptible,
  requiredPrompt,
  scriptedFields,
  serviceFields,
  toolFields,
  withGlobalPrompt,
} from './fields.ts';
import { type FactsFor, type NodeType, UNCONSTRAINED } from './node-type.ts';

const data = z.object({
  ...commonFields,
  prompt: requiredPrompt(
    'agent',
    'What the agent shall do in this step, and when it is done. May name {{variables}}.',
  ),
  allow_interrupt: interruptible,
  add_global_prompt: withGlobalPrompt,
  ...extractionFields,
  ...toolFields,
  ...scriptedFields,
  ...agentTransferFields,
  ...serviceFields,
});

export const agentNode = {
  name: 'agentNode',
  displayName: 'Agent Node',
  description: 'One step of the conversation with a prompt of its own.',
  hint:
    'Give each step one task. The edges that lead out of it are the ways on: the model takes one by its ' +
    'label when its condition holds, so the prompt need not name them.',
  category: 'call_node',
  icon: 'Headset',
  step: 'between',
  templates: ['prompt', 'say', 'reprompt'],
  constraints: { ...UNCONSTRAINED, incomingMin: 1 },
  data,
  properties: {
    ...nameFacts('Agent'),
    prompt: promptFacts,
    allow_interrupt: { ...interruptFacts, default: true },
    add_global_prompt: globalPromptFacts,
    ...extractionFacts,
    ...toolFacts,
    ...scriptedFacts,
    ...agentTransferFacts,
    ...serviceFacts,
  },
  examples: [
    {
      name: 'Ask for a day',
      description: 'One question, and the answer kept for later steps.',
      data: {
        name: 'Choose the day',
        prompt:
          'Ask on which working day the caller would like to come. Repeat the day back once you have it.',
        allow_interrupt: true,
        extraction_enabled: true,
        extraction_variables: [
          { name: 'weekday', type: 'string', prompt: 'The day of the week, in lower case' },
        ],
      },
    },
  ],
} as const satisfies NodeType & { properties: FactsFor<typeof data> };
