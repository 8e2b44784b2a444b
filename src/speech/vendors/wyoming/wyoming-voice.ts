// Synthesiser behind the Wyoming protocol (Piper and others, self-hosted). Each sentence, or each utterance if the
// server accepts text in pieces, has its own connection; a cancel closes it.

import { RESAMPLED_RATES } from '../../../audio/resample/resampler.ts';
import { serviceSeconds } from '../../../metrics/speech-metrics.ts';
import type { TtsServiceSettings } from '../../../model/speech-services/services.ts';
import type { Timer } from '../../../std/clock.ts';
import type { ServiceFault } from '../../service/service-fault.ts';
import type { ServiceMeans } from '../../service/service-means.ts';
import { SpeechDecoder } from '../../tts/speech-decoder.ts';
import type {
  SpeechListener,
  SpeechStream,
  TextToSpeech,
  UtteranceListener,
} from '../../tts/tts.ts';
import { httpAddress, WyomingConnection, type WyomingEvent } from './wyoming-connection.ts';

/** Matches text that a synthesiser can speak. It answers nothing to anything else. */
const SPEAKABLE = /[\p{L}\p{N}]/u;

export function createWyomingVoice(
  settings: TtsServiceSettings<'wyoming'>,
  means: ServiceMeans,
): TextToSpeech {
  return new WyomingTts(settings, means);
}

class WyomingTts implements TextToSpeech {
  readonly name = 'wyoming';
  readonly model: string;
  /** Only for servers that accept text in pieces. */
  readonly stream?: NonNullable<TextToSpeech['stream']>;
  readonly #settings: TtsServiceSettings<'wyoming'>;
  readonly #means: ServiceMeans;

  constructor(settings: TtsServiceSettings<'wyoming'>, means: ServiceMeans) {
    this.model = settings.voice ?? 'wyoming';
    this.#settings = settings;
    this.#means = means;
    if (settings.streaming) this.stream = (voice, listener) => this.#stream(voice, listener);
  }

  synthesize(
    { text, voice }: { text: string; voice: string | undefined },
    listener: SpeechListener,
    signal: AbortSignal,
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      if (!SPEAKABLE.test(text)) {
        resolve();
        return;
      }
      const onAbort = (): void => {
        speech.close();
        reject(signal.reason);
      };
      const speech = this.#begin(voice, listener, (fault) => {
        signal.removeEventListener('abort', onAbort);
        if (fault === undefined) resolve();
        else reject(fault);
      });
      signal.addEventListener('abort', onAbort, { once: true });
      speech.say(text);
      this.#count(listener, text);
    });
  }

  prepare(): void {
    this.#means.warm.prepare(httpAddress(this.#settings.base_url).href);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #stream(voice: string | undefined, listener: UtteranceListener): SpeechStream {
    const begin = () =>
      this.#begin(voice, listener, (fault) => {
        if (fault === undefined) listener.onDone();
        else listener.onError(fault);
      });
    const count = (text: string) => this.#count(listener, text);
    return utterance(begin, { count, onNothing: listener.onDone, means: this.#means });
  }

  #begin(
    voice: string | undefined,
    listener: Pick<SpeechListener, 'onAudio'>,
    end: (fault: ServiceFault | undefined) => void,
  ): WyomingSpeech {
    const { clock } = this.#means;
    const startedMs = clock.monotonicMs();
    let isFirst = true;
    const observe = (result: string): void => {
      if (!isFirst) return;
      isFirst = false;
      const seconds = (clock.monotonicMs() - startedMs) / 1_000;
      serviceSeconds.observe({ kind: 'tts', service: 'wyoming', result }, seconds);
    };
    return new WyomingSpeech({
      url: this.#settings.base_url,
      voice: this.#voiceOf(voice),
      means: this.#means,
      listener: {
        onAudio(samples) {
          observe('ok');
          listener.onAudio(samples);
        },
        onEnd(fault) {
          if (fault !== undefined) observe(fault.code);
          end(fault);
        },
      },
    });
  }

  #voiceOf(wanted: string | undefined): Record<string, unknown> {
    const { voice, language, speaker } = this.#settings;
    const name = wanted ?? voice;
    return {
      ...(name !== undefined && { name }),
      ...(language !== undefined && { language }),
      ...(speaker !== undefined && { speaker }),
    };
  }

  #count(listener: SpeechListener, text: string): void {
    const { model } = this;
    const amount = [...text].length;
    const usage = { job: 'tts', service: 'wyoming', model, unit: 'characters', amount } as const;
    listener.onUsage?.({ ...usage, source: 'counted' });
  }
}

/** Opens an utterance. One without speakable text opens no connection. */
function utterance(
  begin: () => WyomingSpeech,
  {
    count,
    onNothing,
    means,
  }: { count(text: string): void; onNothing(): void; means: ServiceMeans },
): SpeechStream {
  let speech: WyomingSpeech | undefined;
  let isOver = false;
  let isCancelled = false;
  return {
    push(text) {
      if (isOver || !SPEAKABLE.test(text)) return;
      speech ??= begin();
      speech.push(text);
      count(text);
    },
    flush() {
      // The server speaks each sentence as soon as it is complete.
    },
    end() {
      if (isOver) return;
      isOver = true;
      if (speech !== undefined) {
        speech.end();
        return;
      }
      means.clock.after(0, () => {
        if (speech === undefined && !isCancelled) onNothing();
      });
    },
    cancel() {
      isOver = true;
      isCancelled = true;
      speech?.close();
    },
  };
}

/** Deadline from the text to the first audio, and between two events. A small machine speaks a sentence in a second. */
const EVENT_MS_MAX = 6_000;
/** Silence after the last audio that ends a text in pieces: older servers do not announce its end. */
const QUIET_MS_MAX = 500;
/** Longest utterance: three minutes. */
const SAMPLES_MAX = 3 * 60 * 8_000;
/** Longest text, which is repeated at the end for servers that do not accept pieces. */
const TEXT_CHARACTERS_MAX = 20_000;

interface WyomingSpeechOptions {
  url: string;
  voice: Record<string, unknown>;
  means: ServiceMeans;
  listener: {
    onAudio(samples: Int16Array): void;
    /** Called once, unless `close` came first. Undefined: all audio has been delivered. */
    onEnd(fault: ServiceFault | undefined): void;
  };
}

/** Speech over one connection: a text, or a text in pieces, to samples at 8 kHz. */
class WyomingSpeech {
  readonly #options: WyomingSpeechOptions;
  readonly #connection: WyomingConnection;
  #decoder: SpeechDecoder | undefined;
  #rateHz = 0;
  #samples = 0;
  /** Text that was pushed in pieces; undefined before the first. */
  #pieces: string | undefined;
  #isAllSaid = false;
  #quiet: Timer | undefined;

  constructor(options: WyomingSpeechOptions) {
    this.#options = options;
    this.#connection = new WyomingConnection({
      job: 'tts',
      url: options.url,
      means: options.means,
      listener: {
        onEvent: (event) => this.#event(event),
        onFault: (fault) => this.#broken(fault),
      },
    });
  }

  /** Speaks a whole text. */
  say(text: string): void {
    this.#isAllSaid = true;
    this.#connection.send('synthesize', { text: clean(text), ...this.#voice });
    this.#connection.expectEvent(EVENT_MS_MAX);
  }

  push(text: string): void {
    const piece = `${clean(text)} `;
    if (this.#pieces === undefined) this.#connection.send('synthesize-start', this.#voice);
    this.#pieces = ((this.#pieces ?? '') + piece).slice(0, TEXT_CHARACTERS_MAX);
    this.#connection.send('synthesize-chunk', { text: piece });
  }

  /** Ends the pieces and repeats the whole text. Servers that accept pieces ignore the repetition; others speak it. */
  end(): void {
    this.#isAllSaid = true;
    this.#connection.send('synthesize', { text: (this.#pieces ?? '').trim(), ...this.#voice });
    this.#connection.send('synthesize-stop');
    this.#connection.expectEvent(EVENT_MS_MAX);
  }

  close(): void {
    this.#quiet?.cancel();
    this.#connection.close();
  }

  get #voice(): Record<string, unknown> {
    const { voice } = this.#options;
    return Object.keys(voice).length === 0 ? {} : { voice };
  }

  #event({ type, data, payload }: WyomingEvent): void {
    this.#quiet?.cancel();
    this.#quiet = undefined;
    // The server may stay silent between pieces.
    this.#connection.expectEvent(this.#isAllSaid ? EVENT_MS_MAX : undefined);
    if (type === 'audio-chunk') this.#audio(data, payload);
    else if (type === 'audio-stop') this.#stopped();
    else if (type === 'synthesize-stopped') this.#end();
  }

  #audio(data: Record<string, unknown>, payload: Buffer): void {
    const { rate, width = 2, channels = 1 } = data;
    if (typeof rate !== 'number' || width !== 2 || channels !== 1) {
      this.#fail('audio that is not 16-bit mono');
      return;
    }
    if (!RESAMPLED_RATES.includes(rate)) {
      this.#fail(`audio at ${rate} Hz`);
      return;
    }
    if (rate !== this.#rateHz) this.#decoder = new SpeechDecoder(`s16@${rate}`);
    this.#rateHz = rate;
    const samples = this.#decoder?.decode(payload) ?? new Int16Array();
    this.#samples += samples.length;
    if (this.#samples > SAMPLES_MAX) this.#fail('speech without an end');
    else if (samples.length > 0) this.#options.listener.onAudio(samples);
  }

  #stopped(): void {
    if (this.#pieces === undefined) {
      this.#end();
    } else if (this.#isAllSaid) {
      const { clock } = this.#options.means;
      this.#quiet = clock.after(QUIET_MS_MAX, () => this.#end());
    }
  }

  #broken(fault: ServiceFault): void {
    const isDone = this.#quiet !== undefined && fault.kind === 'network' && this.#samples > 0;
    this.#quiet?.cancel();
    this.#options.listener.onEnd(isDone ? undefined : fault);
  }

  #fail(detail: string): void {
    this.#connection.fail('protocol', detail);
  }

  /** Ends the speech. A text with letters but without audio would otherwise be silence without a fault. */
  #end(): void {
    if (this.#samples === 0) {
      this.#fail('no audio for a text');
      return;
    }
    this.close();
    this.#options.listener.onEnd(undefined);
  }
}

/** Puts the text on one line, since servers read each line as a separate text, and removes lone surrogates, which UTF-8
 *  cannot encode. */
function clean(text: string): string {
  return text.replace(/[\p{Cc}\p{Cs}\s]+/gu, ' ').trim();
}
