// Synthesiser behind the Wyoming protocol (Piper and others, self-hosted). Each sentence, or each utterance if the
// server accepts text in pieces, has its own connection; a cancel closes it.

import { serviceSeconds } from '../../../metrics/speech-metrics.ts';
import type { WyomingTtsSettings } from '../../../model/speech-services/schemas/generic-tts.ts';
import type { ServiceFault } from '../../service/service-fault.ts';
import type { ServiceMeans } from '../../service/service-means.ts';
import type {
  SpeechListener,
  SpeechStream,
  TextToSpeech,
  UtteranceListener,
} from '../../tts/tts.ts';
import { httpAddress } from './wyoming-connection.ts';
import { WyomingSpeech } from './wyoming-speech.ts';

/** Matches text that a synthesiser can speak. It answers nothing to anything else. */
const SPEAKABLE = /[\p{L}\p{N}]/u;

export class WyomingTts implements TextToSpeech {
  readonly name = 'wyoming';
  readonly model: string;
  /** Only for servers that accept text in pieces. */
  readonly stream?: NonNullable<TextToSpeech['stream']>;
  readonly #settings: WyomingTtsSettings;
  readonly #means: ServiceMeans;

  constructor(settings: WyomingTtsSettings, means: ServiceMeans) {
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
