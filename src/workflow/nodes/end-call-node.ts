// A node that ends the call after its closing words were played. Source: contract §5.3, §8.3.

import { z } from 'zod';
import {
  extractionFacts,
  globalPromptFacts,
  nameFacts,
  promptFacts,
  scriptedFacts,
  serviceFacts,
} from './field-facts.ts';
import {
  commonFields,
  extractionFields,
  requiredPrompt,
  scriptedFields,
  serviceFields,
  withGlobalPrompt,
} from './fields.ts';
import { type FactsFor, type NodeType, UNCONSTRAINED } from './node-type.ts';

const data = z.object({
  ...commonFields,
  prompt: requiredPrompt('end', 'How the agent takes its leave. May name {{variables}}.'),
  add_global_prompt: withGlobalPrompt,
  ...extractionFields,
  say: scriptedFields.say,
  ...serviceFields,
});

export const endCallNode = {
  name: 'endCall',
  displayName: 'End Call',
  description: 'Says goodbye and ends the call.',
  hint: 'The agent speaks once more by this prompt, then hangs up. Use several for several endings.',
  category: 'call_node',
  icon: 'OctagonX',
  step: 'last',
  templates: ['prompt', 'say'],
  constraints: { ...UNCONSTRAINED, incomingMin: 1, outgoingMax: 0 },
  data,
  properties: {
    ...nameFacts('End Call'),
    prompt: { ...promptFacts, placeholder: 'Thank the caller and say goodbye.' },
    add_global_prompt: { ...globalPromptFacts, default: false },
    ...extractionFacts,
    say: scriptedFacts.say,
    ...serviceFacts,
  },
  examples: [
    {
      name: 'Booked',
      description: null,
      data: {
        name: 'Goodbye, booked',
        prompt: 'Name the day and the time once more, thank the caller and say goodbye.',
        add_global_prompt: false,
      },
    },
  ],
} as const satisfies NodeType & { properties: FactsFor<typeof data> };
