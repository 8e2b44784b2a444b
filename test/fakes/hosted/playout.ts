// What a provider does with our audio: it plays it in the order it came, one second a second, and returns
// marks when they are reached. What becomes of pending marks after a clear is the provider's (media-line.ts).

/** Mu-law for silence. */
export const SILENCE = 0xff;
/** 20 ms. */
export const FRAME_BYTES = 160;
/** Twilio throws away what exceeds ten minutes. */
const BUFFERED_BYTES_MAX = 10 * 60 * 8_000;

type Item = { audio: Uint8Array; at: number } | { mark: string };

export class Playout {
  #items: Item[] = [];
  #bufferedBytes = 0;
  /** The most audio that ever waited, in bytes. */
  bufferedBytesMax = 0;
  readonly #limitBytes: number;

  constructor(limitBytes = BUFFERED_BYTES_MAX) {
    this.#limitBytes = limitBytes;
  }

  get bufferedBytes(): number {
    return this.#bufferedBytes;
  }

  /** False if it does not fit and was thrown away. */
  push(audio: Uint8Array): boolean {
    if (audio.length === 0) return true;
    if (this.#bufferedBytes + audio.length > this.#limitBytes) return false;
    this.#items.push({ audio, at: 0 });
    this.#bufferedBytes += audio.length;
    this.bufferedBytesMax = Math.max(this.bufferedBytesMax, this.#bufferedBytes);
    return true;
  }

  /** True if there is nothing to wait for: the mark is echoed at once. */
  mark(name: string): boolean {
    if (this.#items.length === 0) return true;
    this.#items.push({ mark: name });
    return false;
  }

  /** Drops the audio; the marks that were pending. */
  clear(): string[] {
    const marks = this.#items.flatMap((item) => ('mark' in item ? [item.mark] : []));
    this.#items = [];
    this.#bufferedBytes = 0;
    return marks;
  }

  /** Marks whose audio has been played in full. */
  reached(): string[] {
    const marks: string[] = [];
    for (let first = this.#items[0]; first && 'mark' in first; first = this.#items[0]) {
      marks.push(first.mark);
      this.#items.shift();
    }
    return marks;
  }

  /** Fills `frame` with the next audio, and with silence where there is none. */
  play(frame: Uint8Array): void {
    let filled = 0;
    // A mark in the middle of a frame is reached with the frame's end.
    const passed: Item[] = [];
    for (let first = this.#items[0]; first && filled < frame.length; first = this.#items[0]) {
      if ('mark' in first) {
        passed.push(first);
        this.#items.shift();
        continue;
      }
      const part = first.audio.subarray(first.at, first.at + frame.length - filled);
      frame.set(part, filled);
      filled += part.length;
      first.at += part.length;
      if (first.at === first.audio.length) this.#items.shift();
    }
    this.#items.unshift(...passed);
    this.#bufferedBytes -= filled;
    frame.fill(SILENCE, filled);
  }
}
