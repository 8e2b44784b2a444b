// Finds the words of simulated callers in the µ-law audio of a recogniser's session by the marks of its frames. Audio may
// begin and be cut anywhere: a word counts if nearly all of it came.

import type { HeardWord } from '../../fakes/call/spoken-words.ts';
import type { AudioWords } from '../../fakes/services/stt-server.ts';
import { FRAME_BYTES } from '../caller/watermark.ts';
import { wordOf } from './call-words.ts';
import { type FrameMark, NO_WORD, readFrameMark, WORD_FRAMES } from './frame-marks.ts';

/** Parts of a word that must be heard: loss concealment replaces single frames. */
const PARTS_MIN = WORD_FRAMES - 1;
const BYTES_PER_MS = 8;

export class MarkedWords implements AudioWords {
  readonly #onFrame: (mark: FrameMark) => void;
  #rest: Uint8Array = new Uint8Array();
  /** Bytes before `#rest`. */
  #position = 0;
  #call = -1;
  #nth = NO_WORD;
  #parts = 0;
  #fromMs = 0;
  #silentFromMs = 0;

  /** `onFrame`: a marked frame came. */
  constructor(onFrame: (mark: FrameMark) => void = () => undefined) {
    this.#onFrame = onFrame;
  }

  /** Number of the call in the last word; -1 before the first. */
  get call(): number {
    return this.#call;
  }

  get positionMs(): number {
    return (this.#position + this.#rest.length) / BYTES_PER_MS;
  }

  get silenceMs(): number {
    return this.#nth === NO_WORD ? this.positionMs - this.#silentFromMs : 0;
  }

  push(bytes: Uint8Array): HeardWord[] {
    const all = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    const found: HeardWord[] = [];
    let at = 0;
    while (at + FRAME_BYTES <= all.length) {
      const mark = readFrameMark(all, at);
      if (mark === undefined) {
        at += 1;
        continue;
      }
      this.#onFrame(mark);
      this.#frame(mark, (this.#position + at) / BYTES_PER_MS, found);
      at += FRAME_BYTES;
    }
    this.#position += at;
    this.#rest = Uint8Array.from(all.subarray(at));
    return found;
  }

  #frame({ call, nth, part }: FrameMark, atMs: number, found: HeardWord[]): void {
    if (nth === NO_WORD && this.#nth === NO_WORD) return;
    if (nth !== this.#nth || call !== this.#call || (part === 0 && this.#parts > 0)) {
      this.#end(atMs, found);
      this.#call = call;
      this.#nth = nth;
      this.#parts = 0;
      this.#fromMs = atMs;
    }
    this.#parts += 1;
    if (part === WORD_FRAMES - 1) this.#end(atMs + FRAME_BYTES / BYTES_PER_MS, found);
  }

  #end(endMs: number, found: HeardWord[]): void {
    if (this.#nth !== NO_WORD) this.#silentFromMs = endMs;
    if (this.#nth !== NO_WORD && this.#parts >= PARTS_MIN) {
      const word = wordOf({ call: this.#call, nth: this.#nth });
      found.push({ word, startMs: this.#fromMs, endMs });
    }
    this.#nth = NO_WORD;
    this.#parts = 0;
  }
}
