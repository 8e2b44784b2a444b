// Speech services under a test's control: a recogniser that recognises what a test gives it, a synthesiser
// that hums, a detector that goes by loudness.

import { levelDb } from '../../src/audio/gain.ts';
import type { VadModel } from '../../src/audio/vad/vad.ts';
import { GatewayError } from '../../src/errors/gateway-error.ts';
import type { ExpectedInput } from '../../src/model/expected-input.ts';
import type { ServiceUsage } from '../../src/speech/service/service-means.ts';
import type {
  Recognizer,
  RecognizerListener,
  SpeechToText,
  SttCapabilities,
} from '../../src/speech/stt/stt.ts';
import type { SpeechListener, TextToSpeech, WordTiming } from '../../src/speech/tts/tts.ts';
import type { Clock } from '../../src/std/clock.ts';
import { vadOf } from './call/vad-of.ts';

/** Loud is speech. `lagWindows`: windows of 32 ms before it notices. */
export function loudnessVad(lagWindows = 0): VadModel {
  return vadOf(() => {
    let loud = 0;
    return {
      process(window) {
        loud = levelDb(window) > -40 ? loud + 1 : 0;
        return loud > lagWindows ? 0.95 : 0.02;
      },
      skip() {
        loud = 0;
      },
      reset() {
        loud = 0;
      },
    };
  });
}

export class FakeStt implements SpeechToText {
  readonly name = 'fake';
  readonly model = 'fake';
  capabilities: SttCapabilities = { interimWords: true, finalMsP99: 100 };
  /** Answers `finalize` after this long; never if NaN. */
  finalMs = 40;
  confidence: number | null = 0.9;
  framesHeard = 0;
  begins = 0;
  finalizes = 0;
  /** Reported when a call closes it. */
  usage: ServiceUsage | undefined;
  expectation: ExpectedInput | undefined;
  agentTexts: string[] = [];
  closed = false;
  readonly #clock: Clock;
  #listener: RecognizerListener | undefined;
  #text = '';

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  open(expectation: ExpectedInput, listener: RecognizerListener): Recognizer {
    this.expectation = expectation;
    this.#listener = listener;
    return {
      push: () => {
        this.framesHeard++;
      },
      speechStarted: () => {
        this.begins++;
      },
      finalize: () => {
        this.finalizes++;
        if (Number.isNaN(this.finalMs)) return;
        this.#clock.after(this.finalMs, () => this.final());
      },
      expect: (next) => {
        this.expectation = next;
      },
      agentSaid: (text) => {
        this.agentTexts.push(text);
      },
      close: () => {
        this.closed = true;
        if (this.usage !== undefined) listener.onUsage?.(this.usage);
      },
    };
  }

  /** What it understands from now on; told at once as a partial unless `silently`. */
  understand(text: string, how: { silently?: boolean } = {}): void {
    this.#text = text;
    if (how.silently !== true) {
      this.#listener?.onPartial({ text, confidence: null });
    }
  }

  final(): void {
    const text = this.#text;
    this.#text = '';
    this.#listener?.onFinal({ text, confidence: text === '' ? null : this.confidence });
  }

  /** It takes the turn for over, with the last words. */
  probablyEnds(): void {
    this.#listener?.onTurn?.('eager-end', { text: this.#text, confidence: null });
  }

  die(): void {
    this.#listener?.onError(new GatewayError('STT_FAILED', { reason: 'died' }));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

export class FakeTts implements TextToSpeech {
  readonly name = 'fake';
  readonly model = 'fake';
  /** Before the first audio. */
  firstAudioMs = 0;
  msPerCharacter = 60;
  wordTimings = true;
  amplitude = 3_300;
  /** Texts that contain this fail after so much of their audio. */
  fails: { text: string; afterMs: number } | undefined;
  readonly asked: string[] = [];
  /** Lines that are rendered ahead. */
  readonly rendered: string[] = [];
  aborted = 0;
  prepared = 0;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  prepare(): void {
    this.prepared += 1;
  }

  synthesize(
    request: { text: string; isFixed?: boolean; isAhead?: boolean },
    listener: Pick<SpeechListener, 'onAudio' | 'onWords'>,
    signal: AbortSignal,
  ): Promise<void> {
    (request.isFixed === true ? this.rendered : this.asked).push(request.text);
    const failing = this.fails !== undefined && request.text.includes(this.fails.text);
    // What nobody waits for yet is there at once, unless a test makes the voice slow.
    if (request.isAhead === true && this.firstAudioMs === 0 && !failing) {
      this.#deliver(request.text, this.durationMs(request.text), listener);
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const timer = this.#clock.after(this.firstAudioMs, () => {
        const wholeMs = this.durationMs(request.text);
        const ms = failing ? (this.fails?.afterMs ?? 0) : wholeMs;
        this.#deliver(request.text, ms, listener);
        if (failing) reject(new GatewayError('TTS_FAILED', { reason: 'fake' }));
        else resolve();
      });
      signal.addEventListener('abort', () => {
        this.aborted++;
        timer.cancel();
        reject(signal.reason);
      });
    });
  }

  #deliver(text: string, ms: number, listener: Pick<SpeechListener, 'onAudio' | 'onWords'>): void {
    if (this.wordTimings) listener.onWords(this.#words(text));
    for (let at = 0; at < ms; at += 100) {
      listener.onAudio(hum(Math.min(100, ms - at), this.amplitude, at));
    }
  }

  durationMs(text: string): number {
    return text.length * this.msPerCharacter;
  }

  #words(text: string): WordTiming[] {
    return [...text.matchAll(/\S+/g)].map((word) => ({
      word: word[0],
      startMs: word.index * this.msPerCharacter,
      endMs: (word.index + word[0].length) * this.msPerCharacter,
    }));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** A 250 Hz square wave at 8 kHz whose phase follows `atMs`. */
export function hum(ms: number, amplitude: number, atMs = 0): Int16Array {
  const samples = new Int16Array(Math.round(ms * 8));
  for (let i = 0; i < samples.length; i++) {
    samples[i] = (i + atMs * 8) % 32 < 16 ? amplitude : -amplitude;
  }
  return samples;
}
