// What of an answer was heard before an interruption, in languages without spaces: it was all of it, or nothing.

import { describe, expect, it } from 'vitest';
import { heardTextOf } from '../../../src/pipeline/speak/heard-text.ts';

const ZH = '明天下午三点还有一个空位，请问您要预订吗？';
const TH = 'วันพรุ่งนี้ตอนบ่ายยังมีที่ว่าง คุณต้องการจองไหม';

const heard = (text: string, heardMs: number, totalMs: number | undefined, words = []) =>
  heardTextOf({ text, words, heardMs, totalMs, knownMs: totalMs ?? heardMs });

describe('the heard part of a text without spaces', () => {
  it('ends with a word, by the share of its audio', () => {
    expect(heard(ZH, 2_000, 4_000)).toBe('明天下午三点还有一个');
    expect(heard(ZH, 500, 4_000)).toBe('明天');
    expect(heard(ZH, 4_000, 4_000)).toBe(ZH);
    expect(heard(TH, 1_000, 3_000)).toBe('วันพรุ่งนี้ตอน');
  });

  it('is that of speech at 220 ms a character while the audio is not complete', () => {
    expect(heard(ZH, 1_400, undefined)).toBe('明天下午三点');
    expect(heard('もちろんです、少々お待ちください。', 900, undefined)).toBe('もちろんです、');
  });

  it('ends with a word where the service has times of other words', () => {
    const words = ['míng', 'tiān', 'xià', 'wǔ'].map((word, at) => {
      return { word, startMs: at * 500, endMs: at * 500 + 500 };
    });
    const part = { text: '明天下午见', words, totalMs: 2_000, knownMs: 2_000 };
    expect(heardTextOf({ ...part, heardMs: 1_100 })).toBe('明天');
  });

  it('has both languages of a mixed answer by how long each is spoken', () => {
    const text = '好的，您的预约号码是 reservation number nine';
    expect(heard(text, 2_300, 4_000)).toBe('好的，您的预约号码是');
  });

  it('of other languages is what it was', () => {
    const text = 'There are two free appointments on Friday.';
    expect(heard(text, 1_000, 3_000)).toBe('There are two');
    expect(heard(text, 600, undefined)).toBe('There are');
  });
});
