// Transfers of the caller between agents within one call. Source: contract §8.7.

import { describe, expect, it } from 'vitest';
import type { DialoguePolicy, WorkflowDefinition } from '../../../src/model/workflow.ts';
import type { AgentOptions, DialogueEngineOptions } from '../../../src/workflow/engine.ts';
import { parseGraph } from '../../../src/workflow/graph/graph.ts';
import { offeredFunctions } from '../../../src/workflow/tools/offered-functions.ts';
import { Conversation } from '../conversation.ts';
import { agent, type Data, definition, edge, end, start } from '../definitions.ts';
import { storedTool } from '../tools/stored-tool.ts';

const tools = [
  storedTool('to-billing', 'To billing', {
    type: 'transfer_agent',
    config: {
      agent_uuid: 'billing',
      messageType: 'custom',
      customMessage: 'I put you through to billing, {{name}}.',
    },
  }),
  storedTool('to-reception', 'To reception', {
    type: 'transfer_agent',
    config: { agent_uuid: 'reception', greeting: true },
  }),
  storedTool('to-nobody', 'To nobody', {
    type: 'transfer_agent',
    config: { agent_uuid: 'nobody' },
  }),
  storedTool('bill', 'Find bill', {
    type: 'http_api',
    config: { method: 'GET', url: 'https://bills.example/' },
  }),
];
const extraction = {
  extraction_enabled: true,
  extraction_variables: [{ name: 'topic', type: 'string' }],
};

function optionsOf(
  content: WorkflowDefinition,
  policy: DialoguePolicy,
  name: string,
): AgentOptions {
  const graph = parseGraph(content);
  return {
    graph,
    policy,
    tools: offeredFunctions(graph.nodes.values(), tools).offered,
    settings: { dictionary: '', agent_language: 'en' },
    identity: { name, workflowId: `workflow of ${name}`, definitionId: `version of ${name}` },
  };
}

const reception = (data: Data = {}) =>
  definition(
    [
      start('talk', {
        name: 'Reception',
        prompt: 'Receive callers.',
        greeting: 'Hello, reception.',
        tool_uuids: ['to-billing', 'to-nobody', 'bill'],
        ...extraction,
        ...data,
      }),
      agent('hand', { say: 'One moment.', transfer_to_agent: 'billing' }),
      end('done'),
    ],
    [edge('talk', 'hand', { label: 'Bills', phrases: ['bills'] })],
  );
// Node ids of two agents may be the same.
const billing = definition(
  [
    start('talk', {
      name: 'Billing',
      prompt: 'Explain bills.',
      greeting: 'Hello, billing.',
      say: 'Which bill?',
      tool_uuids: ['to-reception'],
      slots: [{ name: 'bill', type: 'digits' }],
    }),
    end('done', { say: 'Bye.' }),
  ],
  [edge('talk', 'done', { label: 'Done' })],
);

function talkOf(
  policies: { first?: DialoguePolicy; next?: DialoguePolicy } = {},
  data: Data = {},
): Conversation {
  const { first = 'model', next = 'model' } = policies;
  const agents: DialogueEngineOptions['agents'] = new Map([
    ['billing', optionsOf(billing, next, 'Billing')],
    ['reception', null],
  ]);
  const content = reception(data);
  const more = { ...optionsOf(content, first, 'Reception'), agents };
  const talk = new Conversation(content, first, { more });
  return talk.start({ name: 'Ana', greeting_override: { type: 'text', text: 'Hi Ana.' } }).heard();
}

function transfers(talk: Conversation, name: string): Conversation {
  const { requestId } = talk.last('generate');
  const call = { id: `call ${requestId}`, name, arguments: { reason: 'a wrong bill' } };
  return talk.tell({ type: 'model-answered', requestId, text: '', toolCalls: [call] });
}

const bodies = (talk: Conversation) => talk.of('log').map(({ body }) => body);
const systemOf = (talk: Conversation) => String(talk.last('generate').messages[0]?.content);

describe('a transfer to another agent by a tool', () => {
  it('says its message, and the next agent goes on with the conversation', () => {
    const talk = transfers(talkOf().caller('my bill is wrong', 0.9), 'to_billing');
    expect(talk.said).toEqual(['I put you through to billing, Ana.']);
    expect(bodies(talk)).toContainEqual({
      type: 'agent.entered',
      agentId: 'billing',
      agentName: 'Billing',
      previousAgentName: 'Reception',
      workflowId: 'workflow of Billing',
      definitionId: 'version of Billing',
      reason: 'a wrong bill',
    });
    expect(bodies(talk).at(-1)).toMatchObject({ type: 'node.entered', nodeName: 'Billing' });
    expect(talk.last('generate').tools.map(({ name }) => name)).toEqual(['to_reception', 'done']);
    expect(systemOf(talk)).toContain('Explain bills.');
    expect(systemOf(talk)).toContain('the agent "Reception"');
    expect(systemOf(talk)).toContain('Reason: a wrong bill');
    const { messages } = talk.last('generate');
    expect(messages.slice(1)).toEqual([
      { role: 'user', content: '(The call is connected.)' },
      { role: 'assistant', content: 'Hi Ana.', toolCalls: [] },
      { role: 'user', content: 'my bill is wrong' },
    ]);
  });

  it('keeps the values, also those that are still being extracted from the former agent', () => {
    const talk = transfers(talkOf().caller('my bill is wrong', 0.9), 'to_billing');
    const { extractionId } = talk.last('extract');
    talk.tell({ type: 'extracted', extractionId, values: { topic: 'bills' } });
    expect(talk.gathered).toEqual({ topic: 'bills' });
    talk.answer('Which one?').heard().caller('seven', 0.9);
    expect(talk.engine.summarize(talk.state)).toMatchObject({
      nodesVisited: ['Reception', 'Billing'],
      lastNode: { name: 'Billing' },
    });
  });

  it('back to the first agent has its tools and its greeting, without the override of the call', () => {
    const talk = transfers(talkOf().caller('my bill is wrong', 0.9), 'to_billing');
    transfers(talk.heard().caller('no, the reception', 0.9), 'to_reception');
    expect(talk.said).toEqual(['Hello, reception.']);
    expect(talk.state.agent?.id).toBeNull();
    talk.heard().caller('hello', 0.9);
    expect(talk.last('generate').tools.map(({ name }) => name)).toContain('find_bill');
  });

  it('to an agent that is not there is an error for the model', () => {
    const talk = transfers(talkOf().caller('somebody else', 0.9), 'to_nobody');
    expect(JSON.stringify(talk.last('generate').messages)).toContain(
      'The other agent is not available.',
    );
    expect(talk.state.agent).toBeUndefined();
  });

  it('is possible five times in a call: agents do not pass a caller on for ever', () => {
    const talk = talkOf().caller('my bill', 0.9);
    for (let nth = 0; nth < 5; nth += 1) {
      transfers(talk, nth % 2 === 0 ? 'to_billing' : 'to_reception');
      talk.heard().caller('go on', 0.9);
    }
    transfers(talk, 'to_reception');
    expect(talk.state.agent?.id).toBe('billing');
    expect(JSON.stringify(talk.last('generate').messages)).toContain('too often');
  });

  it('to an agent without a model goes on with its script', () => {
    const talk = transfers(talkOf({ next: 'scripted' }).caller('my bill', 0.9), 'to_billing');
    expect(talk.said).toEqual(['I put you through to billing, Ana.', 'Which bill?']);
    talk.heard().caller('four two', 0.99);
    expect(talk.gathered).toMatchObject({ bill: '42' });
  });
});

describe('a transfer to another agent by a node', () => {
  it('of a script follows its words', () => {
    const talk = talkOf({ first: 'scripted', next: 'scripted' }, { say: 'What about?' });
    talk.caller('bills', 0.95);
    expect(talk.said).toEqual(['One moment.', 'Which bill?']);
    expect(talk.state.agent?.id).toBe('billing');
  });

  it('leads from a script to a model', () => {
    const talk = talkOf({ first: 'scripted' }, { say: 'What about?' }).caller('bills', 0.95);
    expect(talk.said).toEqual(['One moment.']);
    expect(systemOf(talk)).toContain('Explain bills.');
  });

  it('is taken by a model by its edge', () => {
    const talk = transfers(talkOf().caller('bills', 0.9), 'bills');
    expect(talk.said).toEqual(['One moment.']);
    expect(systemOf(talk)).toContain('Explain bills.');
  });

  it('that is not possible is a fault in the log, and the step goes on', () => {
    const content = definition(
      [
        start('talk', { greeting: 'Hello.', say: 'What about?' }),
        agent('hand', { say: 'Nobody is there. Anything else?', transfer_to_agent: 'nobody' }),
        end('done', { say: 'Bye.' }),
      ],
      [
        edge('talk', 'hand', { label: 'Bills', phrases: ['bills'] }),
        edge('hand', 'done', { label: 'No', phrases: ['nothing'] }),
      ],
    );
    const talk = new Conversation(content, 'scripted').start().heard().caller('bills', 0.95);
    expect(bodies(talk)).toContainEqual({
      type: 'fault',
      code: 'AGENT_TRANSFER_REFUSED',
      message: 'The call cannot be transferred to the agent nobody: unknown',
      fatal: false,
    });
    expect(talk.said).toEqual(['Nobody is there. Anything else?']);
    talk.heard().caller('nothing', 0.95);
    expect(talk.said).toEqual(['Bye.']);
  });
});

describe('a chosen language', () => {
  const inGerman = (languages: readonly string[]) => {
    const next = { ...optionsOf(billing, 'model', 'Billing'), languages };
    const more = {
      ...optionsOf(reception(), 'model', 'Reception'),
      agents: new Map([['billing', next]]),
    };
    const talk = new Conversation(reception(), 'model', { more }).start().heard();
    talk.state = { ...talk.caller('Rechnung', 0.9).state, language: 'de' };
    return transfers(talk, 'to_billing');
  };

  it('stays with an agent that has it', () => {
    expect(inGerman(['de', 'fr']).state.language).toBe('de');
  });

  it('ends with one that does not', () => {
    const talk = inGerman(['fr']);
    expect(talk.state.language).toBeUndefined();
    expect(systemOf(talk)).not.toContain('German');
  });
});
