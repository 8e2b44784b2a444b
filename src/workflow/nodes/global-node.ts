// The global prompt: it precedes the prompts of all nodes that include it. Source: contract §5.3, §8.2.

import { z } from 'zod';
import { nameFacts, promptFacts } from './field-facts.ts';
import { commonFields, requiredPrompt } from './fields.ts';
import { type FactsFor, type NodeType, UNCONSTRAINED } from './node-type.ts';

const data = z.object({
  ...commonFields,
  prompt: requiredPrompt('global', 'What holds in every step: who the agent is and how it speaks.'),
});

export const globalNode = {
  name: 'globalNode',
  displayName: 'Global Node',
  description: 'Instructions that hold in every step of the call.',
  hint: 'At most one, joined to nothing. Tasks belong into the steps, not here.',
  category: 'global_node',
  icon: 'Globe',
  templates: ['prompt'],
  globalPrompt: ({ prompt }) =>
    typeof prompt === 'string' && prompt.trim() !== '' ? prompt : undefined,
  constraints: { ...UNCONSTRAINED, incomingMax: 0, outgoingMax: 0, instancesMax: 1 },
  data,
  properties: {
    ...nameFacts('Global Node'),
    prompt: {
      ...promptFacts,
      default:
        'You are on the telephone. Speak in short, plain sentences, without lists or symbols. Ask one ' +
        'thing at a time and wait for the answer. Never make up facts that you were not given.',
    },
  },
  examples: [
    {
      name: 'A receptionist',
      description: 'Who speaks, how, and what is never done.',
      data: {
        name: 'Receptionist',
        prompt:
          'You are the receptionist of {{practice | the practice}}. You are friendly and brief. You never ' +
          'give medical advice.',
      },
    },
  ],
} as const satisfies NodeType & { properties: FactsFor<typeof data> };
