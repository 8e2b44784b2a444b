// Callers of languages without spaces between words. To all rules that count or compare words, what they said was one.

import { describe, expect, it } from 'vitest';
import { type ExpectedInput, OPEN_SPEECH } from '../../../src/model/expected-input.ts';
import { BargeInDetector } from '../../../src/pipeline/turn/barge-in.ts';
import { EarlyEnd } from '../../../src/pipeline/turn/early-end.ts';
import { Endpointing, isExpectedAnswer, wordsOf } from '../../../src/pipeline/turn/endpointing.ts';
import { LateWords } from '../../../src/pipeline/turn/late-words.ts';
import { OwnWords } from '../../../src/pipeline/turn/own-words.ts';
import type { SpokenTurn } from '../../../src/pipeline/turn/spoken-turn.ts';
import { TurnDetector } from '../../../src/pipeline/turn/turn-detector.ts';
import { defaultTuning } from '../../../src/pipeline/turn/turn-tuning.ts';

const ignore = (): void => undefined;

function needed(text: string, expectation: ExpectedInput = OPEN_SPEECH): number {
  const judge = new Endpointing();
  judge.consider({ text, language: 'zh', expectation, interimWords: true, hurried: false });
  return judge.silenceNeededMs;
}

function detector(): TurnDetector {
  const turn = new TurnDetector({
    recognizer: { finalMsP99: 200, interimWords: true },
    turnMaxMs: 5_000,
    listener: {
      onBegin: ignore,
      onPause: ignore,
      onResume: ignore,
      onProbableEnd: ignore,

      onFinalize: ignore,
      onTurn: ignore,
      onLate: ignore,
      onNothing: ignore,
    },
  });
  turn.speechStarted(0);
  return turn;
}

/** What comes behind the words of a turn that was reported with `interim`. */
function late(interim: string, final: string): string | undefined {
  const words = new LateWords();
  words.await(1, {} as SpokenTurn, interim);
  return words.take({ text: final, confidence: 0.9 }, 0)?.text;
}

describe('the words of a caller', () => {
  it.each([
    ['我想预订，明天的房间。', ['我想', '预订', '明天', '的', '房间']],
    ['はい、お願いします', ['はい', 'お願い', 'し', 'ます']],
    ['ผมอยากจองห้องพักนี้ครับ', ['ผม', 'อยาก', 'จอง', 'ห้อง', 'พัก', 'นี้', 'ครับ']],
    // Vowel signs ended words: three of one in Hindi.
    ['मुझे नहीं चाहिए', ['मुझे', 'नहीं', 'चाहिए']],
    ['ok ❤️ 1️⃣', ['ok', '1']],
    ['I need 2 Räume', ['i', 'need', '2', 'räume']],
  ])('are those of %s', (text, words) => {
    expect(wordsOf(text)).toEqual(words);
  });

  it('are enough to stop the agent where a number of them is', () => {
    const interrupts = (text: string) =>
      new BargeInDetector({
        listener: { onDuck: ignore, onHold: ignore, onResume: ignore, onConfirmed: ignore },
        tuning: { ...defaultTuning.start, strategy: 'min_words', wordsMin: 3 },
        recognizer: { finalMsP99: 200 },
      }).interrupts({ text, confidence: 0.9 }, false);
    expect(interrupts('我想预订房间')).toBe(true);
    expect(interrupts('ผมอยากจองห้อง')).toBe(true);
    expect(interrupts('预订')).toBe(false);
  });

  it('are an echo of the agent though a few differ', () => {
    const own = new OwnWords();
    own.said('请问您要预订哪一天的房间？', 0);
    expect(own.echo('问您要预订哪天的房间', 100)).toBe(true);
    expect(own.echo('我不住酒店了', 100)).toBe(false);
  });
});

describe('the end of a turn', () => {
  it('comes sooner behind a full-width mark', () => {
    expect([needed('我想预订房间。'), needed('可以吗？'), needed('我想预订房间')]).toEqual([
      500, 500, 600,
    ]);
  });

  it('knows expected phrases and digits, however they are written', () => {
    const expectation: ExpectedInput = {
      closed: true,
      phrases: ['我要预约', '我要预约牙医'],
      slots: ['digits'],
      boost: [],
      digits: { countMax: 3, terminator: null },
    };
    expect(isExpectedAnswer('我要 预约。', expectation, 'zh')).toBe(true);
    expect(isExpectedAnswer('我要', expectation, 'zh')).toBe(false);
    expect(needed('我的号码是12', expectation)).toBe(1_500);
    expect(needed('我的号码是123', expectation)).toBe(270);
    expect(needed('我要预约', expectation)).toBe(450);
    expect(needed('我要预约牙医', expectation)).toBe(270);
  });

  it('is worth a report before it is certain, which the same words do not contradict', () => {
    const early = new EarlyEnd();
    expect(early.report({ text: '我想预订北京大学', language: 'zh' })).toBe(true);
    expect(early.contradicts('我想，预订 北京大学。')).toBe(false);
    expect(early.contradicts('我想预订北京大学生')).toBe(true);
  });
});

describe('the parts of a turn', () => {
  it('are joined without a space in Chinese and Japanese, with one in Thai', () => {
    const turn = detector();
    turn.final({ text: '我想预订。', confidence: 0.9 });
    turn.final({ text: '两个人', confidence: 0.9 });
    turn.final({ text: 'ครับ', confidence: 0.9 });
    turn.partial({ text: 'ผม', confidence: null });
    expect(turn.text).toBe('我想预订。两个人 ครับ ผม');
  });

  it('are not said again by interim words that repeat a final', () => {
    const turn = detector();
    turn.final({ text: '我想预订房间。', confidence: 0.9 });
    expect(turn.partial({ text: '我想预', confidence: null })).toBe(false);
    expect(turn.partial({ text: '明天', confidence: null })).toBe(true);
  });
});

describe('words that come when their turn is over', () => {
  it.each([
    ['我想取消', '我想取消订单', '订单'],
    ['好的我想取消', '好的，我想取消。订单 123', '订单 123'],
    // Other words as soon as more is known: 北京大学, 北京 大学生.
    ['我在北京大学', '我在北京大学生中心', '生中心'],
    ['ผมอยาก', 'ผมอยากจองห้อง', 'จองห้อง'],
    ['cancel my order', 'cancel my order today, please', 'today, please'],
    ['我想取消', '我想取消。', undefined],
    ['我想取消', '另外一个问题', undefined],
  ])('of %s and %s are %s', (interim, final, missing) => {
    expect(late(interim, final)).toBe(missing);
  });

  it('are no interim words of the next turn', () => {
    const words = new LateWords();
    words.await(1, {} as SpokenTurn, '我想取消');
    expect(words.withoutLate({ text: '我想取消订单', confidence: null }).text).toBe('订单');
    expect(words.withoutLate({ text: '你好', confidence: null }).text).toBe('你好');
  });
});
