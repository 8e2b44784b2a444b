// Conversations in writing that a model leads, and what goes wrong in them: a dead model, a slow one, a
// kill. Source: contract §11.1, §8.3.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { textChatsOf } from '../../../src/app/call-parts.ts';
import { TURN_MS_MAX } from '../../../src/call/chat/text-chat-work.ts';
import { RunClosing } from '../../../src/call/end/closing/run-closing.ts';
import type { LanguageModel } from '../../../src/speech/llm/llm.ts';
import { openLanguageModel } from '../../../src/speech/vendors/llm-registry.ts';
import { systemClock } from '../../../src/std/clock.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import {
  calls,
  type FakeOpenAiServer,
  failure,
  says,
  startOpenAiServer,
} from '../../fakes/services/openai-server.ts';
import { withStore } from '../../store/engines.ts';
import { drinks, chat as talk } from '../call-harness.ts';
import { ScriptedModel } from '../scripted-model.ts';
import { atThisMoment, ChatHarness, until, wordsOf } from './text-chat-harness.ts';

const at = withStore();

async function withModel(llm: LanguageModel): Promise<ChatHarness> {
  return new ChatHarness(at, llm).prepare(talk);
}

describe('a chat that a model leads', () => {
  let server: FakeOpenAiServer;
  let llm: LanguageModel;
  beforeEach(async () => {
    server = await startOpenAiServer();
    const settings = { provider: 'openai' as const, model: 'test-model' };
    const model = openLanguageModel([{ ...settings, base_url: server.baseUrl }], {
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
    const harness = await withModel(llm);
    const opened = await harness.create();
    expect(wordsOf(opened)).toEqual([[null, 'Hello, how can I help?']]);
    server.script(calls('go_on', {}, { text: 'One moment.' }), says('What else?'));
    const moved = await harness.say(opened, 'tell me more');
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
    const done = await harness.say(moved, 'that was all');
    expect(done.run).toMatchObject({ state: 'completed', disposition: 'user_qualified' });
    expect(await harness.transcript(done)).toEqual([
      'assistant: Hello, how can I help?',
      'user: tell me more',
      'assistant: One moment.',
      'assistant: What else?',
      'user: that was all',
      'assistant: Goodbye.',
    ]);
  });

  it('counts what the model cost in turns that were taken back', async () => {
    const harness = await withModel(llm);
    const opened = await harness.create();
    server.script(says('First.'), says('Second.'));
    const first = await harness.say(opened, 'one');
    const back = await harness.rewind(first, opened.turns[0]?.id ?? '');
    const done = await harness.end(await harness.say(back, 'two'));
    expect(done.run.usageInfo).toMatchObject({
      llm: { 'openai|||test-model': { prompt_tokens: 24 } },
    });
    expect(await harness.transcript(done)).not.toContain('user: one');
  });

  it('says so when the model fails, and goes on', async () => {
    const harness = await withModel(llm);
    const opened = await harness.create();
    server.otherwise(() => failure(400, { message: 'no' }));
    const failed = await harness.say(opened, 'hello');
    expect(failed.turns.at(-1)?.assistantText).toContain('having some trouble');
    expect(failed.turns.at(-1)?.events.map(({ type }) => type)).toContain('rtf-pipeline-error');
    const over = await harness.say(failed, 'hello again');
    expect(over.run).toMatchObject({ state: 'completed', disposition: 'pipeline_error' });
  });
});

describe('a chat that was killed in the middle of a turn', () => {
  it('is usable after the restart: the turn has failed, nothing of it counts', async () => {
    const llm = new ScriptedModel(at.clock);
    const harness = await withModel(llm);
    harness.deps.clock = new FakeClock(at.clock.now()); // It stands still from here on.
    const opened = await harness.create();
    llm.answers = [{ hangs: true }];
    const lost = harness.say(opened, 'are you there');
    lost.catch(() => undefined); // Its process is gone.
    await until(() => llm.requests.length > 0);
    expect((await harness.read(opened)).status).toBe('pending_assistant_turn');
    await expect(harness.say(opened, 'hello?')).rejects.toMatchObject({
      code: 'TEXT_CHAT_CONFLICT',
    });
    await harness.deps.events.flush();
    harness.restart();
    const found = await harness.read(opened);
    expect(found).toMatchObject({
      status: 'error',
      hold: null,
      state: opened.state,
      turns: [{}, { status: 'failed', userText: 'are you there', assistantText: null }],
    });
    llm.answers = [{ say: ['We are open.'], stepMs: 0 }];
    const next = await atThisMoment(at.clock, harness.say(opened, 'when do you open'));
    expect(next.turns.at(-1)?.assistantText).toBe('We are open.');
    const done = await atThisMoment(at.clock, harness.end(next));
    expect(await harness.transcript(done)).toEqual([
      'assistant: Hello, how can I help?',
      'user: when do you open',
      'assistant: We are open.',
    ]);
  });

  it("is left alone while another node's hold lasts", async () => {
    const harness = await new ChatHarness(at).prepare(drinks);
    const chat = await harness.create();
    const hold = { token: 'theirs', ms: 90_000, idleMs: 1_000 };
    await at.store.textChats.take(chat.run.id, chat.revision, hold, {
      id: 'turn_x',
      userText: 'x',
    });
    await at.sql("update text_chats set hold_node = 'another'");
    expect((await harness.read(chat)).status).toBe('pending_assistant_turn');
    at.clock.advance(90_000);
    expect((await harness.read(chat)).status).toBe('error');
    expect((await harness.say(chat, 'tea')).status).toBe('completed');
  });

  it('before the outcome was stored is finished by the next process that claims it', async () => {
    const harness = await new ChatHarness(at).prepare(drinks);
    const chat = await harness.create();
    const store = {
      ...at.store,
      runs: { ...at.store.runs, patch: () => Promise.reject(new Error()) },
    };
    const closing = new RunClosing({ ...harness.deps, store, files: at.store.files });
    const dying = textChatsOf({ ...harness.deps, store, closing });
    const done = await dying.end(harness.idOf(chat), null);
    expect([done.status, done.run.state]).toEqual(['completed', 'running']);
    at.clock.advance(60_000);
    harness.chats.start();
    await until(async () => (await harness.read(chat)).run.state === 'completed');
    await harness.chats.stop();
  });
});

describe('a turn that takes too long', () => {
  it('fails, counts for nothing, and may be sent again', async () => {
    const llm = new ScriptedModel(at.clock);
    const harness = await withModel(llm);
    const opened = await harness.create();
    // Words without end: the first one comes in time.
    llm.answers = [{ say: Array.from({ length: 1_000 }, () => 'and '), stepMs: 1_000 }];
    const late = expect(harness.say(opened, 'tell me everything')).rejects.toMatchObject({
      code: 'TEXT_CHAT_TURN_FAILED',
    });
    await until(() => llm.requests.length > 0);
    at.clock.advance(TURN_MS_MAX);
    await late;
    expect(llm.aborted).toBe(1);
    const found = await harness.read(opened);
    expect(found).toMatchObject({
      status: 'error',
      state: opened.state,
      turns: [{}, { status: 'failed' }],
    });
    llm.answers = [{ say: ['In short: yes.'], stepMs: 0 }];
    const next = await atThisMoment(at.clock, harness.say(opened, 'in short'));
    expect(next).toMatchObject({ status: 'idle' });
    expect(next.turns.at(-1)?.assistantText).toBe('In short: yes.');
  });

  it('is cut short when the process stops', async () => {
    const llm = new ScriptedModel(at.clock);
    const harness = await withModel(llm);
    const opened = await harness.create();
    llm.answers = [{ hangs: true }];
    const cut = expect(harness.say(opened, 'hello')).rejects.toMatchObject({
      code: 'GATEWAY_DRAINING',
    });
    await until(() => llm.requests.length > 0);
    const stopping = harness.chats.stop();
    at.clock.advance(5_000);
    await stopping;
    await cut;
    await expect(harness.create()).rejects.toMatchObject({ code: 'GATEWAY_DRAINING' });
  });
});
