// Conversations in writing that a model leads, and what goes wrong in them: a dead model, a slow one, a
// kill. Source: contract §11.1, §8.3.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TextChats } from '../../../src/call/chat/text-chat.ts';
import { TURN_MS_MAX } from '../../../src/call/chat/text-chat-work.ts';
import { RunClosing } from '../../../src/call/closing/run-closing.ts';
import type { LanguageModel } from '../../../src/speech/llm/llm.ts';
import { openLanguageModel } from '../../../src/speech/llm/registry.ts';
import { systemClock } from '../../../src/std/clock.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import {
  calls,
  type FakeOpenAiServer,
  failure,
  says,
  startOpenAiServer,
} from '../../fakes/openai-server.ts';
import { withStore } from '../../store/engines.ts';
import { drinks, chat as talk } from '../call-harness.ts';
import { ScriptedModel } from '../scripted-model.ts';
import { atThisMoment, ChatRoom, until, wordsOf } from './text-chat-harness.ts';

const at = withStore();

async function withModel(llm: LanguageModel): Promise<ChatRoom> {
  return new ChatRoom(at, llm).prepare(talk);
}

describe('a chat that a model leads', () => {
  let server: FakeOpenAiServer;
  let llm: LanguageModel;
  beforeEach(async () => {
    server = await startOpenAiServer();
    const settings = { service: 'openai' as const, apiKey: undefined, model: 'test-model' };
    const model = openLanguageModel([{ ...settings, baseUrl: server.baseUrl }], {
      clock: systemClock,
      log: at.log,
    });
    if (model === undefined) throw new Error('no model');
    llm = model;
  });
  afterEach(async () => {
    await llm.close();
    await server.close();
  });

  it('moves along the edges, speaks the transitions and ends', async () => {
    const room = await withModel(llm);
    const opened = await room.create();
    expect(wordsOf(opened)).toEqual([[null, 'Hello, how can I help?']]);
    server.script(calls('go_on', {}, { text: 'One moment.' }), says('What else?'));
    const moved = await room.say(opened, 'tell me more');
    expect(moved.turns.at(-1)).toMatchObject({
      assistantText: 'One moment.\nWhat else?',
      usage: { llm: { 'openai|||test-model': { prompt_tokens: 12 } } },
    });
    expect(moved.state).toMatchObject({ nodeId: 'more' });
    const sent = server.requests.at(-1)?.body['messages'] as { role: string; content: string }[];
    expect(sent.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'user',
      'assistant',
      'tool',
    ]);
    server.script(calls('finish', {}, { text: 'Goodbye.' }));
    const done = await room.say(moved, 'that was all');
    expect(done.run).toMatchObject({ state: 'completed', disposition: 'user_qualified' });
    expect(await room.transcript(done)).toEqual([
      'assistant: Hello, how can I help?',
      'user: tell me more',
      'assistant: One moment.',
      'assistant: What else?',
      'user: that was all',
      'assistant: Goodbye.',
    ]);
  });

  it('counts what the model cost in turns that were taken back', async () => {
    const room = await withModel(llm);
    const opened = await room.create();
    server.script(says('First.'), says('Second.'));
    const first = await room.say(opened, 'one');
    const back = await room.rewind(first, opened.turns[0]?.id ?? '');
    const done = await room.end(await room.say(back, 'two'));
    expect(done.run.usageInfo).toMatchObject({
      llm: { 'openai|||test-model': { prompt_tokens: 24 } },
    });
    expect(await room.transcript(done)).not.toContain('user: one');
  });

  it('says so when the model fails, and goes on', async () => {
    const room = await withModel(llm);
    const opened = await room.create();
    server.otherwise(() => failure(400, { message: 'no' }));
    const failed = await room.say(opened, 'hello');
    expect(failed.turns.at(-1)?.assistantText).toContain('having some trouble');
    expect(failed.turns.at(-1)?.events.map(({ type }) => type)).toContain('rtf-pipeline-error');
    const over = await room.say(failed, 'hello again');
    expect(over.run).toMatchObject({ state: 'completed', disposition: 'pipeline_error' });
  });
});

describe('a chat that was killed in the middle of a turn', () => {
  it('is usable after the restart: the turn has failed, nothing of it counts', async () => {
    const llm = new ScriptedModel(at.clock);
    const room = await withModel(llm);
    room.deps.clock = new FakeClock(at.clock.now()); // It stands still from here on.
    const opened = await room.create();
    llm.answers = [{ hangs: true }];
    const lost = room.say(opened, 'are you there');
    lost.catch(() => undefined); // Its process is gone.
    await until(() => llm.requests.length > 0);
    expect((await room.read(opened)).status).toBe('pending_assistant_turn');
    await expect(room.say(opened, 'hello?')).rejects.toMatchObject({ code: 'TEXT_CHAT_CONFLICT' });
    await room.deps.events.flush();
    room.restart();
    const found = await room.read(opened);
    expect(found).toMatchObject({
      status: 'error',
      hold: null,
      state: opened.state,
      turns: [{}, { status: 'failed', userText: 'are you there', assistantText: null }],
    });
    llm.answers = [{ say: ['We are open.'], stepMs: 0 }];
    const next = await atThisMoment(at.clock, room.say(opened, 'when do you open'));
    expect(next.turns.at(-1)?.assistantText).toBe('We are open.');
    const done = await atThisMoment(at.clock, room.end(next));
    expect(await room.transcript(done)).toEqual([
      'assistant: Hello, how can I help?',
      'user: when do you open',
      'assistant: We are open.',
    ]);
  });

  it("is left alone while another node's hold lasts", async () => {
    const room = await new ChatRoom(at).prepare(drinks);
    const chat = await room.create();
    const hold = { token: 'theirs', ms: 90_000, idleMs: 1_000 };
    await at.store.textChats.take(chat.run.id, chat.revision, hold, {
      id: 'turn_x',
      userText: 'x',
    });
    await at.sql("update text_chats set hold_node = 'another'");
    expect((await room.read(chat)).status).toBe('pending_assistant_turn');
    at.clock.advance(90_000);
    expect((await room.read(chat)).status).toBe('error');
    expect((await room.say(chat, 'tea')).status).toBe('completed');
  });

  it('before the outcome was stored is finished by whoever looks after it', async () => {
    const room = await new ChatRoom(at).prepare(drinks);
    const chat = await room.create();
    const store = {
      ...at.store,
      runs: { ...at.store.runs, patch: () => Promise.reject(new Error()) },
    };
    const closing = new RunClosing({ ...room.deps, store, files: at.store.files });
    const dying = new TextChats({ ...room.deps, store, closing });
    const done = await dying.end(room.idOf(chat), null);
    expect([done.status, done.run.state]).toEqual(['completed', 'running']);
    at.clock.advance(60_000);
    room.chats.start();
    await until(async () => (await room.read(chat)).run.state === 'completed');
    await room.chats.stop();
  });
});

describe('a turn that takes too long', () => {
  it('fails, counts for nothing, and may be sent again', async () => {
    const llm = new ScriptedModel(at.clock);
    const room = await withModel(llm);
    const opened = await room.create();
    // Words without end: the first one comes in time.
    llm.answers = [{ say: Array.from({ length: 1_000 }, () => 'and '), stepMs: 1_000 }];
    const late = expect(room.say(opened, 'tell me everything')).rejects.toMatchObject({
      code: 'TEXT_CHAT_TURN_FAILED',
    });
    await until(() => llm.requests.length > 0);
    at.clock.advance(TURN_MS_MAX);
    await late;
    expect(llm.aborted).toBe(1);
    const found = await room.read(opened);
    expect(found).toMatchObject({
      status: 'error',
      state: opened.state,
      turns: [{}, { status: 'failed' }],
    });
    llm.answers = [{ say: ['In short: yes.'], stepMs: 0 }];
    const next = await atThisMoment(at.clock, room.say(opened, 'in short'));
    expect(next).toMatchObject({ status: 'idle' });
    expect(next.turns.at(-1)?.assistantText).toBe('In short: yes.');
  });

  it('is cut short when the process stops', async () => {
    const llm = new ScriptedModel(at.clock);
    const room = await withModel(llm);
    const opened = await room.create();
    llm.answers = [{ hangs: true }];
    const cut = expect(room.say(opened, 'hello')).rejects.toMatchObject({
      code: 'GATEWAY_DRAINING',
    });
    await until(() => llm.requests.length > 0);
    const stopping = room.chats.stop();
    at.clock.advance(5_000);
    await stopping;
    await cut;
    await expect(room.create()).rejects.toMatchObject({ code: 'GATEWAY_DRAINING' });
  });
});
