// The voice inside a fake of a synthesiser: 60 ms of tone for each character, in pieces, and when it goes wrong. One
// for each utterance. The fakes of the services put it into their protocols.

import { ulaw } from '../../../src/audio/companding.ts';
import type { WordTiming } from '../../../src/speech/tts/tts.ts';
import type { Clock } from '../../../src/std/clock.ts';
import { hum } from '../speech-services.ts';

export const MS_PER_CHARACTER = 60;
/** Has the level in the telephone band to which voices are brought (tts/service-voice.ts): samples arrive unchanged,
 *  and with them the marks that load measurements write into them. */
const AMPLITUDE = 6_400;

export interface VoiceFaults {
  /** Nothing is spoken, and no end is reported. */
  noAudio?: boolean;
  /** The end is reported, and nothing was spoken. */
  doneWithoutAudio?: boolean;
  /** What was begun is spoken to its end after it was cancelled. */
  goesOnAfterCancel?: boolean;
  /** Multiples of real time, on the clock. Default: all at once. */
  speed?: number;
  /** Bytes of a message: 3 cuts through samples. Default: 100 ms. */
  pieceBytes?: number;
  words?: 'before' | 'with' | 'after' | 'never';
  /** After so much audio of an utterance: the service's message for a used-up account, a close code, or nothing more
   *  while the connection stays open. */
  failsAfterMs?: number;
  failure?: 'quota' | 'silent' | number;
}

export interface VoicePiece {
  /** µ-law or s16. */
  audio: Buffer;
  /** From the utterance's begin. */
  fromMs: number;
  characters: { text: string; startMs: number }[];
  words: WordTiming[];
}

export interface ScriptedVoiceOptions {
  clock: Clock;
  format: 'ulaw8' | 's16';
  faults: VoiceFaults;
  onPiece(piece: VoicePiece): void;
  onFailure(failure: 'quota' | number): void;
  onDone(): void;
}

export class ScriptedVoice {
  readonly #options: ScriptedVoiceOptions;
  /** All text, and how much of it was spoken, in bytes of audio. */
  #text = '';
  #spokenBytes = 0;
  #isEnded = false;
  #isOver = false;
  #isPaced = false;

  constructor(options: ScriptedVoiceOptions) {
    this.#options = options;
  }

  get text(): string {
    return this.#text;
  }

  speak(text: string): void {
    this.#text += text;
    this.#pump();
  }

  end(): void {
    this.#isEnded = true;
    this.#pump();
  }

  stop(): void {
    if (this.#options.faults.goesOnAfterCancel !== true) this.#isOver = true;
  }

  get #bytesPerMs(): number {
    return this.#options.format === 'ulaw8' ? 8 : 16;
  }

  #pump(): void {
    const { faults, clock } = this.#options;
    if (faults.noAudio === true || this.#isPaced) return;
    while (!this.#isOver) {
      const piece = this.#next();
      if (piece === undefined) {
        if (!this.#isEnded) return;
        this.#isOver = true;
        this.#options.onDone();
        return;
      }
      this.#options.onPiece(piece);
      if (faults.speed === undefined) continue;
      this.#isPaced = true;
      const ms = piece.audio.length / this.#bytesPerMs / faults.speed;
      clock.after(ms, () => {
        this.#isPaced = false;
        this.#pump();
      });
      return;
    }
  }

  #next(): VoicePiece | undefined {
    const { faults, format } = this.#options;
    const whole = this.#text.length * MS_PER_CHARACTER * this.#bytesPerMs;
    if (faults.doneWithoutAudio === true) return undefined;
    const failsAt = (faults.failsAfterMs ?? Number.POSITIVE_INFINITY) * this.#bytesPerMs;
    if (this.#spokenBytes >= failsAt) {
      this.#isOver = true;
      if (faults.failure !== 'silent') this.#options.onFailure(faults.failure ?? 1011);
      return undefined;
    }
    const bytes = Math.min(faults.pieceBytes ?? 100 * this.#bytesPerMs, whole - this.#spokenBytes);
    if (bytes <= 0) return undefined;
    const fromMs = this.#spokenBytes / this.#bytesPerMs;
    this.#spokenBytes += bytes;
    const toMs = this.#spokenBytes / this.#bytesPerMs;
    return {
      audio: audioOf(format, fromMs, bytes),
      fromMs,
      characters: this.#charactersIn(fromMs, toMs),
      words: this.#wordsIn(fromMs, toMs),
    };
  }

  #charactersIn(fromMs: number, toMs: number) {
    return [...this.#text]
      .map((text, at) => ({ text, startMs: at * MS_PER_CHARACTER }))
      .filter(({ startMs }) => startMs >= fromMs && startMs < toMs);
  }

  /** Words that end in this piece. */
  #wordsIn(fromMs: number, toMs: number): WordTiming[] {
    return wordsOf(this.#text).filter(({ endMs }) => endMs > fromMs && endMs <= toMs);
  }
}

export function wordsOf(text: string): WordTiming[] {
  return [...text.matchAll(/\S+/g)].map((word) => ({
    word: word[0],
    startMs: word.index * MS_PER_CHARACTER,
    endMs: (word.index + word[0].length) * MS_PER_CHARACTER,
  }));
}

function audioOf(format: 'ulaw8' | 's16', fromMs: number, bytes: number): Buffer {
  const samples = hum(Math.ceil(bytes / 8) + 2, AMPLITUDE, Math.floor(fromMs));
  if (format === 'ulaw8') {
    const codes = Buffer.alloc(bytes);
    for (let i = 0; i < bytes; i++)
      codes[i] = ulaw.codes[(samples[i] as number) & 0xffff] as number;
    return codes;
  }
  return Buffer.from(samples.buffer).subarray(0, bytes);
}
