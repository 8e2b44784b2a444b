// Calls led by a language model, which is dead, slow, wordless or overtaken by the caller; and ends
// that are asked for from several sides. Source: contract §8.1-§8.5.

import { describe, expect, it } from 'vitest';
import { modelTokens } from '../../../src/metrics/metrics.ts';
import { type CallRoom, chat, withCallRoom } from '../call-harness.ts';
import { ScriptedModel } from '../scripted-model.ts';

const held = withCallRoom();

async function withModel(settings = {}): Promise<{ room: CallRoom; llm: ScriptedModel }> {
  const { room } = held;
  const llm = new ScriptedModel(room.clock);
  room.deps.services.llm = llm;
  await room.prepare(chat, settings);
  return { room, llm };
}

describe('a call led by a model', () => {
  it('is led to its end, and its tokens are counted', async () => {
    const { room, llm } = await withModel();
    llm.answers = [
      { say: ['We open ', 'at nine.'] },
      { say: ['Goodbye and thank you.'], call: 'finish' },
    ];
    const { stream, run } = await room.inboundCall();
    await room.heardOut(stream);
    await room.says(stream, 'when do you open');
    await room.heardOut(stream);
    await room.says(stream, 'thanks, that was all');
    await room.heardOut(stream);
    const done = await room.ended(run);
    expect(done.disposition).toBe('user_qualified');
    expect(await room.transcript(done)).toEqual([
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
    const events = (await room.events(run)).map(({ body }) => body.type);
    expect(events).toContain('function.called');
    expect(stream.farEnd.clears).toBe(0);
    expect(room.hangUps).toHaveLength(1);
  });

  it('that is dead tells the caller so and ends politely', async () => {
    const { room, llm } = await withModel();
    llm.answers = [{ fails: 'LLM_FAILED' }];
    const { stream, run } = await room.inboundCall();
    await room.heardOut(stream);
    await room.says(stream, 'when do you open');
    await room.heardOut(stream);
    expect(room.tts.asked.join(' ')).toContain('having some trouble');
    await room.says(stream, 'hello');
    await room.heardOut(stream);
    const done = await room.ended(run);
    expect(done.disposition).toBe('pipeline_error');
    expect((await room.transcript(done)).at(-1)).toMatch(/technical problem\. Goodbye\.$/);
    expect(stream.farEnd.clears).toBe(0);
    expect(await room.bodies(run, 'fault')).toMatchObject([
      { code: 'LLM_FAILED', fatal: false },
      { code: 'LLM_FAILED', fatal: false },
    ]);
  });

  it('that never answers does not leave the caller in silence', async () => {
    const { room, llm } = await withModel();
    llm.answers = [{ hangs: true }];
    const { stream } = await room.inboundCall();
    await room.heardOut(stream);
    await room.says(stream, 'when do you open');
    await room.passUntil(() => llm.spoken.length === 1);
    await room.passUntil(() => room.tts.asked.join(' ').includes('having some trouble'), 25_000);
    expect(llm.aborted).toBe(1);
  });

  it('that fails mid-answer has said what was heard', async () => {
    const { room, llm } = await withModel();
    llm.answers = [{ say: ['We open at nine. '], fails: 'LLM_TIMEOUT' }, { say: ['Bye.'] }];
    const { stream, run } = await room.inboundCall();
    await room.heardOut(stream);
    await room.says(stream, 'when do you open');
    await room.heardOut(stream);
    stream.hangUp();
    const done = await room.ended(run);
    expect(await room.transcript(done)).toContain('assistant: We open at nine.');
    expect(await room.bodies(run, 'fault')).toMatchObject([{ code: 'LLM_TIMEOUT' }]);
  });

  it('that answers with nothing asks the caller again', async () => {
    const { room, llm } = await withModel();
    llm.answers = [{ say: [] }];
    const { stream } = await room.inboundCall();
    await room.heardOut(stream);
    await room.says(stream, 'when do you open');
    await room.heardOut(stream);
    expect(room.tts.asked.join(' ')).toContain('could you say that again');
    expect(stream.open).toBe(true);
  });

  it('is not heard any more once the caller has spoken on', async () => {
    const { room, llm } = await withModel();
    llm.answers = [
      { say: ['Never heard.'], stepMs: 3_000 },
      { say: ['At nine.'] },
      { say: ['Bye.'] },
    ];
    const { stream, run } = await room.inboundCall();
    await room.heardOut(stream);
    await room.says(stream, 'when');
    await room.passUntil(() => llm.spoken.length === 1);
    await room.says(stream, 'when do you open');
    await room.passUntil(() => llm.spoken.length === 2);
    expect(llm.aborted).toBe(1);
    await room.heardOut(stream);
    stream.hangUp();
    const done = await room.ended(run);
    expect((await room.transcript(done)).join('\n')).not.toContain('Never heard');
    expect(room.tts.asked).not.toContain('Never heard.');
  });

  it('has its request closed when the caller hangs up', async () => {
    const { room, llm } = await withModel();
    llm.answers = [{ hangs: true }];
    const { stream, run } = await room.inboundCall();
    await room.heardOut(stream);
    await room.says(stream, 'when do you open');
    await room.passUntil(() => llm.spoken.length === 1);
    stream.hangUp();
    expect((await room.ended(run)).disposition).toBe('user_hangup');
    expect(llm.aborted).toBe(1);
  });
});

describe('the end of a call', () => {
  it('asked for from several sides at once comes once', async () => {
    const { room, llm } = await withModel();
    llm.answers = [{ say: ['Goodbye and thank you.'], call: 'finish' }];
    const { stream, run } = await room.inboundCall();
    await room.heardOut(stream);
    await room.says(stream, 'that was all');
    await room.passUntil(() => stream.frames > stream.framesAwaited);
    await Promise.all([
      room.switchboard.drain(0),
      room.status(run.id, 'CallStatus=completed&SequenceNumber=3'),
      room.status(run.id, 'CallStatus=completed&SequenceNumber=4'),
    ]);
    stream.hangUp();
    await room.ended(run);
    await room.pass(5_000);
    expect(await room.bodies(run, 'call.ended')).toHaveLength(1);
    expect(await room.bodies(run, 'recording.finished')).toHaveLength(1);
    expect(room.hangUps.length).toBeLessThanOrEqual(1);
    expect(room.errors).toEqual([]);
  });

  it.each(['hang', 'reset', { status: 500, body: {} }] as const)(
    'goes on when the hang-up fails (%j)',
    async (answer) => {
      const { room, llm } = await withModel();
      llm.answers = [{ say: ['Goodbye.'], call: 'finish' }];
      const { stream, run } = await room.inboundCall();
      await room.heardOut(stream);
      await room.says(stream, 'that was all');
      room.rest.answer = answer;
      await room.heardOut(stream);
      await room.until(() => room.hangUps.length === 1);
      if (answer === 'hang') await room.pass(5_100);
      const done = await room.ended(run);
      expect(done.disposition).toBe('user_qualified');
      expect(stream.closed?.code).toBe(1000);
      expect(room.errors.map(({ step }) => step)).toEqual(['hang up']);
    },
  );

  it('goes on when the recording, its look-up and the transcript fail', async () => {
    const { room } = await withModel();
    room.deps.files.create = () =>
      Promise.resolve({
        append: () => true,
        skip: () => undefined,
        patch: () => true,
        size: 0,
        lostBytes: 0,
        error: undefined,
        close: () => new Promise<void>(() => undefined),
      });
    room.deps.files.stat = () => Promise.reject(new Error('EACCES'));
    room.deps.files.write = () => Promise.reject(new Error('ENOSPC'));
    const { stream, run } = await room.inboundCall();
    await room.heardOut(stream);
    stream.hangUp();
    await room.pass(5_100);
    const done = await room.ended(run);
    expect(done).toMatchObject({ disposition: 'user_hangup', transcriptKey: null });
    expect(room.errors.map(({ step }) => step)).toContain('close the audio');
  });
});
