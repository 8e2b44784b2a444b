// One end of a test call: sends a known pattern of tones, and measures what arrives of the other end's. The pattern is a
// tone, another tone that is measured, and the first one again, so that a cut beginning or end costs nothing.

import type { Codec } from '../../codec/codec.ts';
import { codecByName } from '../../codec/registry.ts';
import type { Clock } from '../../std/clock.ts';
import { pause } from '../../std/pause.ts';
import type { MediaEvent, MediaListener, MediaSession } from '../provider/media-session.ts';
import { fillTone, measureTone } from './tone.ts';

const FRAME_MS = 20;
const LEAD_MS = 500;
/** The measured tone. 100 frames: a loss of 1 % is one of them. */
const BODY_MS = 2_000;
const TAIL_MS = 300;
/** Audio that is kept of one call. */
const HEARD_MS_MAX = 20_000;
const DIGITS_MAX = 64;
/** Share of a tone in a frame that is this tone; what a codec adds is below. */
const SHARE_MIN = 0.6;
/** Level below which a frame is silence. The tones are sent at -15 dBFS. */
const SILENCE_DB = -55;

/** Frequencies of one end. None of a call is a multiple of another, or that of a key (ITU-T Q.23). */
export interface EndTones {
  leadHz: number;
  bodyHz: number;
}
export const CALLER_TONES: EndTones = { leadHz: 440, bodyHz: 1_050 };
export const AGENT_TONES: EndTones = { leadHz: 620, bodyHz: 1_730 };

/** What arrived of one direction. */
export interface Heard {
  /** Audio with the measured tone. */
  toneMs: number;
  /** Audio of neither tone that is not silence. */
  strangeMs: number;
  /** Median share of the measured tone in its frames; 0 if none arrived. */
  purity: number;
  /** Median level of what is not silence, in dB below full scale; -Infinity if all is. */
  levelDb: number;
  /** Share of the measured tone that did not arrive, 0 to 1. */
  lossShare: number;
  /** From the first measured frame's sending to its arrival; null if none arrived. */
  delayMs: number | null;
  /** 95th percentile of how much the time between two messages differs from the length of their audio. */
  jitterMs: number;
}

interface Arrived {
  atMs: number;
  /** Place of its first sample in all that was heard. */
  from: number;
  samples: number;
}

export class LineEnd implements MediaListener {
  readonly #media: MediaSession;
  readonly #tones: EndTones;
  readonly #clock: Clock;
  #codec: Codec | undefined;
  #codecOut: Codec | undefined;
  #pieces: Int16Array[] = [];
  #arrived: Arrived[] = [];
  #samples = 0;
  #bodyAtMs: number | undefined;
  #isClosed = false;
  digits = '';

  constructor(media: MediaSession, tones: EndTones, clock: Clock) {
    this.#media = media;
    this.#tones = tones;
    this.#clock = clock;
    media.attach(this);
  }

  /** Name of the codec of its stream; null before the start. */
  get codec(): string | null {
    return this.#codec?.name ?? null;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get hasHeard(): boolean {
    return this.#samples > 0;
  }

  /** When the measured tone was begun; undefined before. */
  get bodyAtMs(): number | undefined {
    return this.#bodyAtMs;
  }

  onEvent(event: MediaEvent): void {
    if (event.type === 'started') {
      this.#codec = codecByName(event.start.codecIn);
      this.#codecOut = codecByName(event.start.codecOut);
    } else if (event.type === 'digit') this.noteDigit(event.digit);
    else if (event.type === 'closed') this.#isClosed = true;
  }

  noteDigit(digit: string): void {
    if (this.digits.length < DIGITS_MAX) this.digits += digit;
  }

  onAudio(payload: Uint8Array): void {
    const codec = this.#codec;
    if (codec === undefined || payload.length === 0) return;
    if ((this.#samples * 1_000) / codec.rateHz > HEARD_MS_MAX) return;
    const pcm = new Int16Array(codec.samplesIn(payload));
    const samples = codec.decode(payload, pcm);
    this.#arrived.push({ atMs: this.#clock.monotonicMs(), from: this.#samples, samples });
    this.#pieces.push(pcm.subarray(0, samples));
    this.#samples += samples;
  }

  /** Drops what was heard so far. */
  forget(): void {
    this.#pieces = [];
    this.#arrived = [];
    this.#samples = 0;
  }

  /** Length of what was heard so far that is not silence. */
  loudMs(): number {
    return this.#frames().filter(({ levelDb }) => levelDb > SILENCE_DB).length * FRAME_MS;
  }

  /** Sends the pattern in real time. Rejects with the reason of `signal`. */
  async play(signal: AbortSignal): Promise<void> {
    const codec = this.#codecOut;
    if (codec === undefined) return;
    const stepMs = this.#media.traits.lead.stepMs;
    const pcm = new Int16Array((codec.rateHz * stepMs) / 1_000);
    const payload = new Uint8Array((codec.frameBytes * stepMs) / FRAME_MS);
    const startMs = this.#clock.monotonicMs();
    for (let nth = 0; nth * stepMs < LEAD_MS + BODY_MS + TAIL_MS; nth++) {
      const aheadMs = nth * stepMs - (this.#clock.monotonicMs() - startMs);
      if (aheadMs > 0) await pause(this.#clock, aheadMs, signal);
      signal.throwIfAborted();
      const atMs = nth * stepMs;
      const isBody = atMs >= LEAD_MS && atMs < LEAD_MS + BODY_MS;
      if (isBody) this.#bodyAtMs ??= this.#clock.monotonicMs();
      const hz = isBody ? this.#tones.bodyHz : this.#tones.leadHz;
      fillTone(pcm, { hz, rateHz: codec.rateHz, nth });
      codec.encode(pcm, payload);
      this.#media.audio(payload);
    }
  }

  /** What arrived of a pattern with these tones, whose measured tone was begun at `bodyAtMs`. */
  heard(tones: EndTones, bodyAtMs: number | undefined): Heard {
    const rateHz = this.#codec?.rateHz ?? 8_000;
    const frames = this.#frames();
    const loud = frames.filter(({ levelDb }) => levelDb > SILENCE_DB);
    const shareOf = (pcm: Int16Array, hz: number): number => measureTone(pcm, { hz, rateHz }).share;
    const has = (pcm: Int16Array, hz: number): boolean => shareOf(pcm, hz) >= SHARE_MIN;
    const body = loud.filter(({ pcm }) => has(pcm, tones.bodyHz));
    const strange = loud.filter(({ pcm }) => !has(pcm, tones.bodyHz) && !has(pcm, tones.leadHz));
    const [first] = body;
    const arrivedMs = first === undefined ? undefined : this.#arrivalOf(first.from);
    const toneMs = body.length * FRAME_MS;
    return {
      toneMs,
      strangeMs: strange.length * FRAME_MS,
      purity: medianOf(body.map(({ pcm }) => shareOf(pcm, tones.bodyHz))) ?? 0,
      levelDb: medianOf(loud.map(({ levelDb }) => levelDb)) ?? Number.NEGATIVE_INFINITY,
      lossShare: Math.max(0, 1 - toneMs / BODY_MS),
      delayMs:
        arrivedMs === undefined || bodyAtMs === undefined
          ? null
          : Math.max(0, arrivedMs - bodyAtMs),
      jitterMs: this.#jitterMs(rateHz),
    };
  }

  #frames(): { from: number; pcm: Int16Array; levelDb: number }[] {
    const rateHz = this.#codec?.rateHz ?? 8_000;
    const size = (rateHz * FRAME_MS) / 1_000;
    const all = new Int16Array(this.#samples);
    let at = 0;
    for (const piece of this.#pieces) {
      all.set(piece, at);
      at += piece.length;
    }
    return Array.from({ length: Math.floor(all.length / size) }, (_, nth) => {
      const pcm = all.subarray(nth * size, (nth + 1) * size);
      return { from: nth * size, pcm, levelDb: measureTone(pcm, { hz: 1_000, rateHz }).levelDb };
    });
  }

  #arrivalOf(sample: number): number | undefined {
    return this.#arrived.find(({ from, samples }) => sample < from + samples)?.atMs;
  }

  #jitterMs(rateHz: number): number {
    const deviations = this.#arrived
      .slice(1)
      .map(({ atMs }, nth) => {
        const before = this.#arrived[nth] as Arrived; // One for each but the first.
        return Math.abs(atMs - before.atMs - (before.samples * 1_000) / rateHz);
      })
      .sort((a, b) => a - b);
    return deviations[Math.floor(deviations.length * 0.95)] ?? 0;
  }
}

function medianOf(values: readonly number[]): number | undefined {
  return [...values].sort((a, b) => a - b)[values.length >> 1];
}
