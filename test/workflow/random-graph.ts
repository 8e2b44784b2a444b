// Random graphs, for what must hold with any agent.

import fc from 'fast-check';
import { definition } from './definitions.ts';
import { TOOLS } from './tool-conversation.ts';
import { storedTool } from './tools/stored-tool.ts';

/** Tools of random graphs. The agent `self` is the one that has them. */
export const RANDOM_TOOLS = [
  ...TOOLS,
  storedTool('keys', 'Enter', {
    type: 'collect_digits',
    config: { min_digits: 2, tries: 2, variable: 'keys' },
  }),
  storedTool('tongue', 'Tongue', {
    type: 'switch_language',
    config: { languages: [{ language: 'de', message: 'Gern.' }, { language: 'fr' }] },
  }),
  storedTool('again', 'Again', { type: 'transfer_agent', config: { agent_uuid: 'self' } }),
];

export const LABELS = ['book', 'cancel', 'fallback', 'operator', 'go on', 'Yes?', 'no'];

const slot = fc.record({
  name: fc.constantFrom('a', 'b', 'c', '__proto__'),
  type: fc.constantFrom('yes_no', 'digit', 'digits', 'number', 'date', 'time', 'weekday', 'money'),
});
const choiceSlot = fc.constant({ name: 'kind', choices: ['Cleaning', 'Check up'] });
const template = fc.constantFrom(
  'Hello {{name}}.',
  'Which day? {{gathered_context.a}}',
  'Fine.',
  '',
);

const nodeData = fc.record(
  {
    name: fc.constantFrom('A', 'B', 'C'),
    prompt: fc.constantFrom('Ask.', '{{gathered_context.a | x}}'),
    say: template,
    reprompt: template,
    allow_interrupt: fc.boolean(),
    tool_uuids: fc.subarray(RANDOM_TOOLS.map(({ uuid }) => uuid)),
    slots: fc.array(fc.oneof(slot, choiceSlot), { maxLength: 3 }),
    extraction_enabled: fc.boolean(),
    extraction_variables: fc.constant([
      { name: 'a', type: 'number' },
      { name: '__proto__', type: 'string' },
    ]),
  },
  { requiredKeys: ['name', 'prompt'] },
);
const startData = fc.record(
  { greeting: template, delayed_start: fc.boolean() },
  { requiredKeys: [] },
);
const edgeData = fc.record(
  {
    label: fc.constantFrom(...LABELS),
    condition: fc.constantFrom('When it fits.', 'always', 'The caller agrees.'),
    transition_speech: template,
    phrases: fc.array(fc.constantFrom('book', 'cancel', 'yes', 'no thank you'), { maxLength: 2 }),
    dtmf: fc.constantFrom('1', '2', '*'),
    slot: fc.constantFrom('a', 'b', 'all'),
    value: fc.constant('v'),
  },
  { requiredKeys: ['label', 'condition'] },
);

export const randomGraph = fc
  .record({
    agents: fc.array(nodeData, { maxLength: 4 }),
    start: fc.tuple(nodeData, startData).map(([node, opening]) => ({ ...node, ...opening })),
    ends: fc.array(nodeData, { maxLength: 2 }),
    edges: fc.array(fc.tuple(fc.nat(6), fc.nat(6), edgeData), { maxLength: 12 }),
  })
  .map(({ agents, start, ends, edges }) =>
    definition(
      [
        { id: '0', type: 'startCall', data: start },
        ...agents.map((data, index) => ({ id: String(index + 1), type: 'agentNode', data })),
        ...ends.map((data, index) => ({
          id: String(agents.length + index + 1),
          type: 'endCall',
          data,
        })),
      ],
      edges.map(([source, target, data], index) => ({
        id: `e${index}`,
        source: String(source),
        target: String(target),
        data,
      })),
    ),
  );
