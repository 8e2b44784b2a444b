// A model that is asked before the end of the caller's turn is certain: what is saved, what is held back, what is dropped.

import { describe, expect, it } from 'vitest';
import { speculations } from '../../../src/metrics/metrics.ts';
import type { Run } from '../../../src/model/run.ts';
import { framesOf } from '../../fakes/call/spoken-words.ts';
import { RecognizingService } from '../../fakes/services/recognizing-service.ts';
import { type CallHarness, chat, withCallHarness } from '../call-harness.ts';
import { type Answer, ScriptedModel } from '../scripted-model.ts';
import type { Stream } from '../stream.ts';

const held = withCallHarness();

/** After the last word, as a service that is asked for early ends has it. */
const EAGER_MS = 200;
const END_MS = 500;
/** Milliseconds to the model's first token. */
const FIRST_TOKEN_MS = 400;

interface Talk {
  harness: CallHarness;
  llm: ScriptedModel;
  stream: Stream;
  run: Run;
}

async function talk(answers: Answer[], eagerAfterMs?: number): Promise<Talk> {
  const { harness } = held;
  const { clock } = harness;
  const llm = new ScriptedModel(clock);
  llm.answers = answers;
  harness.speech.llm = llm;
  harness.speech.stt = new RecognizingService({
    clock,
    name: 'eager',
    endsAfterMs: END_MS,
    ...(eagerAfterMs !== undefined && { eagerAfterMs }),
    capabilities: { ownTurns: 'eager' },
  });
  await harness.prepare(chat);
  const { stream, run } = await harness.inboundCall();
  await harness.heardOut(stream);
  speculations.reset();
  return { harness, llm, stream, run };
}

/** The caller says it, and has finished. */
async function says({ harness, stream }: Talk, text: string): Promise<void> {
  const frames = framesOf(text, 60);
  stream.sound = Int16Array.from(frames.flatMap((frame) => [...frame]));
  await harness.passUntil(() => stream.sound.length < 160);
}

async function ended({ harness, stream, run }: Talk): Promise<string[]> {
  stream.hangUp();
  return harness.transcript(await harness.ended(run));
}

async function outcomes(): Promise<Record<string, number>> {
  const { values } = await speculations.get();
  return Object.fromEntries(values.map(({ labels, value }) => [labels.outcome, value]));
}

const REPLY: Answer = { say: ['We open at nine.'], stepMs: FIRST_TOKEN_MS };

describe('an answer that is asked for early', () => {
  // The figures of docs/services.md.
  it.each([
    ['without it', undefined, 1_288],
    ['with it', EAGER_MS, 988],
  ])('saves the caller the time between the two ends: %s', async (_how, eagerAfterMs, totalMs) => {
    const call = await talk([REPLY], eagerAfterMs);
    await says(call, 'w1 w2');
    await call.harness.heardOut(call.stream);
    const latencies = await call.harness.bodies(call.run, 'turn.latency');
    expect(latencies.map(({ parts }) => parts.totalMs)).toEqual([totalMs]);
    expect(call.llm.spoken.length).toBe(1);
    expect(await ended(call)).toEqual([
      'assistant: Hello, how can I help?',
      'user: w1 w2',
      'assistant: We open at nine.',
    ]);
  });

  it('is not heard before the turn has ended', async () => {
    const call = await talk([{ say: ['We open at nine.'], stepMs: 20 }], EAGER_MS);
    await says(call, 'w1 w2');
    await call.harness.passUntil(() => call.llm.spoken.length === 1);
    const before = call.stream.frames;
    await call.harness.pass(END_MS - EAGER_MS - 60);
    expect(call.stream.frames).toBe(before);
    await call.harness.heardOut(call.stream);
    expect(await outcomes()).toEqual({ used: 1 });
    expect(await ended(call)).toContain('assistant: We open at nine.');
  });

  it('is dropped when the caller goes on, counted, and not in the transcript', async () => {
    const wrong: Answer = { say: Array.from({ length: 40 }, () => 'Wrong. '), stepMs: 60 };
    const call = await talk([wrong, REPLY], EAGER_MS);
    await says(call, 'w1 w2');
    await call.harness.pass(260);
    await says(call, 'w3');
    await call.harness.heardOut(call.stream);
    expect(call.llm.aborted).toBe(1);
    expect(await outcomes()).toEqual({ withdrawn: 1, used: 1 });
    const usage = await call.harness.bodies(call.run, 'model.usage');
    expect(usage.map(({ isEstimated = false }) => isEstimated)).toEqual([true, false]);
    expect(usage[0]?.promptTokens).toBeGreaterThan(0);
    expect(usage[0]?.completionTokens).toBeGreaterThan(0);
    expect(await ended(call)).toEqual([
      'assistant: Hello, how can I help?',
      'user: w1 w2 w3',
      'assistant: We open at nine.',
    ]);
    expect(call.llm.spoken.at(-1)?.messages.at(-1)).toMatchObject({ content: 'w1 w2 w3' });
  });

  it('holds its function calls back, and counts the answer by the service’s count', async () => {
    const moving: Answer = { say: ['Sure.'], call: 'go_on', stepMs: 20 };
    const call = await talk([moving, REPLY], EAGER_MS);
    await says(call, 'w1 w2');
    await call.harness.passUntil(() => call.llm.spoken.length === 1);
    await call.harness.pass(120);
    // The answer with its call is whole.
    await says(call, 'w3');
    await call.harness.heardOut(call.stream);
    expect(await call.harness.bodies(call.run, 'node.entered')).toHaveLength(1);
    const usage = await call.harness.bodies(call.run, 'model.usage');
    expect(usage.map(({ promptTokens, isEstimated }) => [promptTokens, isEstimated])).toEqual([
      [100, undefined],
      [100, undefined],
    ]);
    await ended(call);
  });

  it('carries its function calls out once the turn has ended', async () => {
    const moving: Answer = { say: ['Sure.'], call: 'go_on', stepMs: 20 };
    const call = await talk([moving, REPLY], EAGER_MS);
    await says(call, 'w1 w2');
    await call.harness.heardOut(call.stream);
    expect(await call.harness.bodies(call.run, 'node.entered')).toHaveLength(2);
    expect(await outcomes()).toEqual({ used: 1 });
    await ended(call);
  });

  it('is asked for again when it fails: its fault is none of the call', async () => {
    const call = await talk([{ fails: 'LLM_FAILED', stepMs: 20 }, REPLY], EAGER_MS);
    await says(call, 'w1 w2');
    await call.harness.heardOut(call.stream);
    expect(await outcomes()).toEqual({ failed: 1 });
    expect(await call.harness.bodies(call.run, 'fault')).toEqual([]);
    expect(await ended(call)).toContain('assistant: We open at nine.');
  });

  it('is aborted when the caller hangs up, and counted', async () => {
    const call = await talk([{ hangs: true }], EAGER_MS);
    await says(call, 'w1 w2');
    await call.harness.passUntil(() => call.llm.spoken.length === 1);
    await ended(call);
    expect(call.llm.aborted).toBe(1);
    const usage = await call.harness.bodies(call.run, 'model.usage');
    expect(usage).toMatchObject([{ isEstimated: true, completionTokens: 0 }]);
  });
});
