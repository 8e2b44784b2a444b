// Conversations in writing: from the opening to the end, rewound, concurrent, killed and idle.
// Source: contract §11.1, §8.

import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CHARACTERS_MAX, TURNS_MAX } from '../../../src/call/chat/text-chat.ts';
import type { TextChat } from '../../../src/store/runs/text-chat-records.ts';
import { rounds } from '../../rounds.ts';
import { withStore } from '../../store/engines.ts';
import { agent, definition, edge, end, start } from '../../workflow/definitions.ts';
import { drinks, GOODBYE, GREETING } from '../call-harness.ts';
import { ChatHarness, until, wordsOf } from './text-chat-harness.ts';

const at = withStore();
const ended = { code: 'TEXT_CHAT_ENDED' };

async function scripted(): Promise<ChatHarness> {
  return new ChatHarness(at).prepare(drinks);
}

describe('a chat that a script leads', () => {
  it('opens at once and waits for the caller', async () => {
    const harness = await scripted();
    const chat = await harness.create({ who: 'Ann' });
    expect(wordsOf(chat)).toEqual([[null, GREETING]]);
    expect(chat).toMatchObject({
      status: 'idle',
      revision: 2,
      run: {
        mode: 'textchat',
        state: 'running',
        callType: 'inbound',
        initialContext: { who: 'Ann' },
      },
      turns: [{ status: 'completed' }],
    });
    expect(chat.run.name).toMatch(/^WR-TEXT-[0-9A-F]{6}$/);
    expect(chat.turns[0]?.id).toMatch(/^turn_[0-9a-f]{12}$/);
  });

  it('answers, and completes by itself at an end node', async () => {
    const harness = await scripted();
    const opened = await harness.create();
    const unsure = await harness.say(opened, 'a horse');
    expect(unsure.turns.at(-1)?.assistantText).toContain('Please say tea or coffee.');
    at.clock.advance(5_000);
    const done = await harness.say(unsure, 'tea please');
    expect(done).toMatchObject({
      status: 'completed',
      run: {
        state: 'completed',
        disposition: 'user_qualified',
        durationS: 5,
        gatheredContext: { drink: 'tea', call_disposition: 'user_qualified' },
      },
    });
    expect(await harness.transcript(done)).toEqual([
      `assistant: ${GREETING}`,
      'user: a horse',
      `assistant: ${unsure.turns.at(-1)?.assistantText}`,
      'user: tea please',
      `assistant: ${GOODBYE}`,
    ]);
    expect(harness.completed).toBe(1);
    const items = done.run.logs['realtime_feedback_events'] as { type: string }[];
    expect(items.map(({ type }) => type)).toContain('rtf-user-transcription');
    await expect(harness.say(done, 'hello?')).rejects.toMatchObject(ended);
    await expect(harness.rewind(done, null)).rejects.toMatchObject(ended);
  });

  it('runs the draft if there is one, with the template variables under the context', async () => {
    const greets = (text: string) =>
      definition([start('a', { greeting: text }), end('b')], [edge('a', 'b')]);
    const harness = await new ChatHarness(at).prepare(
      greets('old'),
      {},
      { who: 'you', day: 'Monday' },
    );
    await at.store.workflows.saveDraft(harness.workflowId, {
      definition: definition(
        [
          start('a', { say: 'Hello {{who}}, {{day}}? {{workflow_run_id}}' }),
          end('b', { say: 'Bye.' }),
        ],
        [edge('a', 'b', { phrases: ['bye'] })],
      ),
    });
    const chat = await harness.create({ who: 'Ann', provider: 'mine' });
    expect(chat.turns[0]?.assistantText).toContain(`Hello Ann, Monday? ${chat.run.id}`);
    expect(chat.run.initialContext['provider']).toBeUndefined();
  });

  it('is not kept waiting by a start that is delayed', async () => {
    const harness = await new ChatHarness(at).prepare(
      definition(
        [start('a', { say: 'Hello.', delayed_start: true, delayed_start_duration: 5 }), end('b')],
        [edge('a', 'b', { phrases: ['bye'] })],
      ),
    );
    expect((await harness.create()).turns[0]?.assistantText).toContain('Hello.');
  });

  it('ends when the caller wants it, once', async () => {
    const harness = await scripted();
    const chat = await harness.create();
    const done = await harness.end(chat);
    expect(done).toMatchObject({
      status: 'completed',
      run: { state: 'completed', disposition: 'user_hangup' },
    });
    const again = await harness.chats.end(harness.idOf(chat), 1);
    expect(again.revision).toBe(done.revision);
    expect(harness.completed).toBe(1);
    expect(await at.sql('select run_id from afterworks')).toEqual([{ run_id: chat.run.id }]);
  });

  it('takes no place of a call', async () => {
    const harness = await scripted();
    await Promise.all([harness.create(), harness.create(), harness.create()]);
    expect(await at.store.runs.countOpen()).toBe(0);
  });

  it('is refused beyond its limits', async () => {
    const harness = await scripted();
    const chat = await harness.create();
    const full = { code: 'TEXT_CHAT_FULL' };
    await at.sql('update text_chat_turns set user_text = $1', ['x'.repeat(CHARACTERS_MAX)]);
    await expect(harness.say(chat, 'x')).rejects.toMatchObject(full);
    await at.sql("update text_chat_turns set user_text = ''");
    await at.sql(
      `insert into text_chat_turns (run_id, number, id, status, events, usage, created_at)
       select run_id, n, 'turn_' || n, 'completed', '[]', '{}', now()
       from text_chat_turns, generate_series(2, ${TURNS_MAX}) n`,
    );
    await expect(harness.say(chat, 'x')).rejects.toMatchObject(full);
  });

  it('answers another after the definition has gone bad, and can be ended', async () => {
    const harness = await scripted();
    const chat = await harness.create();
    await at.sql('update workflow_versions set definition = \'{"nodes":[],"edges":[]}\'');
    await expect(harness.say(chat, 'tea')).rejects.toMatchObject({ code: 'WORKFLOW_INVALID' });
    expect((await harness.end(chat)).run.disposition).toBe('user_hangup');
  });
});

describe('two at once', () => {
  it('get one answer and one refusal with both revisions', async () => {
    const harness = await scripted();
    const chat = await harness.create();
    const both = await Promise.allSettled([
      harness.say(chat, 'a horse'),
      harness.say(chat, 'a cow'),
    ]);
    const refused = both.find(({ status }) => status === 'rejected');
    expect(refused).toMatchObject({
      reason: { code: 'TEXT_CHAT_CONFLICT', facts: { expected: chat.revision } },
    });
    const after = await harness.read(chat);
    expect(after.turns).toHaveLength(2);
    expect(after.status).toBe('idle');
  });

  it('in two processes: the same', async () => {
    const harness = await scripted();
    const other = new ChatHarness(at);
    other.workflowId = harness.workflowId;
    const chat = await harness.create();
    const both = await Promise.allSettled([harness.say(chat, 'a horse'), other.say(chat, 'a cow')]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    // Each process goes on from where the other left it.
    const next = await other.say(chat, 'tea');
    expect(next.run.state).toBe('completed');
    const seqs = (await at.store.runs.events(chat.run.id)).map(({ seq }) => seq);
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
  });

  it('get the expected revision in the error', async () => {
    const harness = await scripted();
    const chat = await harness.create();
    const conflict = { code: 'TEXT_CHAT_CONFLICT', facts: { expected: 1, actual: 2 } };
    await expect(harness.say(chat, 'tea', 1)).rejects.toMatchObject(conflict);
    await expect(harness.chats.rewind(harness.idOf(chat), null, 1)).rejects.toMatchObject(conflict);
    await expect(harness.chats.end(harness.idOf(chat), 1)).rejects.toMatchObject(conflict);
    expect((await harness.say(chat, 'tea', 2)).status).toBe('completed');
  });
});

describe('a chat that is taken back', () => {
  it('restores the earlier state, and what was said after that does not count', async () => {
    const harness = await scripted();
    const opened = await harness.create();
    const first = opened.turns[0]?.id ?? '';
    const unsure = await harness.say(opened, 'a horse');
    const back = await harness.rewind(unsure, first);
    expect(back).toMatchObject({ status: 'rewound', cursorTurnId: first, state: opened.state });
    expect(back.turns).toEqual(opened.turns);
    expect(back.discarded).toMatchObject([
      { rewoundFromTurnId: first, turns: [{ userText: 'a horse' }] },
    ]);
    const done = await harness.say(back, 'coffee');
    expect(await harness.transcript(done)).toEqual([
      `assistant: ${GREETING}`,
      'user: coffee',
      'assistant: Coffee it is. Goodbye.',
    ]);
    expect(done.run.gatheredContext).toMatchObject({
      drink: 'coffee',
      nodes_visited: ['Ask', 'Coffee'],
    });
  });

  it('to a turn that is not there is refused', async () => {
    const harness = await scripted();
    const chat = await harness.create();
    await expect(harness.rewind(chat, 'turn_ffffffffffff')).rejects.toMatchObject({
      code: 'TEXT_CHAT_TURN_NOT_FOUND',
    });
  });

  it('to nothing goes on from the last turn', async () => {
    const harness = await scripted();
    const chat = await harness.create();
    const back = await harness.rewind(await harness.rewind(chat, chat.turns[0]?.id ?? ''), null);
    expect(back).toMatchObject({ status: 'idle', cursorTurnId: null, turns: chat.turns });
  });

  it('and the same messages give the same result', async () => {
    const harness = await new ChatHarness(at).prepare(rooms);
    const words = fc.constantFrom('tea', 'north', 'south', 'back', 'a horse', 'seven', 'yes', '  ');
    await fc.assert(
      fc.asyncProperty(
        fc.array(words, { minLength: 1, maxLength: 5 }),
        fc.nat(),
        async (messages, n) => {
          const steps: TextChat[] = [await harness.create()];
          for (const text of messages) {
            const next = await harness.say(steps.at(-1) as TextChat, text);
            if (next.status === 'completed') break; // An end cannot be taken back.
            steps.push(next);
          }
          const last = steps.at(-1) as TextChat;
          fc.pre(steps.length === messages.length + 1);
          const from = n % steps.length;
          let again = await harness.rewind(last, last.turns[from]?.id ?? '');
          for (const text of messages.slice(from)) again = await harness.say(again, text);
          expect(wordsOf(again)).toEqual(wordsOf(last));
          expect(again.state).toEqual(last.state);
          expect(again.turns.map(({ events }) => events.map(({ type }) => type))).toEqual(
            last.turns.map(({ events }) => events.map(({ type }) => type)),
          );
        },
      ),
      { numRuns: rounds(8, 16) },
    );
  }, 30_000);
});

/** Two rooms without a way out. */
const rooms = definition(
  [
    start('hall', { say: 'You are in the hall. North?', slots: [{ name: 'n', type: 'number' }] }),
    agent('attic', { say: 'You are in the attic. Back?' }),
    end('out', { say: 'Out.' }),
  ],
  [
    edge('hall', 'attic', { label: 'North', phrases: ['north'] }),
    edge('attic', 'hall', { label: 'Back', phrases: ['back'] }),
    edge('attic', 'out', { label: 'Never', phrases: ['never ever'] }),
  ],
);

describe('a chat without messages', () => {
  let harness: ChatHarness;
  beforeEach(async () => {
    harness = await new ChatHarness(at).prepare(drinks, {
      text_chat_inactivity_timeout_seconds: 60,
    });
  });
  afterEach(() => harness.chats.stop());

  it('is completed by the sweep of one of several nodes', async () => {
    const chat = await harness.create();
    const busy = await harness.create();
    at.clock.advance(45_000);
    await harness.say(busy, 'a horse');
    at.clock.advance(20_000);
    const other = new ChatHarness(at);
    harness.chats.start();
    other.chats.start();
    await until(async () => (await harness.read(chat)).run.state === 'completed');
    expect((await harness.read(chat)).run).toMatchObject({
      disposition: 'user_idle_max_duration_exceeded',
      durationS: 0,
    });
    expect((await harness.read(busy)).status).toBe('idle');
    expect(harness.completed + other.completed).toBe(1);
    await other.chats.stop();
  });

  it('is looked for every five minutes', async () => {
    harness.chats.start();
    const chat = await harness.create();
    at.clock.advance(299_000);
    expect((await harness.read(chat)).status).toBe('idle');
    at.clock.advance(1_000);
    await until(async () => (await harness.read(chat)).run.state === 'completed');
  });
});
