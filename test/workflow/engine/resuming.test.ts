// A conversation whose process was lost goes on in another one: what was in progress is lost, and nothing is done twice.

import { describe, expect, it } from 'vitest';
import type { DialogueEvent } from '../../../src/workflow/engine/dialogue-events.ts';
import { linesFor } from '../../../src/workflow/engine/dialogue-lines.ts';
import { Conversation } from '../conversation.ts';
import { agent, definition, edge, end, start } from '../definitions.ts';
import { ToolConversation } from '../tool-conversation.ts';

const SORRY = "Sorry, I'm still here.";
const RESUMED = { type: 'resumed' } as const;

const desk = definition(
  [
    start('ask', {
      name: 'Ask',
      say: 'Hello.',
      slots: [{ name: 'day', type: 'weekday', ask: 'Which day?' }],
    }),
    end('done', { name: 'Done', say: 'Goodbye.' }),
  ],
  [edge('ask', 'done', { label: 'Done', slot: 'day' })],
);
const open = definition(
  [
    start('talk', { name: 'Talk', greeting: 'Hello, how can I help?' }),
    end('bye', { name: 'Bye' }),
  ],
  [edge('talk', 'bye', { label: 'Finish' })],
);

describe('an agent that resumes', () => {
  it('says that it is there, and asks the last question again', () => {
    const scripted = new Conversation(desk, 'scripted').start().heard();
    expect(scripted.tell(RESUMED).said).toEqual([SORRY, 'Hello. Which day?']);
    expect(scripted.types).toContain('expect');
    const model = new Conversation(open, 'model')
      .start()
      .heard()
      .caller('hello')
      .answer('Which day?');
    expect(model.heard().tell(RESUMED).said).toEqual([SORRY, 'Which day?']);
    // The model reads it once.
    expect(JSON.stringify(model.caller('monday').last('generate').messages)).not.toMatch(
      /Which day.*Which day/,
    );
  });

  it('says what nobody has heard yet', () => {
    const model = new Conversation(open, 'model').start().heard().caller('hello');
    model.answer('We open at nine.');
    expect(model.tell(RESUMED).said).toEqual([SORRY, 'We open at nine.']);
    expect(model.heard().state.speaking).toEqual([]);
    const contents = model
      .caller('thanks')
      .last('generate')
      .messages.map(({ content }) => content);
    expect(contents.filter((text) => text.includes('nine'))).toEqual(['We open at nine.']);
  });

  it('says it in the language of the agent', () => {
    const lines = linesFor('de-AT');
    const german = new Conversation(desk, 'scripted', { lines }).start().heard();
    expect(german.tell(RESUMED).said[0]).toBe('Entschuldigung, ich bin noch da.');
  });

  it('asks the model again whose answer was lost', () => {
    const model = new Conversation(open, 'model').start().heard().caller('when do you open');
    const { requestId } = model.last('generate');
    model.tell(RESUMED);
    expect(model.said).toEqual([SORRY]);
    const again = model.last('generate');
    expect(again.requestId).toBeGreaterThan(requestId);
    expect(again.messages.at(-1)).toMatchObject({ content: 'when do you open' });
    // The former answer, should it come, has no effect.
    const late = { type: 'model-answered', requestId, text: 'At six.', toolCalls: [] } as const;
    expect(model.tell(late).actions).toEqual([]);
    expect(model.answer('At nine.').heard().state.request).toBeNull();
  });

  it('opens a conversation that it has not opened', () => {
    const delayed = definition(
      [start('talk', { greeting: 'Hello.', delayed_start: true, delayed_start_duration: 5 })],
      [],
    );
    const call = new Conversation(delayed, 'model').start();
    expect(call.state.phase).toBe('delayed');
    expect(call.tell(RESUMED).said).toEqual(['Hello.']);
    const early = new Conversation(open, 'model').tell(RESUMED);
    expect(early.actions).toEqual([]);
  });

  it('counts the silences anew', () => {
    const call = new Conversation(desk, 'scripted').start().heard().idle().heard();
    expect(call.state.idles).toBe(1);
    call.tell(RESUMED).heard().idle();
    expect(call.said[0]).toContain('Are you still there?');
    expect(call.state.phase).toBe('talking');
  });

  it('says goodbye again, and ends', () => {
    const call = new Conversation(desk, 'scripted').start().heard().caller('monday');
    expect(call.state.phase).toBe('closing');
    const { waitId } = call.last('wait');
    expect(call.tell(RESUMED).said).toEqual(['Goodbye.']);
    expect(call.last('wait').waitId).toBeGreaterThan(waitId);
    expect(call.heard().last('end')).toMatchObject({ reason: 'user_qualified' });
  });

  it('requests the values again that were being extracted', () => {
    const content = definition(
      [
        start('talk', {
          name: 'Talk',
          greeting: 'Hello.',
          extraction_enabled: true,
          extraction_variables: [{ name: 'day', type: 'string' }],
        }),
        agent('more', { name: 'More' }),
      ],
      [edge('talk', 'more', { label: 'More' })],
    );
    const call = new Conversation(content, 'model').start().heard().caller('monday');
    call.answer('Fine.', 'more').heard();
    const { extractionId } = call.last('extract');
    call.tell(RESUMED);
    expect(call.last('extract').extractionId).toBeGreaterThan(extractionId);
    call.tell({
      type: 'extracted',
      extractionId: call.last('extract').extractionId,
      values: { day: 'monday' },
    });
    expect(call.gathered).toEqual({ day: 'monday' });
  });
});

describe('functions whose process was lost', () => {
  it('are not called again: the model learns that their result is not known', () => {
    const call = new ToolConversation().calls('I look.', ['find_order', { id: '7' }]);
    call.tell(RESUMED);
    expect(call.all.filter(({ type }) => type === 'call-out')).toHaveLength(1);
    expect(call.said).toEqual([SORRY]);
    expect(call.results['c0']).toMatchObject({
      status: 'error',
      error: expect.stringContaining('not known whether this was done'),
    });
    expect(call.logged).toHaveLength(1);
    // The former reply, should it come, has no effect.
    expect(call.replies(200, {}).actions).toEqual([]);
  });

  it('leave the calls of the same answer that were finished as they are', () => {
    const call = new ToolConversation().calls('', ['find_order', { id: '7' }], ['save', {}]);
    const [first] = call.of('call-out');
    call.replies(200, { total: 1 }, first).tell(RESUMED);
    expect(call.results).toMatchObject({ c0: { status: 'success' }, c1: { status: 'error' } });
  });

  it.each([
    ['announced', (call: ToolConversation) => call],
    ['asked for', (call: ToolConversation) => call.heard()],
  ])('a transfer that was %s has failed, and the model explains it', (_, until) => {
    const call = until(new ToolConversation().calls('', ['front_desk', {}]));
    call.tell(RESUMED);
    expect(call.results['c0']).toMatchObject({ status: 'transfer_failed', reason: 'interrupted' });
    expect(call.state).toMatchObject({ tools: null, waits: { announcement: null } });
    const late: DialogueEvent = { at: 1, type: 'transferred', toolRunId: 999 };
    expect(call.tell(late).actions).toEqual([]);
  });
});
