// Languages without spaces between words: a whole sentence was one word to everything that splits by white space.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isUnspaced,
  joinSingleWords,
  joinTexts,
  spacedOut,
  withoutLastWord,
  wordCount,
  wordSpans,
} from '../../../src/std/text/unspaced-text.ts';

const wordsIn = (text: string): string[] =>
  wordSpans(text).map(({ start, end }) => text.slice(start, end));

/** Sentences in all scripts, with what stands beside them. */
const mixed = fc
  .array(
    fc.constantFrom(
      ...['我想预订', '明日の午後', 'コーヒー', 'ผมอยากจองห้อง', 'ຂ້ອຍຢາກຈອງ', 'ខ្ញុំចង់កក់', 'ကျွန်တော်'],
      ...['hello', ' ', '。', '，', '「', '」', '3', '😀', '👨‍👩‍👧', '𠮷', 'é', '-', 'a@b.com'],
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));

describe('words without spaces', () => {
  it.each([
    ['您好，我想预订明天的房间。', ['您好，', '我想', '预订', '明天', '的', '房间。']],
    ['明日の午後3時', ['明日', 'の', '午後', '3', '時']],
    ['สวัสดีครับ ผมอยากจองห้อง', ['สวัสดี', 'ครับ', 'ผม', 'อยาก', 'จอง', 'ห้อง']],
    ['ខ្ញុំចង់កក់បន្ទប់', ['ខ្ញុំ', 'ចង់', 'កក់', 'បន្ទប់']],
    ['ຂ້ອຍຢາກຈອງຫ້ອງ', ['ຂ້ອຍ', 'ຢາກ', 'ຈອງ', 'ຫ້ອງ']],
    ['အခန်းတစ်ခန်း', ['အခန်း', 'တစ်', 'ခန်း']],
  ])('are those of %s', (text, words) => {
    expect(wordsIn(text)).toEqual(words);
    expect(wordCount(text)).toBe(words.length);
  });

  // ICU took a minute for 70,000 letters, in which no call had audio.
  it.each([
    ['我想预订明天的房间', ['我想', '预订', '明天', '的', '房间']],
    ['ผมอยากจองห้อง', ['ผม', 'อยาก', 'จอง', 'ห้อง']],
  ])('are found at once in 100,000 letters of %s', (text, words) => {
    const times = Math.ceil(100_000 / text.length);
    expect(wordsIn(text.repeat(times))).toEqual(Array(times).fill(words).flat());
  });

  it('lose their unfinished end at once where a mark follows', () => {
    const text = `${'好'.repeat(100_000)}.`;
    expect(withoutLastWord(text)).toBe(text);
  });

  it('are cut within no grapheme of a long text', () => {
    const text = `好${'👨‍👩‍👧é'.repeat(2_000)}`;
    for (const word of wordsIn(text))
      expect(word).not.toMatch(/^(?:\u0301|\u200D|[\uDC00-\uDFFF])/);
    expect(wordsIn(text).join('')).toBe(text);
  });

  it('keep addresses and numbers whole, and brackets with their words', () => {
    expect(wordsIn('请发到info@example.com谢谢')).toEqual([
      '请',
      '发',
      '到',
      'info@example.com',
      '谢谢',
    ]);
    expect(wordsIn('電話は090-1234-5678です')).toEqual(['電話', 'は', '090-1234-5678', 'です']);
    expect(wordsIn('说「好」，OK')).toEqual(['说', '「好」，', 'OK']);
    expect(wordsIn('…好')).toEqual(['…好']);
  });

  it('of other languages are what white space separates', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        fc.pre(!isUnspaced(text));
        expect(wordsIn(text)).toEqual(text.match(/\S+/g) ?? []);
      }),
    );
  });

  it('have all of the text but white space, and end between graphemes', () => {
    const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
    fc.assert(
      fc.property(mixed, (text) => {
        expect(wordsIn(text).join('')).toBe(text.replace(/\s+/g, ''));
        const ends = new Set([...graphemes.segment(text)].map(({ index }) => index));
        for (const { start } of wordSpans(text)) expect(ends.has(start)).toBe(true);
      }),
    );
  });

  it('follow one another without a space in Chinese and Japanese', () => {
    expect(joinTexts(['你好。', '', '我想预订', 'OK', '吗'])).toBe('你好。我想预订 OK 吗');
    expect(joinTexts(['はい、', 'そうです'])).toBe('はい、そうです');
    expect(joinTexts(['สวัสดีครับ', 'ผมอยากจอง'])).toBe('สวัสดีครับ ผมอยากจอง');
    expect(joinTexts(['good', '', 'morning'])).toBe('good morning');
    expect(joinSingleWords(['สวัสดี', 'ครับ', 'Tom'])).toBe('สวัสดีครับ Tom');
  });

  it('lose the last one where it may be unfinished', () => {
    expect(withoutLastWord('我想预订明天')).toBe('我想预订');
    expect(withoutLastWord('我想预订。')).toBe('我想预订。');
    expect(withoutLastWord('我要iPho')).toBe('我要');
    expect(withoutLastWord('ผมอยากจอง')).toBe('ผมอยาก');
    expect(withoutLastWord('I would li')).toBe('I would ');
    expect(withoutLastWord('Yes. ')).toBe('Yes. ');
  });

  it('are spelled with spaces for lists of phrases', () => {
    expect(spacedOut('嗯ok').trim()).toBe('嗯 ok');
    expect(spacedOut('mhm ok')).toBe('mhm ok');
  });
});
