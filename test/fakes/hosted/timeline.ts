// What one side of a call heard, from the start of the media: mu-law, 8 bytes a millisecond, without
// gaps. Speech and silence are distinguished by loudness only.

import { createRequire } from 'node:module';
import type * as alawmulaw from 'alawmulaw';
import { FRAME_BYTES, SILENCE } from './playout.ts';

// The package's CommonJS build: plain Node (the demo's process) finds no named exports in it.
const { mulaw }: typeof alawmulaw = createRequire(import.meta.url)('alawmulaw');

export const FRAME_MS = 20;
/** Half an hour of one call: beyond it the oldest is not needed by any test. */
const BYTES_MAX = 30 * 60 * 8_000;
/** Root mean square of a frame above which it is speech: -44 dBFS, above any comfort noise. */
const SPEECH_RMS = 200;

export interface Wanted {
  /** Media time from which to look; default: the present. */
  fromMs?: number;
  /** How long it has to last. */
  forMs?: number;
  /** Media time to wait at most. */
  withinMs?: number;
}

interface Waiter {
  loud: boolean;
  next: number;
  run: number;
  frames: number;
  lastFrame: number;
  resolve: (atMs: number) => void;
  reject: (error: Error) => void;
}

export class Timeline {
  #bytes: Uint8Array = new Uint8Array(60 * 8_000);
  #length = 0;
  readonly #loud: boolean[] = [];
  #waiters: Waiter[] = [];
  #ended = false;

  /** A view of everything so far. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  get ms(): number {
    return this.#length / 8;
  }

  append(frame: Uint8Array): void {
    if (this.#length + frame.length > BYTES_MAX) return;
    if (this.#length + frame.length > this.#bytes.length) {
      const larger = new Uint8Array(Math.min(BYTES_MAX, this.#bytes.length * 2));
      larger.set(this.bytes);
      this.#bytes = larger;
    }
    this.#bytes.set(frame, this.#length);
    this.#length += frame.length;
    this.#loud.push(isLoud(frame));
    for (const waiter of this.#waiters) this.#look(waiter);
  }

  end(): void {
    this.#ended = true;
    for (const { reject } of this.#waiters.splice(0)) reject(new Error('the call ended first'));
  }

  /** Media time at which speech (or silence) began that lasted long enough. */
  wait(
    loud: boolean,
    { fromMs = this.ms, forMs = 100, withinMs = 15_000 }: Wanted,
  ): Promise<number> {
    return new Promise((resolve, reject) => {
      const next = Math.floor(fromMs / FRAME_MS);
      const waiter = {
        loud,
        next,
        run: 0,
        frames: Math.max(1, Math.ceil(forMs / FRAME_MS)),
        lastFrame: next + Math.ceil(withinMs / FRAME_MS),
        resolve,
        reject,
      };
      this.#waiters.push(waiter);
      this.#look(waiter);
      if (this.#ended && this.#waiters.includes(waiter)) this.end();
    });
  }

  /** Whether the 20 ms at `ms` were speech. */
  isSpeechAt(ms: number): boolean {
    return this.#loud[Math.floor(ms / FRAME_MS)] ?? false;
  }

  #look(waiter: Waiter): void {
    while (waiter.next < this.#loud.length) {
      waiter.run = this.#loud[waiter.next] === waiter.loud ? waiter.run + 1 : 0;
      waiter.next += 1;
      if (waiter.run === waiter.frames) {
        this.#drop(waiter);
        waiter.resolve((waiter.next - waiter.frames) * FRAME_MS);
        return;
      }
      if (waiter.next > waiter.lastFrame) {
        this.#drop(waiter);
        waiter.reject(new Error(`no ${waiter.loud ? 'speech' : 'silence'} in time`));
        return;
      }
    }
  }

  #drop(waiter: Waiter): void {
    this.#waiters = this.#waiters.filter((each) => each !== waiter);
  }
}

function isLoud(frame: Uint8Array): boolean {
  let energy = 0;
  for (const sample of mulaw.decode(frame)) energy += sample * sample;
  return Math.sqrt(energy / frame.length) > SPEECH_RMS;
}

/** Speech that waits to be said, handed out frame by frame. */
export class Mouth {
  #queue: { audio: Uint8Array; at: number; done: () => void; failed: (error: Error) => void }[] =
    [];
  #isEcho = false;

  /** Settles when the last of it has been said. */
  say(samples: Int16Array): Promise<void> {
    if (samples.length === 0) return Promise.resolve();
    return new Promise((done, failed) => {
      this.#queue.push({ audio: mulaw.encode(samples), at: 0, done, failed });
    });
  }

  /** Says what is heard, from now on. */
  echo(): void {
    this.#isEcho = true;
  }

  /** `frame` has what was heard, and gets what is said. */
  fill(frame: Uint8Array): void {
    if (!this.#isEcho) frame.fill(SILENCE);
    const [first] = this.#queue;
    if (first === undefined) return;
    const part = first.audio.subarray(first.at, first.at + FRAME_BYTES);
    frame.set(part);
    first.at += part.length;
    if (first.at < first.audio.length) return;
    this.#queue.shift();
    first.done();
  }

  end(): void {
    for (const { failed } of this.#queue.splice(0)) failed(new Error('the call ended first'));
  }
}
