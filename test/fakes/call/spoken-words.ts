// Words as audio that a fake service understands by its content: each word is a run of one µ-law code, so that replayed,
// cut or doubled audio has exactly the words that it contains.

import { ulaw } from '../../../src/audio/companding.ts';

export const WORD_MS = 200;
/** A run that was cut is no word. */
const WORD_SAMPLES_MIN = (WORD_MS - 20) * 8;
const VOCABULARY = 100;
const SILENCE = 0xff;

export interface HeardWord {
  word: string;
  startMs: number;
  endMs: number;
}

/** `w0` to `w99`, again and again. */
export function wordOf(nth: number): string {
  return `w${nth % VOCABULARY}`;
}

/** The audio of one word, 8 kHz. */
export function spoken(word: string): Int16Array {
  const code = Number(word.slice(1));
  return new Int16Array(WORD_MS * 8).fill(ulaw.samples[code] as number);
}

/** 20 ms frames of a text with pauses between its words. */
export function framesOf(text: string, gapMs = 60): Int16Array[] {
  const frames: Int16Array[] = [];
  for (const word of text.split(' ').filter((each) => each !== '')) {
    const audio = spoken(word);
    for (let at = 0; at < audio.length; at += 160) frames.push(audio.slice(at, at + 160));
    frames.push(...silentFrames(gapMs));
  }
  return frames;
}

export function silentFrames(ms: number): Int16Array[] {
  return Array.from({ length: Math.round(ms / 20) }, () => new Int16Array(160));
}

/** Finds the words in a stream of µ-law audio. */
export class WordFinder {
  #samples = 0;
  #code = SILENCE;
  #since = 0;
  #silentSince = 0;

  get positionMs(): number {
    return this.#samples / 8;
  }

  /** Since the last word, or since the begin. 0 within a word. */
  get silenceMs(): number {
    return this.#code === SILENCE ? (this.#samples - this.#silentSince) / 8 : 0;
  }

  /** The words that end in these bytes. */
  push(bytes: Uint8Array): HeardWord[] {
    const found: HeardWord[] = [];
    for (let at = 0; at < bytes.length; at++) {
      const code = bytes[at] as number;
      if (code !== this.#code) this.#change(code, found);
      this.#samples += 1;
    }
    return found;
  }

  #change(code: number, found: HeardWord[]): void {
    const length = this.#samples - this.#since;
    if (this.#code < VOCABULARY && length >= WORD_SAMPLES_MIN) {
      const startMs = this.#since / 8;
      found.push({ word: wordOf(this.#code), startMs, endMs: this.#samples / 8 });
    }
    if (code === SILENCE) this.#silentSince = this.#samples;
    this.#code = code;
    this.#since = this.#samples;
  }
}

/** The µ-law bytes of samples. */
export function ulawOf(samples: Int16Array): Uint8Array {
  const bytes = new Uint8Array(samples.length);
  for (let at = 0; at < bytes.length; at++) {
    bytes[at] = ulaw.codes[(samples[at] as number) & 0xffff] as number;
  }
  return bytes;
}
