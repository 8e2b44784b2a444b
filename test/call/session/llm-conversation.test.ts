// Calls led by a language model, which is dead, slow, wordless or overtaken by the caller; and ends
// that are asked for from several sides. Source: contract §8.1-§8.5.

import { describe, expect, it } from 'vitest';
import { modelTokens } from '../../../src/metrics/speech-metrics.ts';
import { type CallHarness, chat, withCallHarness } from '../call-harness.ts';
import { type Answer, ScriptedModel } from '../scripted-model.ts';

const held = withCallHarness();

async function withModel(settings = {}): Promise<{ harness: CallHarness; llm: ScriptedModel }> {
  const { harness } = held;
  const llm = new ScriptedModel(harness.clock);
  harness.speech.llm = llm;
  await harness.prepare(chat, settings);
  return { harness, llm };
}

describe('a call led by a model', () => {
  it('is led to its end, and its tokens are counted', async () => {
    const { harness, llm } = await withModel();
    llm.answers = [
      { say: ['We open ', 'at nine.'] },
      { say: ['Goodbye and thank you.'], call: 'finish' },
    ];
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    await harness.says(stream, 'when do you open');
    await harness.heardOut(stream);
    await harness.says(stream, 'thanks, that was all');
    await harness.heardOut(stream);
    const done = await harness.ended(run);
    expect(done.disposition).toBe('user_qualified');
    expect(await harness.transcript(done)).toEqual([
      'assistant: Hello, how can I help?',
      'user: when do you open',
      'assistant: We open at nine.',
      'user: thanks, that was all',
      'assistant: Goodbye and thank you.',
    ]);
    expect(done.usageInfo).toMatchObject({
      llm: {
        'scripted-model|||test': {
          prompt_tokens: 200,
          completion_tokens: 20,
          total_tokens: 220,
          cache_read_input_tokens: 80,
        },
      },
    });
    // Metrics are the service's own business.
    const { values } = await modelTokens.get();
    expect(values.filter(({ labels }) => labels.service === llm.name)).toEqual([]);
    const events = (await harness.events(run)).map(({ body }) => body.type);
    expect(events).toContain('function.called');
    expect(stream.farEnd.clears).toBe(0);
    expect(harness.hangUps).toHaveLength(1);
  });

  it('that cannot be reached leads to an apology and a polite end', async () => {
    const { harness, llm } = await withModel();
    llm.answers = [{ fails: 'LLM_FAILED' }];
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    await harness.says(stream, 'when do you open');
    await harness.heardOut(stream);
    const said = (await harness.bodies(run, 'agent.said')).map(({ text }) => text);
    expect(said.at(-1)).toContain('having some trouble');
    await harness.says(stream, 'hello');
    await harness.heardOut(stream);
    const done = await harness.ended(run);
    expect(done.disposition).toBe('pipeline_error');
    expect((await harness.transcript(done)).at(-1)).toMatch(/technical problem\. Goodbye\.$/);
    expect(stream.farEnd.clears).toBe(0);
    expect(await harness.bodies(run, 'fault')).toMatchObject([
      { code: 'LLM_FAILED', fatal: false },
      { code: 'LLM_FAILED', fatal: false },
    ]);
  });

  it('that refuses a sentence answers the next question', async () => {
    const { harness, llm } = await withModel();
    llm.answers = [{ say: ['We open at nine.'] }];
    llm.refuses = /attempt it again/;
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    for (const text of ['hello there', 'I plan to attempt it again', 'what are your hours']) {
      await harness.says(stream, text);
      await harness.heardOut(stream);
    }
    stream.hangUp();
    const done = await harness.ended(run);
    expect(done.disposition).toBe('user_hangup');
    expect((await harness.transcript(done)).slice(1)).toEqual([
      'user: hello there',
      'assistant: We open at nine.',
      'user: I plan to attempt it again',
      "assistant: I'm sorry, I can't talk about that. What else can I do for you?",
      'user: what are your hours',
      'assistant: We open at nine.',
    ]);
    expect(await harness.bodies(run, 'fault')).toMatchObject([{ code: 'LLM_REFUSED' }]);
  });

  it('that never answers does not leave the caller in silence', async () => {
    const { harness, llm } = await withModel();
    llm.answers = [{ hangs: true }];
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    await harness.says(stream, 'when do you open');
    await harness.passUntil(() => llm.spoken.length === 1);
    await harness.passUntil(() => llm.aborted === 1, 25_000);
    await harness.heardOut(stream);
    const said = (await harness.bodies(run, 'agent.said')).map(({ text }) => text);
    expect(said.at(-1)).toContain('having some trouble');
    expect(said).toContain("Thank you for waiting. I'm still working on it.");
  });

  it('that fails mid-answer is asked for the rest', async () => {
    const { harness, llm } = await withModel();
    llm.answers = [{ say: ['We open at nine. '], fails: 'LLM_TIMEOUT' }, { say: ['Bye.'] }];
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    await harness.says(stream, 'when do you open');
    await harness.heardOut(stream);
    stream.hangUp();
    const done = await harness.ended(run);
    expect(await harness.transcript(done)).toContain('assistant: We open at nine. Bye.');
    expect(llm.spoken.at(-1)?.messages.slice(-2)).toMatchObject([
      { role: 'assistant', content: 'We open at nine.' },
      { role: 'user', content: expect.stringContaining('cut off') },
    ]);
    expect(await harness.bodies(run, 'fault')).toMatchObject([{ code: 'LLM_TIMEOUT' }]);
  });

  it('that answers with nothing asks the caller again', async () => {
    const { harness, llm } = await withModel();
    llm.answers = [{ say: [] }];
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    await harness.says(stream, 'when do you open');
    await harness.heardOut(stream);
    const said = (await harness.bodies(run, 'agent.said')).map(({ text }) => text);
    expect(said.at(-1)).toContain('could you say that again');
    expect(stream.open).toBe(true);
  });

  it('is not heard any more once the caller has spoken on', async () => {
    const { harness, llm } = await withModel();
    llm.answers = [
      { say: ['Never heard.'], stepMs: 3_000 },
      { say: ['At nine.'] },
      { say: ['Bye.'] },
    ];
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    await harness.says(stream, 'when');
    await harness.passUntil(() => llm.spoken.length === 1);
    await harness.says(stream, 'when do you open');
    await harness.passUntil(() => llm.spoken.length === 2);
    expect(llm.aborted).toBe(1);
    await harness.heardOut(stream);
    stream.hangUp();
    const done = await harness.ended(run);
    expect((await harness.transcript(done)).join('\n')).not.toContain('Never heard');
    expect(harness.tts.asked).not.toContain('Never heard.');
  });

  it('has its request closed when the caller hangs up', async () => {
    const { harness, llm } = await withModel();
    llm.answers = [{ hangs: true }];
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    await harness.says(stream, 'when do you open');
    await harness.passUntil(() => llm.spoken.length === 1);
    stream.hangUp();
    expect((await harness.ended(run)).disposition).toBe('user_hangup');
    expect(llm.aborted).toBe(1);
  });
});

describe('the end of a call', () => {
  it('asked for from several sides at once comes once', async () => {
    const { harness, llm } = await withModel();
    llm.answers = [{ say: ['Goodbye and thank you.'], call: 'finish' }];
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    await harness.says(stream, 'that was all');
    await harness.passUntil(() => stream.frames > stream.framesAwaited);
    await Promise.all([
      harness.callControl.drain(0),
      harness.status(run.id, 'CallStatus=completed&SequenceNumber=3'),
      harness.status(run.id, 'CallStatus=completed&SequenceNumber=4'),
    ]);
    stream.hangUp();
    await harness.ended(run);
    await harness.pass(5_000);
    expect(await harness.bodies(run, 'call.ended')).toHaveLength(1);
    expect(await harness.bodies(run, 'recording.finished')).toHaveLength(1);
    expect(harness.hangUps.length).toBeLessThanOrEqual(1);
    expect(harness.errors).toEqual([]);
  });

  it.each(['hang', 'reset', { status: 500, body: {} }] as const)(
    'goes on when the hang-up fails (%j)',
    async (answer) => {
      const { harness, llm } = await withModel();
      llm.answers = [{ say: ['Goodbye.'], call: 'finish' }];
      const { stream, run } = await harness.inboundCall();
      await harness.heardOut(stream);
      await harness.says(stream, 'that was all');
      harness.rest.answer = answer;
      await harness.heardOut(stream);
      await harness.until(() => harness.hangUps.length === 1);
      // Closing the recording takes no time on the fake clock.
      const recordings = () => harness.bodies(run, 'recording.finished');
      await harness.until(async () => (await recordings()).length === 1);
      // The request is repeated meanwhile.
      await harness.pass(5_100);
      const done = await harness.ended(run);
      expect(done.disposition).toBe('user_qualified');
      expect(stream.closed?.code).toBe(1000);
      expect(harness.errors.map(({ step }) => step)).toEqual(['hang up']);
    },
  );

  it('continues when the recording, its look-up and the transcript fail', async () => {
    const { harness } = await withModel();
    harness.deps.files.create = () =>
      Promise.resolve({
        append: () => true,
        skip: () => undefined,
        patch: () => true,
        size: 0,
        lostBytes: 0,
        error: undefined,
        close: () => new Promise<void>(() => undefined),
      });
    harness.deps.files.stat = () => Promise.reject(new Error('EACCES'));
    harness.deps.files.write = () => Promise.reject(new Error('ENOSPC'));
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    stream.hangUp();
    await harness.pass(5_100);
    const done = await harness.ended(run);
    expect(done).toMatchObject({ disposition: 'user_hangup', transcriptKey: null });
    expect(harness.errors.map(({ step }) => step)).toContain('close the audio');
  });
});

describe('words that come when their turn was reported', () => {
  const late = async (first: Answer) => {
    const { harness, llm } = await withModel();
    llm.answers = [first, { say: ['It is cancelled.'] }];
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    harness.stt.finalMs = 2_000;
    await harness.says(stream, 'cancel my order');
    harness.stt.understand('cancel my order today', { silently: true });
    await harness.pass(2_800);
    await harness.heardOut(stream);
    stream.hangUp();
    const said = await harness.transcript(await harness.ended(run));
    expect(harness.errors).toEqual([]);
    return { said: said.slice(1), llm };
  };

  it('are asked with it in place of it, while the model has said nothing', async () => {
    const { said, llm } = await late({ hangs: true });
    expect(said).toEqual([
      'user: cancel my order',
      'user: today',
      'assistant: Just a moment.',
      'assistant: It is cancelled.',
    ]);
    expect([llm.spoken.length, llm.aborted]).toEqual([2, 1]);
    const asked = JSON.stringify(llm.spoken[1]?.messages);
    expect(asked.match(/cancel my order|today/g)).toEqual(['cancel my order', 'today']);
  });

  it('are in the transcript, and asked with no answer, once the agent has answered', async () => {
    const { said, llm } = await late({ say: ['Which one?'] });
    expect(said.toSorted()).toEqual([
      'assistant: Which one?',
      'user: cancel my order',
      'user: today',
    ]);
    expect(llm.spoken.length).toBe(1);
  });
});
