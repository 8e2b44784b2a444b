import { describe, expect, it } from 'vitest';
import {
  Speculation,
  type SpeculativeRequest,
  type UsageReport,
} from '../../../../src/call/session/dialogue/speculation.ts';
import type { LlmMessage } from '../../../../src/model/llm-message.ts';
import { FakeClock, settle } from '../../../fakes/fake-clock.ts';
import { quietLog } from '../../../fakes/quiet-log.ts';
import { type Answer, ScriptedModel } from '../../scripted-model.ts';

function request(said: string, more: Partial<SpeculativeRequest> = {}): SpeculativeRequest {
  const messages: LlmMessage[] = [
    { role: 'system', content: 'It is 16:05:00.' },
    { role: 'user', content: said },
  ];
  return { nodeId: 'talk', messages, tools: [], ...more };
}

function rig(...answers: Answer[]) {
  const clock = new FakeClock();
  const llm = new ScriptedModel(clock);
  llm.answers = answers;
  const call = new AbortController();
  const usage: UsageReport[] = [];
  const speculation = new Speculation({
    llm,
    clock,
    log: quietLog().log,
    callSignal: call.signal,
    onUsage: (report) => usage.push(report),
  });
  const pass = async (ms: number) => {
    clock.advance(ms);
    await settle();
  };
  return { clock, llm, call, usage, speculation, pass };
}

const NEVER = new AbortController().signal;

describe('a speculation', () => {
  it('gives what has come at once, then the rest as it arrives', async () => {
    const { speculation, llm, pass } = rig({ say: ['We open ', 'at nine.'], stepMs: 100 });
    speculation.begin(request('when do you open'));
    await pass(150);
    const heard: string[] = [];
    const answer = speculation.take(request('When do you open?'));
    const whole = answer?.respond({ onText: (text) => heard.push(text) }, NEVER);
    expect(heard).toEqual(['We open ']);
    await pass(200);
    expect([heard, (await whole)?.text]).toEqual([['We open ', 'at nine.'], 'We open at nine.']);
    expect(llm.requests.length).toBe(1);
  });

  it.each([
    ['other words', request('when do you close')],
    ['another step of the agent', request('when do you open', { nodeId: 'bye' })],
    [
      'other functions',
      request('when do you open', { tools: [{ name: 'f', description: '', parameters: {} }] }),
    ],
    [
      'another conversation',
      request('', {
        messages: [...request('x').messages, ...request('when do you open').messages],
      }),
    ],
  ])('is not taken for %s', async (_what, other) => {
    const { speculation, llm, usage, pass } = rig({ hangs: true });
    speculation.begin(request('when do you open'));
    await pass(100);
    expect(speculation.take(other)).toBeUndefined();
    await settle();
    expect([llm.aborted, usage.length]).toEqual([1, 1]);
  });

  it('is not taken for words that differ in their vowel signs alone', () => {
    const { speculation } = rig({ hangs: true });
    speculation.begin(request('दो दिन'));
    expect(speculation.take(request('दे दिन'))).toBeUndefined();
  });

  it('is taken for the same words at another time in the prompt', () => {
    const { speculation } = rig({ hangs: true });
    speculation.begin(request('when do you open'));
    const [, said] = request('when do you open').messages;
    const prompt: LlmMessage = { role: 'system', content: 'It is 16:05:01.' };
    const messages = [prompt, ...(said === undefined ? [] : [said])];
    expect(speculation.take(request('', { messages }))).toBeDefined();
  });

  it('ends after 10 s without being used', async () => {
    const { speculation, llm, usage, pass } = rig({ hangs: true });
    speculation.begin(request('when do you open'));
    await pass(9_900);
    expect(llm.aborted).toBe(0);
    await pass(200);
    expect([llm.aborted, usage.length]).toEqual([1, 1]);
    expect(speculation.take(request('when do you open'))).toBeUndefined();
  });

  it('keeps 4,000 characters at most', async () => {
    const { speculation, llm, usage, pass } = rig({ say: ['x'.repeat(3_000), 'y'.repeat(3_000)] });
    speculation.begin(request('tell me everything'));
    await pass(20);
    expect(llm.aborted).toBe(0);
    await pass(20);
    expect(llm.aborted).toBe(1);
    expect(speculation.take(request('tell me everything'))).toBeUndefined();
    expect(usage.map(({ usage: { completionTokens } }) => completionTokens)).toEqual([1_500]);
  });

  it('ends with its request once that has taken it', async () => {
    const { speculation, llm, usage } = rig({ hangs: true });
    speculation.begin(request('when do you open'));
    const stop = new AbortController();
    const whole = speculation
      .take(request('when do you open'))
      ?.respond({ onText: () => undefined }, stop.signal);
    stop.abort(new Error('abandoned'));
    await expect(whole).rejects.toThrow('abandoned');
    expect([llm.aborted, usage]).toEqual([1, []]);
  });
});
