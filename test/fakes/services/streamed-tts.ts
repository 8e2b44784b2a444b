// A synthesiser that takes an utterance in pieces, under a test's control: a hum of 60 ms for each character of the pieces
// joined by spaces, on the clock.

import { GatewayError } from '../../../src/errors/gateway-error.ts';
import { ServiceFault } from '../../../src/speech/service/service-fault.ts';
import type { SpeechStream, TextToSpeech, UtteranceListener } from '../../../src/speech/tts/tts.ts';
import type { Clock, Timer } from '../../../src/std/clock.ts';
import { MS_PER_CHARACTER, wordsOf } from '../call/scripted-voice.ts';
import { hum } from '../speech-services.ts';

export interface StreamedTtsOptions {
  clock: Clock;
  name?: string;
  /** From the text to its audio. */
  firstAudioMs?: number;
  /** Its own limit for that. */
  audioWaitMs?: number;
  /** Multiples of real time in which audio comes. Default: all at once. */
  speed?: number;
  wordTimes?: boolean;
  /** Default: 60, and so are the times of words. */
  msPerCharacter?: number;
  /** After so much audio of a stream. Asked for each stream. */
  failure?: () => { afterMs: number; fault: ServiceFault | 'silent' | 'done' } | undefined;
}

export class StreamedTts implements TextToSpeech {
  readonly name: string;
  readonly model = 'fake';
  readonly audioWaitMs?: number;
  /** Everything that was asked, in order: `push Hello,`, `flush`, `end`, `cancel`. */
  readonly log: string[] = [];
  readonly voices: (string | undefined)[] = [];
  readonly #options: StreamedTtsOptions;

  constructor(options: StreamedTtsOptions) {
    this.#options = options;
    this.name = options.name ?? 'streamed';
    if (options.audioWaitMs !== undefined) this.audioWaitMs = options.audioWaitMs;
  }

  stream(voice: string | undefined, listener: UtteranceListener): SpeechStream {
    this.voices.push(voice);
    const utterance = new StreamedUtterance(this.#options, listener);
    return {
      push: (text) => {
        this.log.push(`push ${text}`);
        const usage = { job: 'tts', service: this.name, model: 'fake', source: 'counted' } as const;
        listener.onUsage?.({ ...usage, unit: 'characters', amount: text.length });
        utterance.push(text);
      },
      flush: () => void this.log.push('flush'),
      end: () => {
        this.log.push('end');
        utterance.end();
      },
      cancel: () => {
        this.log.push('cancel');
        utterance.stop();
      },
    };
  }

  synthesize(): Promise<void> {
    return Promise.reject(new GatewayError('TTS_FAILED', { reason: 'not asked by this test' }));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

class StreamedUtterance {
  readonly #options: StreamedTtsOptions;
  readonly #listener: UtteranceListener;
  readonly #failure: ReturnType<NonNullable<StreamedTtsOptions['failure']>>;
  #text = '';
  #spokenMs = 0;
  #words = 0;
  #isEnded = false;
  #isOver = false;
  #timer: Timer | undefined;

  constructor(options: StreamedTtsOptions, listener: UtteranceListener) {
    this.#options = options;
    this.#listener = listener;
    this.#failure = options.failure?.();
  }

  push(text: string): void {
    this.#text += this.#text === '' ? text : ` ${text}`;
    this.#wake();
  }

  end(): void {
    this.#isEnded = true;
    this.#wake();
  }

  stop(): void {
    this.#isOver = true;
    this.#timer?.cancel();
  }

  #wake(): void {
    const { clock, firstAudioMs = 0 } = this.#options;
    const waitMs = this.#spokenMs === 0 ? firstAudioMs : 0;
    this.#timer ??= clock.after(waitMs, () => this.#speak());
  }

  #speak(): void {
    this.#timer = undefined;
    const { speed, clock, msPerCharacter = MS_PER_CHARACTER } = this.#options;
    while (!this.#isOver) {
      const wholeMs = this.#text.length * msPerCharacter;
      const failsAt = this.#failure?.afterMs ?? Number.POSITIVE_INFINITY;
      if (this.#spokenMs >= failsAt) {
        this.#fail();
        return;
      }
      const ms = Math.min(100, wholeMs - this.#spokenMs, failsAt - this.#spokenMs);
      if (ms <= 0) {
        this.#pause();
        return;
      }
      this.#deliver(ms);
      if (speed === undefined) continue;
      this.#timer = clock.after(ms / speed, () => this.#speak());
      return;
    }
  }

  #deliver(ms: number): void {
    const from = this.#spokenMs;
    this.#spokenMs += ms;
    if (this.#options.wordTimes !== false) {
      const words = wordsOf(this.#text).filter(({ endMs }) => endMs <= this.#spokenMs);
      this.#listener.onWords(words.slice(this.#words));
      this.#words = words.length;
    }
    this.#listener.onAudio(hum(ms, 3_300, from));
  }

  #pause(): void {
    if (!this.#isEnded) return;
    this.#isOver = true;
    this.#listener.onDone();
  }

  #fail(): void {
    this.#isOver = true;
    const fault = this.#failure?.fault;
    if (fault === 'silent' || fault === undefined) return;
    if (fault === 'done') this.#listener.onDone();
    else this.#listener.onError(fault);
  }
}

export function faultOf(kind: ServiceFault['kind'], service = 'streamed'): ServiceFault {
  return new ServiceFault('tts', service, kind, { detail: `${kind} of a test` });
}
