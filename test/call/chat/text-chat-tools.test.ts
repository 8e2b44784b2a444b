// Tools in conversations in writing: run as in calls, not repeated by a rewind, and without transfers.
// Source: contract §8.7, §11.1.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TextChat } from '../../../src/store/runs/text-chat-records.ts';
import { withStore } from '../../store/engines.ts';
import { type RestServer, startRestServer } from '../../telephony/provider/rest-server.ts';
import { definition, edge, end, start } from '../../workflow/definitions.ts';
import { type Answer, ScriptedModel } from '../scripted-model.ts';
import { atThisMoment, ChatHarness, until } from './text-chat-harness.ts';

const at = withStore();
let shop: RestServer;

beforeAll(async () => {
  shop = await startRestServer();
});
beforeEach(() => {
  shop.asked.length = 0;
  shop.answer = { status: 200, body: { total: 12.5 } };
});
afterAll(() => shop.close());

interface Talk {
  harness: ChatHarness;
  llm: ScriptedModel;
  opened: TextChat;
}

async function withTool(
  type: 'http_api' | 'transfer_call' | 'end_call' | 'collect_digits' | 'transfer_agent',
  config: object,
): Promise<Talk> {
  const { uuid } = await at.store.tools.create(at.owner, {
    name: 'Front desk',
    description: 'Use it.',
    category: type,
    icon: null,
    iconColor: null,
    definition: { type, config },
  });
  const llm = new ScriptedModel(at.clock);
  const harness = await new ChatHarness(at, llm).prepare(
    definition(
      [start('talk', { name: 'Talk', greeting: 'Hello.', tool_uuids: [uuid] }), end('bye')],
      [edge('talk', 'bye', { label: 'Finish' })],
    ),
  );
  return { harness, llm, opened: await harness.create() };
}

const now = (answers: Answer[]): Answer[] => answers.map((answer) => ({ ...answer, stepMs: 0 }));

describe('a chat in which the model uses a tool', () => {
  it('waits for the other system and answers with its result, once', async () => {
    const { harness, llm, opened } = await withTool('http_api', {
      method: 'GET',
      url: `${shop.url}/orders`,
      customMessage: 'One moment.',
    });
    llm.answers = now([{ call: 'front_desk' }, { say: ['It costs 12.50.'] }]);
    const told = await atThisMoment(at.clock, harness.say(opened, 'what does it cost'));
    expect(told.turns.at(-1)?.assistantText).toBe('One moment.\nIt costs 12.50.');
    expect(JSON.stringify(told.turns.at(-1)?.events)).toContain('12.5');
    await harness.rewind(told, opened.turns[0]?.id ?? '');
    const again = await harness.rewind(await harness.read(told), null);
    await atThisMoment(at.clock, harness.say(again, 'and that'));
    expect(shop.asked).toHaveLength(1);
  });

  it('does not transfer: the model gets the reason', async () => {
    const { harness, llm, opened } = await withTool('transfer_call', {
      destination: '+14155550199',
      messageType: 'none',
      timeout: 20,
    });
    llm.answers = now([{ call: 'front_desk' }, { say: ['Please call us.'] }]);
    const told = await atThisMoment(at.clock, harness.say(opened, 'a person please'));
    expect(told.turns.at(-1)?.assistantText).toContain('Please call us.');
    expect(JSON.stringify(llm.spoken.at(-1)?.messages)).toContain('textchat_not_supported');
    expect(told.status).toBe('idle');
  });

  it('has digits written, and hidden ones not at all', async () => {
    const { harness, llm, opened } = await withTool('collect_digits', { min_digits: 4 });
    llm.answers = now([{ call: 'front_desk' }, { say: ['Thank you.'] }]);
    const asked = await atThisMoment(at.clock, harness.say(opened, 'my order'));
    expect(asked.turns.at(-1)?.assistantText).toContain('keys of your telephone');
    const told = await atThisMoment(at.clock, harness.say(asked, '12 34'));
    expect(told.turns.at(-1)?.assistantText).toBe('Thank you.');
    expect(JSON.stringify(llm.spoken.at(-1)?.messages)).toContain('1234');

    const hidden = await withTool('collect_digits', { hidden: true, variable: 'card' });
    hidden.llm.answers = now([{ call: 'front_desk' }, { say: ['Please call us.'] }]);
    const refused = await atThisMoment(at.clock, hidden.harness.say(hidden.opened, 'pay'));
    expect(refused.turns.at(-1)?.assistantText).toBe('Please call us.');
    expect(JSON.stringify(hidden.llm.spoken.at(-1)?.messages)).toContain('keys of a telephone');
  });

  it('goes on with another agent', async () => {
    const { workflow } = await at.store.workflows.create(at.owner, {
      name: 'Billing',
      triggerPaths: [],
      definition: definition([
        start('talk', { name: 'Billing', prompt: 'Explain bills.' }),
        end('bye'),
      ]),
      configurations: {},
      templateContextVariables: {},
    });
    const { harness, llm, opened } = await withTool('transfer_agent', {
      agent_uuid: workflow.uuid,
    });
    const given = { reason: 'a wrong bill' };
    llm.answers = now([
      { call: 'front_desk', given },
      { say: ['Which bill?'] },
      { say: ['I see.'] },
    ]);
    const told = await atThisMoment(at.clock, harness.say(opened, 'my bill is wrong'));
    expect(told.turns.at(-1)?.assistantText).toBe('Which bill?');
    const next = await atThisMoment(at.clock, harness.say(told, 'number seven'));
    expect(next.turns.at(-1)?.assistantText).toBe('I see.');
    expect(JSON.stringify(llm.spoken.at(-1)?.messages[0])).toContain('Explain bills.');
  });

  it('ends by it, and is completed', async () => {
    const { harness, llm, opened } = await withTool('end_call', {
      messageType: 'custom',
      customMessage: 'Goodbye then.',
    });
    llm.answers = now([{ call: 'front_desk' }]);
    const done = await atThisMoment(at.clock, harness.say(opened, 'that was all'));
    expect(done.turns.at(-1)?.assistantText).toBe('Goodbye then.');
    expect(done.run).toMatchObject({ state: 'completed', disposition: 'end_call_tool' });
    await until(() => harness.completed === 1);
  });
});
