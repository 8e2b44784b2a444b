// The words of simulated callers, from their frames to a recogniser's text.

import { describe, expect, it } from 'vitest';
import { ulaw } from '../../../src/audio/companding.ts';
import { pcmu } from '../../../src/codec/g711.ts';
import { FRAME_BYTES } from '../caller/watermark.ts';
import { wordOf, wordsIn } from './call-words.ts';
import { ageOf, NO_WORD, readFrameMark, WORD_FRAMES, writeFrameMark } from './frame-marks.ts';
import { MarkedWords } from './marked-words.ts';

function audioOf(call: number, from: number, to: number): Uint8Array {
  const frames: Uint8Array[] = [];
  for (let nth = from; nth < to; nth++) {
    for (let part = 0; part < WORD_FRAMES; part++) frames.push(frameOf(call, nth, part));
  }
  return Buffer.concat(frames);
}

function frameOf(call: number, nth: number, part: number): Uint8Array {
  const frame = Uint8Array.from({ length: FRAME_BYTES }, (_each, at) => (at * 7 + part) & 0xff);
  writeFrameMark(frame, { call, nth, part }, 1_000);
  return frame;
}

const textsOf = (finder: MarkedWords, bytes: Uint8Array) =>
  finder.push(bytes).map(({ word }) => word);

describe('words of callers', () => {
  it('are read from a text in order', () => {
    const words = [
      { call: 0, nth: 0 },
      { call: 499, nth: 15 },
      { call: 65_535, nth: 4_000 },
    ];
    const text = `You said ${words.map(wordOf).join(' ')}. That is noted.`;
    expect(wordsIn(text)).toEqual(words);
  });

  it('survive decoding to PCM and encoding again, with their time', () => {
    const frame = frameOf(777, 12, 3);
    const samples = new Int16Array(FRAME_BYTES);
    pcmu.decode(frame, samples);
    const again = Uint8Array.from(samples, (each) => ulaw.codes[each & 0xffff] as number);
    const mark = readFrameMark(again, 0);
    expect(mark).toEqual({ call: 777, nth: 12, part: 3, sentAt: 10_000 });
    expect(mark && ageOf(mark, 1_012.5)).toBe(12.5);
    expect(mark && ageOf(mark, 1_000 + 6_553.6 + 2)).toBe(2);
  });

  it('are found wherever the audio begins, in packets of any size', () => {
    const finder = new MarkedWords();
    const bytes = Buffer.concat([new Uint8Array(77).fill(0xff), audioOf(3, 5, 8)]);
    const found: string[] = [];
    for (let at = 0; at < bytes.length; at += 480) {
      found.push(...textsOf(finder, bytes.subarray(at, at + 480)));
    }
    expect(found).toEqual([5, 6, 7].map((nth) => wordOf({ call: 3, nth })));
    expect(finder.positionMs).toBe(bytes.length / 8);
  });

  it('are found twice in doubled audio, and not at all where half of them is missing', () => {
    const word = audioOf(3, 5, 6);
    const half = word.subarray(0, word.length / 2);
    expect(textsOf(new MarkedWords(), Buffer.concat([word, word]))).toHaveLength(2);
    expect(textsOf(new MarkedWords(), Buffer.concat([half, audioOf(3, 6, 7)]))).toEqual([
      wordOf({ call: 3, nth: 6 }),
    ]);
  });

  it('end where silence begins', () => {
    const finder = new MarkedWords();
    finder.push(audioOf(3, 5, 6));
    expect(finder.silenceMs).toBe(0);
    for (let i = 0; i < 5; i++) finder.push(frameOf(3, NO_WORD, 0));
    expect(finder.silenceMs).toBe(100);
  });
});
