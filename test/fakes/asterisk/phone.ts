// A telephone at the far end of a call: says and presses what it is told to, and keeps what it hears, sample
// by sample, with the times. It plays what arrives in real time, as a handset does.

import { FRAME_MS, FRAME_SAMPLES, RATE_HZ } from '../../../src/audio/pcm.ts';
import type { ToneSamples } from '../../../src/audio/tones/tone-generator.ts';
import type { Clock } from '../../../src/std/clock.ts';
import { type Frame, RateConverter } from './media/frame.ts';
import type { Ticker } from './media/ticker.ts';

/** What waits to be played; a handset's jitter buffer holds no more. */
const BUFFERED_SAMPLES_MAX = RATE_HZ;
/** Half an hour of one call: no test needs more. */
const HEARD_FRAMES_MAX = 90_000;

/** 20 ms as the person at the telephone hears them. */
export interface HeardFrame {
  /** Beginning, in the clock's monotonic milliseconds. */
  atMs: number;
  /** 160 samples; silence where nothing came. */
  pcm: Int16Array;
}

export interface CallEnd {
  cause: number;
  /** What a SIP caller saw if the call was turned away before an answer. */
  sipStatus: number | null;
  by: 'phone' | 'pbx';
}

/** What the telephone's channel does with what the person does. */
export interface PhoneLine {
  audio(frame: Frame): void;
  digit(digit: string): void;
  hangUp(cause: number): void;
  hold(on: boolean): void;
}

export class Phone {
  /** The dialplan extension that plays the person: `answer`, `talk`, ... */
  readonly extension: string;
  readonly from: string;
  readonly to: string;
  /** From the moment on when audio could flow. */
  readonly heard: HeardFrame[] = [];
  /** Pieces as they came from the PBX: when, and how many samples at 8 kHz. */
  readonly arrivals: { atMs: number; samples: number }[] = [];
  /** Keys that were sent to the telephone. */
  digits = '';
  /** Samples that came faster than they could be played. */
  overflowSamples = 0;
  isOver = false;
  end: CallEnd | null = null;
  readonly ended: Promise<CallEnd>;
  onFrame: (frame: HeardFrame) => void = () => undefined;
  readonly #clock: Clock;
  readonly #line: PhoneLine;
  readonly #to8k = new RateConverter(RATE_HZ);
  #buffer: Int16Array = new Int16Array(0);
  #sayings: { pcm: Int16Array; at: number; done: (whole: boolean) => void }[] = [];
  #sound: ToneSamples | null = null;
  #echoes = false;
  #stop: (() => void)[] = [];
  #resolveEnd: (end: CallEnd) => void = () => undefined;

  constructor(facts: {
    extension: string;
    from: string;
    to: string;
    clock: Clock;
    line: PhoneLine;
  }) {
    this.extension = facts.extension;
    this.from = facts.from;
    this.to = facts.to;
    this.#clock = facts.clock;
    this.#line = facts.line;
    this.ended = new Promise((resolve) => {
      this.#resolveEnd = resolve;
    });
  }

  get isListening(): boolean {
    return this.#stop.length > 0;
  }

  /** Audio flows from here on. */
  pickUp(ticker: Ticker): void {
    if (this.isListening) return;
    this.#stop = [
      ticker.add('source', () => this.#speak()),
      ticker.add('ear', (atMs) => this.#listen(atMs)),
    ];
  }

  /** Resolves with true once said to the end; false if the call ended first. Sayings follow one another. */
  say(pcm: Int16Array): Promise<boolean> {
    if (pcm.length === 0 || this.isOver) return Promise.resolve(!this.isOver);
    return new Promise((done) => {
      this.#sayings.push({ pcm, at: 0, done });
    });
  }

  /** An endless sound, until the next call; null for silence. */
  hum(sound: ToneSamples | null): void {
    this.#sound = sound;
  }

  echo(): void {
    this.#echoes = true;
  }

  press(digits: string): void {
    for (const digit of digits) if (!this.isOver) this.#line.digit(digit);
  }

  /** A re-INVITE: the other side is on hold, or taken back. */
  hold(on: boolean): void {
    if (!this.isOver) this.#line.hold(on);
  }

  hangUp(cause = 16): void {
    if (!this.isOver) this.#line.hangUp(cause);
  }

  /** A key from the PBX; Echo() returns keys too. */
  takeDigit(digit: string): void {
    this.digits += digit;
    if (this.#echoes) this.press(digit);
  }

  /** From the PBX. */
  hear(frame: Frame): void {
    if (!this.isListening) return;
    const pcm = this.#to8k.convert(frame);
    this.arrivals.push({ atMs: this.#clock.monotonicMs(), samples: pcm.length });
    const harness = BUFFERED_SAMPLES_MAX - this.#buffer.length;
    this.overflowSamples += Math.max(0, pcm.length - harness);
    const joined = new Int16Array(this.#buffer.length + Math.min(harness, pcm.length));
    joined.set(this.#buffer);
    joined.set(pcm.subarray(0, joined.length - this.#buffer.length), this.#buffer.length);
    this.#buffer = joined;
  }

  over(end: CallEnd): void {
    if (this.isOver) return;
    this.isOver = true;
    this.end = end;
    for (const stop of this.#stop.splice(0)) stop();
    for (const { done } of this.#sayings.splice(0)) done(false);
    this.#resolveEnd(end);
  }

  /** Everything heard, without gaps, 8 samples a millisecond from `heard[0].atMs` on. */
  samples(): Int16Array {
    const all = new Int16Array(this.heard.length * FRAME_SAMPLES);
    for (const [nth, { pcm }] of this.heard.entries()) all.set(pcm, nth * FRAME_SAMPLES);
    return all;
  }

  #speak(): void {
    const pcm = new Int16Array(FRAME_SAMPLES);
    const [saying] = this.#sayings;
    if (saying !== undefined) {
      const part = saying.pcm.subarray(saying.at, saying.at + FRAME_SAMPLES);
      pcm.set(part);
      saying.at += part.length;
      if (saying.at >= saying.pcm.length) {
        this.#sayings.shift();
        saying.done(true);
      }
    } else if (this.#sound !== null) {
      this.#sound.fill(pcm);
    } else if (this.#echoes && this.heard.length > 0) {
      pcm.set(this.heard.at(-1)?.pcm ?? pcm);
    } else {
      return; // Silence is not sent: a Wait() in the dialplan sends nothing.
    }
    this.#line.audio({ pcm, rateHz: RATE_HZ });
  }

  #listen(atMs: number): void {
    const pcm = new Int16Array(FRAME_SAMPLES);
    pcm.set(this.#buffer.subarray(0, FRAME_SAMPLES));
    this.#buffer = this.#buffer.slice(Math.min(FRAME_SAMPLES, this.#buffer.length));
    const frame = { atMs: atMs - FRAME_MS, pcm };
    if (this.heard.length < HEARD_FRAMES_MAX) this.heard.push(frame);
    this.onFrame(frame);
  }
}
