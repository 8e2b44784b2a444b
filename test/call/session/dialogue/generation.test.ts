import { describe, expect, it } from 'vitest';
import { Generation } from '../../../../src/call/session/dialogue/generation.ts';
import type { CallEventBody } from '../../../../src/model/call-event.ts';
import type { LlmMessage } from '../../../../src/model/llm-message.ts';
import { FakeClock, settle } from '../../../fakes/fake-clock.ts';
import { quietLog } from '../../../fakes/quiet-log.ts';
import { type Answer, ScriptedModel } from '../../scripted-model.ts';

const nothing = () => undefined;

describe('the tokens of a request', () => {
  it('count once if its whole answer was there ahead, and it is abandoned as soon as it begins', async () => {
    const clock = new FakeClock();
    const llm = new ScriptedModel(clock);
    llm.answers = [{ say: ['At nine.'] }];
    const usage: CallEventBody[] = [];
    const generation = new Generation({
      llm,
      clock,
      log: quietLog().log,
      callSignal: new AbortController().signal,
      cacheKey: 'workflow-7',
      listener: {
        onAnswer: nothing,
        onFailure: nothing,
        onExtracted: nothing,

        onExtractionFailure: nothing,
        onFault: nothing,
        onBroken: nothing,
        onUsage: (event) => usage.push(event),
      },
    });
    const messages: LlmMessage[] = [{ role: 'user', content: 'when do you open' }];
    generation.speculate({ messages, tools: [], nodeId: 'talk' });
    clock.advance(1_000);
    await settle();
    generation.start(
      {
        type: 'generate',
        requestId: 1,
        utteranceId: 1,
        messages,
        tools: [],

        kind: 'reply',
        interruptible: true,
      },
      { text: nothing, end: nothing, cancel: nothing },
      'talk',
    );
    generation.abandon(1);
    await settle();
    expect(usage.map(({ type }) => type)).toEqual(['model.usage']);
    expect(llm.requests.map(({ cacheKey }) => cacheKey)).toEqual(['workflow-7']);
  });
});

/** What the listener is given for an answer of which `said` came, and then `next` for the rest. */
async function answersTo(said: string, next: Answer): Promise<string> {
  const clock = new FakeClock();
  const llm = new ScriptedModel(clock);
  llm.answers = [{ say: [said], fails: 'LLM_FAILED' }, next];
  const answers: string[] = [];
  const generation = new Generation({
    llm,
    clock,
    log: quietLog().log,
    callSignal: new AbortController().signal,
    listener: {
      onFailure: nothing,
      onExtracted: nothing,
      onUsage: nothing,

      onExtractionFailure: nothing,
      onFault: nothing,
      onBroken: nothing,
      onAnswer: (...given) => answers.push(JSON.stringify(given)),
    },
  });
  const messages: LlmMessage[] = [{ role: 'user', content: 'go on' }];
  generation.start(
    {
      type: 'generate',
      requestId: 1,
      utteranceId: 1,
      messages,
      tools: [],

      kind: 'reply',
      interruptible: true,
    },
    { text: nothing, end: nothing, cancel: nothing },
    'talk',
  );
  for (let step = 0; step < 10; step++) {
    clock.advance(20);
    await settle();
  }
  return answers.join();
}

describe('an answer that breaks off', () => {
  it.each([
    ['Your room is bo', 'booked.', 'Your room is booked.'],
    ['您的房间已经预', '预订好了。', '您的房间已经预订好了。'],
    ['您好。您的房间', '房间已经预订好了。', '您好。您的房间已经预订好了。'],
    ['ห้องของคุณจอ', 'จองแล้ว', 'ห้องของคุณ จองแล้ว'],
  ])('after %j goes on with %j, without its last word', async (said, rest, whole) => {
    expect(await answersTo(said, { say: [rest] })).toContain(JSON.stringify(whole));
  });

  // "We are open Second try." was spoken as one sentence.
  it.each([
    ['We are open ', ['Second try.'], 'We are open… Second try.'],
    ['We are open ', [' ', 'Second ', 'try.'], 'We are open… Second try.'],
    ['We are open. ', ['Second try.'], 'We are open. Second try.'],
    ['Well, ', ['Anna is here.'], 'Well, Anna is here.'],
    ['Then you and ', ['I will see.'], 'Then you and I will see.'],
  ])('after %j does not run into a new sentence: %j', async (said, rest, whole) => {
    expect(await answersTo(said, { say: rest })).toContain(JSON.stringify(whole));
  });

  it.each(['We open at nine.', '我们九点营业。', 'हम नौ बजे खुलते हैं।', 'هل تريد موعدا؟', '"مرحبا۔"'])(
    '%j is whole where nothing more comes',
    async (said) => {
      const failing = { say: [], fails: 'LLM_FAILED' } as const;
      expect(await answersTo(`${said} `, failing)).toContain(JSON.stringify(said).slice(1, -1));
    },
  );

  // The first sentence was whole: the caller heard half of another one, and then nothing.
  it('twice, within a sentence, has failed, and is whole only as far as it was said', async () => {
    const clock = new FakeClock();
    const llm = new ScriptedModel(clock);
    llm.answers = [
      { say: ['Hello. You'], fails: 'LLM_FAILED' },
      { say: ['Your room is bo'], fails: 'LLM_FAILED' },
    ];
    const told: string[] = [];
    const generation = new Generation({
      llm,
      clock,
      log: quietLog().log,
      callSignal: new AbortController().signal,
      listener: {
        onExtracted: nothing,
        onUsage: nothing,

        onExtractionFailure: nothing,
        onFault: nothing,
        onBroken: nothing,
        onAnswer: () => told.push('answered'),
        onFailure: (_requestId, code) => told.push(code),
      },
    });
    const messages: LlmMessage[] = [{ role: 'user', content: 'go on' }];
    generation.start(
      {
        type: 'generate',
        requestId: 1,
        utteranceId: 1,
        messages,
        tools: [],

        kind: 'reply',
        interruptible: true,
      },
      {
        text: (delta) => told.push(delta),
        breakOff: () => told.push('broken off'),

        end: () => told.push('end'),
        cancel: () => told.push('cancelled'),
      },
      'talk',
    );
    for (let step = 0; step < 10; step++) {
      clock.advance(20);
      await settle();
    }
    expect(told).toEqual([
      ...['Hello. You', 'broken off', 'Your room is bo', 'broken off'],
      ...['end', 'LLM_FAILED'],
    ]);
  });
});
