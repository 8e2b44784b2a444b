// Digits that a caller enters for a tool of a model. Source: contract §8.7.

import { describe, expect, it } from 'vitest';
import type { DialogueEvent } from '../../../src/workflow/engine/dialogue-events.ts';
import { collectionIn, hiddenWords } from '../../../src/workflow/engine/hidden-digits.ts';
import { agent, definition, end, start } from '../definitions.ts';
import { ToolConversation } from '../tool-conversation.ts';
import { storedTool } from '../tools/stored-tool.ts';

const tools = [
  storedTool('pin', 'Ask pin', {
    type: 'collect_digits',
    config: {
      messageType: 'custom',
      customMessage: 'Your PIN, {{name}}?',
      retryMessage: 'Four digits please.',
      min_digits: 4,
      max_digits: 6,
      tries: 2,
      first_digit_timeout: 8,
      inter_digit_timeout: 5,
      variable: 'pin',
    },
  }),
  storedTool('card', 'Ask card', {
    type: 'collect_digits',
    config: { check: 'payment_card', max_digits: 19, hidden: true, variable: 'card' },
  }),
  storedTool('pay', 'Pay', {
    type: 'http_api',
    config: {
      method: 'POST',
      url: 'https://pay.example/',
      preset_parameters: [
        { name: 'card', type: 'string', value_template: '{{hidden_digits.card}}' },
      ],
    },
  }),
  storedTool('save', 'Save', {
    type: 'http_api',
    config: { method: 'POST', url: 'https://shop.example/notes' },
  }),
];
const content = definition(
  [
    start('talk', { greeting: 'Hello.', tool_uuids: tools.map(({ uuid }) => uuid) }),
    agent('more'),
    end('done'),
  ],
  [],
);
const CARD = '4242424242424242';

function talkOf(): ToolConversation {
  return new ToolConversation(content, undefined, { tools });
}

function overdue(talk: ToolConversation, more: Partial<DialogueEvent> = {}): ToolConversation {
  const { waitId } = talk.last('wait');
  return talk.tell({ type: 'waited', waitId, ...(more as object) });
}

describe('digits', () => {
  it('are asked for with the tool message, and expected within its limits', () => {
    const talk = talkOf().calls('', ['ask_pin']);
    expect(talk.said).toEqual(['Your PIN, Ana?']);
    expect(talk.of('say')[0]).toMatchObject({ kind: 'reply', interruptible: true });
    expect(talk.last('expect').expectation.digits).toEqual({
      countMax: 6,
      terminator: '#',
      pauseMs: 5_000,
    });
    talk.heard();
    expect(talk.last('wait').delayMs).toBe(8_000);
  });

  it('are the result of the tool, and a gathered value, and not in the history', () => {
    const talk = talkOf().calls('', ['ask_pin']).heard().keys('1234');
    expect(talk.results).toEqual({ c0: { status: 'success', digits: '1234' } });
    expect(talk.gathered).toEqual({ pin: '1234' });
    expect(JSON.stringify(talk.last('generate').messages)).not.toContain('keys pressed');
    expect(talk.last('expect').expectation.digits).toBeUndefined();
  });

  it('that are wrong are asked for again, and after the last try the model learns why', () => {
    const talk = talkOf().calls('', ['ask_pin']).heard().keys('12');
    expect(talk.said).toEqual(['Four digits please.']);
    talk.heard().keys('#');
    expect(talk.results).toEqual({
      c0: { status: 'error', reason: 'none', error: 'The caller entered nothing.', tries: 2 },
    });
  });

  it('that do not come are a try, unless the caller is entering them', () => {
    const talk = overdue(talkOf().calls('', ['ask_pin']).heard(), { isCallerSpeaking: true });
    expect(talk.said).toEqual([]);
    expect(talk.last('wait').delayMs).toBe(1_000);
    overdue(talk);
    expect(talk.said).toEqual(['Four digits please.']);
    overdue(talk.heard());
    expect(talk.results).toMatchObject({ c0: { reason: 'none', tries: 2 } });
  });

  it('may come before the message is over', () => {
    const talk = talkOf().calls('', ['ask_pin']);
    talk.interrupted(talk.last('say').utteranceId, 'Your').keys('98765');
    expect(talk.results).toEqual({ c0: { status: 'success', digits: '98765' } });
  });

  it('are collected after the other tools of the answer, with the words of the model alone', () => {
    const talk = talkOf().calls('Your card please.', ['save'], ['ask_card']);
    expect(collectionIn(talk.state)).toBeUndefined();
    talk.replies(200, {});
    expect(talk.said).toEqual([]);
    talk.heard().keys(CARD);
    expect(talk.results).toMatchObject({ c0: { status: 'success' }, c1: { digits: 'hidden' } });
  });

  it('without any words of the agent are asked for with a line', () => {
    const talk = talkOf().calls('', ['ask_card']);
    expect(talk.said).toEqual(['Please enter the number with the keys of your telephone.']);
    talk.heard().keys('4242424242424241');
    expect(talk.said).toEqual(["That number doesn't seem to be right. Please enter it again."]);
  });
});

describe('words of the caller while digits are collected', () => {
  it('are the digits if they are nothing else', () => {
    const talk = talkOf().calls('', ['ask_pin']).heard().caller('one two three four', 0.9);
    expect(talk.results).toEqual({
      c0: { status: 'success', digits: '1234', source: 'speech' },
    });
  });

  it('are ignored if they acknowledge, or are hardly recognised', () => {
    const talk = talkOf().calls('', ['ask_pin']).heard();
    for (const [text, confidence] of [
      ['okay', 0.9],
      ['mumble', 0.1],
      ['', 0],
    ] as const) {
      talk.caller(text, confidence);
      expect(talk.actions).toEqual([]);
    }
    talk.keys('1234');
    expect(talk.results).toMatchObject({ c0: { digits: '1234' } });
  });

  it('that ask for time get a minute', () => {
    const talk = talkOf().calls('', ['ask_pin']).heard().caller('one moment please', 0.9);
    expect(talk.said).toEqual(['Of course, take your time.']);
    expect(talk.last('wait').delayMs).toBe(60_000);
    talk.heard().keys('1234');
    expect(talk.results).toMatchObject({ c0: { digits: '1234' } });
  });

  it('end the collection otherwise, and the model answers them', () => {
    const talk = talkOf().calls('', ['ask_pin']).heard().caller('why do you need that', 0.9);
    expect(talk.results).toMatchObject({ c0: { status: 'interrupted' } });
    expect(talk.last('generate').messages.at(-1)).toEqual({
      role: 'user',
      content: 'why do you need that',
    });
  });

  it('never give hidden digits: the caller is asked for the keys', () => {
    const talk = talkOf().calls('', ['ask_card']).heard();
    talk.caller(hiddenWords('my card is four two four two'), 0.9);
    expect(talk.said).toEqual(['Please enter the number with the keys of your telephone.']);
  });
});

describe('hidden digits', () => {
  it('are used by tools, and neither the model nor the log has them', () => {
    const talk = talkOf().calls('', ['ask_card']).heard().keys(CARD);
    expect(talk.results).toEqual({
      c0: { status: 'success', digits: 'hidden', variable: 'hidden_digits.card' },
    });
    talk.calls('', ['pay']);
    expect(talk.last('call-out').request.body).toContain(CARD);
    const others = talk.all.filter(({ type }) => type !== 'call-out');
    expect(JSON.stringify(others)).not.toContain(CARD);
    expect(JSON.stringify(talk.engine.summarize(talk.state))).not.toContain(CARD);
  });

  it('are not known in a replay, which comes to the same point of the conversation', () => {
    const talk = talkOf().calls('', ['ask_card']).heard();
    talk.tell({ type: 'caller-turn', text: '••••', confidence: 1, source: 'dtmf', digits: 'ok' });
    expect(talk.results).toEqual({
      c0: { status: 'success', digits: 'hidden', variable: 'hidden_digits.card' },
    });
    talk.answer('Thank you.').heard().tell({ type: 'resumed' }).heard();
    talk.caller('go on', 0.9).calls('', ['pay']);
    expect(JSON.stringify(talk.last('generate').messages)).toContain('hidden_digits.card is lost');
    expect(talk.of('call-out')).toEqual([]);
    expect(talk.results['c0']).toMatchObject({ status: 'error' });
  });

  it('that were being entered when the process died are asked for again by the model', () => {
    const talk = talkOf().calls('', ['ask_card']).heard().tell({ type: 'resumed' });
    expect(talk.results).toMatchObject({ c0: { status: 'error' } });
    expect(talk.logged).toHaveLength(1);
  });

  it.each([
    ['my number is 42', '•'],
    ['vier zwei vier', '•'],
    ['one moment', 'one moment'],
    ['why', 'why'],
  ])('are kept out of words: %j', (text, shown) => {
    expect(hiddenWords(text)).toBe(shown);
  });
});
