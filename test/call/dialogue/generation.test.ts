import { describe, expect, it } from 'vitest';
import { Generation } from '../../../src/call/dialogue/generation.ts';
import type { CallEventBody } from '../../../src/model/call-event.ts';
import type { LlmMessage } from '../../../src/model/llm-message.ts';
import { FakeClock, settle } from '../../fakes/fake-clock.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import { ScriptedModel } from '../scripted-model.ts';

const nothing = () => undefined;

describe('the tokens of a request', () => {
  it('count once if its whole answer was there ahead, and it is abandoned as soon as it begins', async () => {
    const clock = new FakeClock();
    const llm = new ScriptedModel(clock);
    llm.answers = [{ say: ['At nine.'] }];
    const usage: CallEventBody[] = [];
    const generation = new Generation({
      ...{ llm, clock, log: quietLog().log, callSignal: new AbortController().signal },
      listener: {
        ...{ onAnswer: nothing, onFailure: nothing, onExtracted: nothing },
        ...{ onExtractionFailure: nothing, onFault: nothing, onBroken: nothing },
        onUsage: (event) => usage.push(event),
      },
    });
    const messages: LlmMessage[] = [{ role: 'user', content: 'when do you open' }];
    generation.speculate({ messages, tools: [], nodeId: 'talk' });
    clock.advance(1_000);
    await settle();
    generation.start(
      {
        ...{ type: 'generate', requestId: 1, utteranceId: 1, messages, tools: [] },
        ...{ kind: 'reply', interruptible: true },
      },
      { text: nothing, end: nothing, cancel: nothing },
      'talk',
    );
    generation.abandon(1);
    await settle();
    expect(usage.map(({ type }) => type)).toEqual(['model.usage']);
  });
});

describe('an answer that breaks off', () => {
  it.each([
    ['Your room is bo', 'booked.', 'Your room is booked.'],
    ['您的房间已经预', '预订好了。', '您的房间已经预订好了。'],
    ['您好。您的房间', '房间已经预订好了。', '您好。您的房间已经预订好了。'],
    ['ห้องของคุณจอ', 'จองแล้ว', 'ห้องของคุณ จองแล้ว'],
  ])('after %j goes on with %j, without its last word', async (said, rest, whole) => {
    const clock = new FakeClock();
    const llm = new ScriptedModel(clock);
    llm.answers = [{ say: [said], fails: 'LLM_FAILED' }, { say: [rest] }];
    const answers: string[] = [];
    const generation = new Generation({
      ...{ llm, clock, log: quietLog().log, callSignal: new AbortController().signal },
      listener: {
        ...{ onFailure: nothing, onExtracted: nothing, onUsage: nothing },
        ...{ onExtractionFailure: nothing, onFault: nothing, onBroken: nothing },
        onAnswer: (...given) => answers.push(JSON.stringify(given)),
      },
    });
    const messages: LlmMessage[] = [{ role: 'user', content: 'go on' }];
    generation.start(
      {
        ...{ type: 'generate', requestId: 1, utteranceId: 1, messages, tools: [] },
        ...{ kind: 'reply', interruptible: true },
      },
      { text: nothing, end: nothing, cancel: nothing },
      'talk',
    );
    for (let step = 0; step < 10; step++) {
      clock.advance(20);
      await settle();
    }
    expect(answers.join()).toContain(JSON.stringify(whole));
  });
});
