// Voice activity detection (VAD): cuts the caller's frames into windows, and derives speech from their probabilities
// with hysteresis, with the time of its real onset.

import { LEVEL_MIN_DB } from '../../audio/gain.ts';
import { FRAME_MS, FRAME_SAMPLES, samplesToMs } from '../../audio/pcm.ts';
import type { VadModel, VadStream } from '../../audio/vad/vad.ts';

const WINDOW_SAMPLES = 256;
const WINDOW_MS = 32;
/** Probability at which speech begins, and the one below which it ends. */
const ON = 0.5;
const OFF = 0.35;
/** Probability of a window that needs no second one. */
const SURE = 0.85;
/** Duration of voice that counts as speech; less is a click. */
const SPEECH_MS_MIN = 2 * WINDOW_MS;
/** Silence that ends speech; the closure of a consonant is shorter. */
const SILENCE_MS = 3 * WINDOW_MS;
/** Frames before the detection that are searched for the real onset, as the detector lags. */
const ONSET_FRAMES_MAX = 8;
/** Level above the noise floor of the onset's frames. */
const ONSET_DB = 9;
/** Period of the noise floor, which is the quietest frame of the last one to two of them: a second of speech always has
 *  a closure. */
const FLOOR_FRAMES = 50;
const FLOOR_DB_MIN = -65;
/** Level above a low noise floor up to which windows in silence are skipped. Measured on speech: no speech is missed,
 *  its start is detected 10 to 30 ms earlier at the median, its end as before. */
const SKIP_DB = 6;
/** Highest noise floor with skipped windows: above it the end of speech would be detected 30 ms later. */
const SKIP_FLOOR_DB_MAX = -50;
/** Windows in a row that may be skipped, so that a voice as even as noise is detected after that time. */
const SKIP_MAX = 3;
/** Highest probability of the last window that was run before a skipped one. */
const SKIP_PROBABILITY_MAX = 0.1;
/** Largest gap between two frames of one window. */
const JUMP_MS = 40;
/** Time without frames after which speech is over. */
const NO_MEDIA_MS = 300;

/** The current voice. One object, changed in place. */
export interface VoiceActivity {
  /** State of the voice. `possible`: one window of voice, not yet enough for speech. */
  state: 'silent' | 'possible' | 'speech';
  /** Media time of the estimated onset of the latest voice. */
  onsetMs: number;
  /** Media time at which the latest voice ended. */
  lastMs: number;
  /** Duration of voice since the onset, in whole windows. */
  voicedMs: number;
  /** The highest probability since the onset, 0..1. */
  peak: number;
}

export class VoiceActivityDetector {
  readonly voice: VoiceActivity = { state: 'silent', onsetMs: 0, lastMs: 0, voicedMs: 0, peak: 0 };
  /** Media time up to which audio was processed. */
  positionMs = 0;
  readonly #vad: VadStream;
  readonly #onWindow: () => void;
  /** A window, and space for a frame that ends beyond it. */
  readonly #heard = new Int16Array(WINDOW_SAMPLES + FRAME_SAMPLES);
  readonly #window = this.#heard.subarray(0, WINDOW_SAMPLES);
  #filled = 0;
  readonly #levels = new Float64Array(ONSET_FRAMES_MAX).fill(FLOOR_DB_MIN);
  #frames = 0;
  #leastDb = 0;
  #leastBeforeDb = 0;
  /** Level of the loudest frame in the window. */
  #windowDb = LEVEL_MIN_DB;
  #skipped = 0;
  #probability = 1;

  /** `onWindow` is called after each window, when `voice` is up to date: during `push`, or a little later when the
   *  detector batches the windows of many calls. If it throws, `onBroken` is called. */
  constructor(options: {
    vad: VadModel;
    onWindow: () => void;
    onBroken: (error: unknown) => void;
  }) {
    this.#onWindow = options.onWindow;
    this.#vad = options.vad.open({
      onProbability: (probability, endMs) => this.#judge(probability, endMs),
      onBroken: options.onBroken,
    });
  }

  /** Takes a frame (borrowed) at media time `atMs`, and its level. */
  push(frame: Int16Array, atMs: number, frameDb: number): void {
    if (atMs - this.positionMs > JUMP_MS) this.#jump();
    this.positionMs = Math.max(this.positionMs, atMs + FRAME_MS);
    this.#measure(frameDb);
    this.#windowDb = Math.max(this.#windowDb, frameDb);
    this.#heard.set(frame, this.#filled);
    this.#filled += FRAME_SAMPLES;
    if (this.#filled < WINDOW_SAMPLES) return;
    const rest = this.#filled - WINDOW_SAMPLES;
    this.#filled = rest;
    this.#take(atMs + samplesToMs(FRAME_SAMPLES - rest));
    this.#heard.copyWithin(0, WINDOW_SAMPLES, WINDOW_SAMPLES + rest);
    this.#windowDb = rest > 0 ? frameDb : LEVEL_MIN_DB;
  }

  /** Ends speech when the caller's audio stops arriving. */
  tick(nowMs: number): void {
    if (this.voice.state === 'silent' || nowMs - this.positionMs < NO_MEDIA_MS) return;
    this.voice.state = 'silent';
    this.#onWindow();
  }

  close(): void {
    this.#vad.close();
  }

  #jump(): void {
    this.#filled = 0;
    this.#windowDb = LEVEL_MIN_DB;
    this.#probability = 1;
    this.#vad.reset();
  }

  #measure(frameDb: number): void {
    if (this.#frames % FLOOR_FRAMES === 0) {
      this.#leastBeforeDb = this.#leastDb;
      this.#leastDb = frameDb;
    }
    this.#leastDb = Math.min(this.#leastDb, frameDb);
    this.#levels[this.#frames++ % ONSET_FRAMES_MAX] = frameDb;
  }

  #take(endMs: number): void {
    if (this.#isNoise()) {
      this.#skipped++;
      this.#vad.skip(this.#window);
    } else {
      this.#skipped = 0;
      this.#vad.push(this.#window, endMs);
    }
  }

  #isNoise(): boolean {
    if (this.voice.state !== 'silent' || this.#skipped >= SKIP_MAX) return false;
    if (this.#probability >= SKIP_PROBABILITY_MAX || this.#frames <= FLOOR_FRAMES) return false;
    const floorDb = this.#floorDb();
    return floorDb <= SKIP_FLOOR_DB_MAX && this.#windowDb < floorDb + SKIP_DB;
  }

  #floorDb(): number {
    return Math.max(FLOOR_DB_MIN, Math.min(this.#leastDb, this.#leastBeforeDb));
  }

  #judge(probability: number, endMs: number): void {
    const { voice } = this;
    this.#probability = probability;
    if (voice.state === 'silent') {
      if (probability >= ON) this.#begin(endMs, probability);
    } else if (probability >= OFF) {
      voice.voicedMs += WINDOW_MS;
      voice.peak = Math.max(voice.peak, probability);
      voice.lastMs = endMs;
      if (voice.voicedMs >= SPEECH_MS_MIN) voice.state = 'speech';
    } else if (endMs - voice.lastMs >= SILENCE_MS || voice.state === 'possible') {
      voice.state = 'silent';
    }
    this.#onWindow();
  }

  #begin(endMs: number, probability: number): void {
    const { voice } = this;
    voice.state = probability >= SURE ? 'speech' : 'possible';
    voice.onsetMs = this.#onset(endMs);
    voice.lastMs = endMs;
    voice.voicedMs = WINDOW_MS;
    voice.peak = probability;
  }

  /** Searches the onset back from the first window of voice, as long as frames are above the noise floor. */
  #onset(endMs: number): number {
    const windowMs = endMs - WINDOW_MS;
    const floorDb = this.#floorDb();
    let onsetMs = this.positionMs;
    for (let back = 1; back <= ONSET_FRAMES_MAX && back <= this.#frames; back++) {
      const frameDb = this.#levels[(this.#frames - back) % ONSET_FRAMES_MAX] as number;
      if (frameDb < floorDb + ONSET_DB) break;
      onsetMs -= FRAME_MS;
    }
    return Math.min(onsetMs, windowMs);
  }
}
