// Local part of one utterance at a service: decodes its audio, counts its text, and reports to the listener until it is
// done, failed or cancelled. Independent of the protocol.

import { samplesToMs } from '../../../audio/pcm.ts';
import { serviceFaults, serviceSeconds } from '../../../metrics/speech-metrics.ts';
import type { Clock } from '../../../std/clock.ts';
import { type FaultDetails, type FaultKind, ServiceFault } from '../../service/service-fault.ts';
import { SpeechDecoder, type TtsAudioFormat } from '../speech-decoder.ts';
import type { UtteranceListener, WordTiming } from '../tts.ts';

/** Longest audio for each character, and a fixed allowance: the slowest speech is far faster. */
const MS_PER_CHARACTER_MAX = 1_000;
const BESIDE_TEXT_MS_MAX = 30_000;
/** Words with times: an hour of speech. */
const WORDS_MAX = 10_000;

export interface ServiceUtteranceOptions {
  /** Service name as in the configuration: `elevenlabs`. */
  service: string;
  model: string;
  format: TtsAudioFormat;
  clock: Clock;
  listener: UtteranceListener;
}

export class ServiceUtterance {
  readonly #options: ServiceUtteranceOptions;
  readonly #decoder: SpeechDecoder;
  #samples = 0;
  #characters = 0;
  /** Characters of text that waits for its connection. */
  #unsent = 0;
  #words = 0;
  #firstTextAt: number | undefined;
  #isOver = false;

  constructor(options: ServiceUtteranceOptions) {
    this.#options = options;
    this.#decoder = new SpeechDecoder(options.format);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get hasAudio(): boolean {
    return this.#samples > 0;
  }

  /** Milliseconds of audio so far. */
  get audioMs(): number {
    return samplesToMs(this.#samples);
  }

  /** Records text for the service. `isSent`: it was sent at once; otherwise `sent` follows when the connection is
   *  ready. */
  pushed(text: string, isSent: boolean): void {
    this.#firstTextAt ??= this.#options.clock.monotonicMs();
    const amount = text.trim().length;
    this.#characters += amount;
    this.#unsent += amount;
    if (isSent) this.sent();
  }

  /** Records that the pushed text was sent: it is billed whether or not it is heard. */
  sent(): void {
    const { service, model, listener } = this.#options;
    const amount = this.#unsent;
    this.#unsent = 0;
    if (amount === 0) return;
    listener.onUsage?.({
      job: 'tts',
      service,
      model,
      unit: 'characters',
      amount,
      source: 'counted',
    });
  }

  /** Takes audio. Far more than the text can have is a fault: `isOver` is true afterwards. */
  audio(bytes: Uint8Array): void {
    if (this.#isOver) return;
    const samples = this.#decoder.decode(bytes);
    if (samples.length === 0) return;
    if (this.#samples === 0) this.#observe('ok');
    this.#samples += samples.length;
    if (this.audioMs > this.#characters * MS_PER_CHARACTER_MAX + BESIDE_TEXT_MS_MAX) {
      this.fault('protocol', 'speech without an end');
      return;
    }
    this.#options.listener.onAudio(samples);
  }

  words(words: readonly WordTiming[]): void {
    if (this.#isOver || words.length === 0) return;
    this.#words += words.length;
    if (this.#words > WORDS_MAX) this.fault('protocol', 'words without an end');
    else this.#options.listener.onWords(words);
  }

  /** The service has sent everything. No audio at all for its text is a fault: services answer so if the account is
   *  used up. */
  done(): void {
    if (this.#isOver) return;
    if (this.#firstTextAt !== undefined && this.#samples === 0) {
      this.fault('overload', 'no audio for the text');
      return;
    }
    this.#isOver = true;
    this.#options.listener.onDone();
  }

  fail(fault: ServiceFault): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#samples === 0) this.#observe(fault.code);
    this.#options.listener.onError(fault);
  }

  /** Fails with a fault of this utterance only, not of its connection. */
  fault(kind: FaultKind, detail: string, more: Partial<FaultDetails> = {}): void {
    if (this.#isOver) return;
    const { service } = this.#options;
    serviceFaults.inc({ kind: 'tts', service, fault: kind });
    this.fail(new ServiceFault('tts', service, kind, { ...more, detail }));
  }

  cancel(): void {
    this.#isOver = true;
  }

  #observe(result: string): void {
    const { service, clock } = this.#options;
    const seconds = (clock.monotonicMs() - (this.#firstTextAt ?? clock.monotonicMs())) / 1_000;
    serviceSeconds.observe({ kind: 'tts', service, result }, seconds);
  }
}
