// Recogniser behind the Wyoming protocol (faster-whisper, Vosk and others, self-hosted). Sends only speech, while the
// caller speaks. Each utterance has its own connection, because servers close it after the words.

import { RATE_HZ } from '../../../audio/pcm.ts';
import { serviceSeconds } from '../../../metrics/speech-metrics.ts';
import type { ExpectedInput } from '../../../model/expected-input.ts';
import type { SttServiceSettings } from '../../../model/speech-services/services.ts';
import type { Timer } from '../../../std/clock.ts';
import { joinTexts } from '../../../std/text/unspaced-text.ts';
import type { FaultKind, ServiceFault } from '../../service/service-fault.ts';
import type { ServiceMeans } from '../../service/service-means.ts';
import { AudioPackets } from '../../stt/audio-packets.ts';
import { createGatedAudio, type GatedAudio } from '../../stt/gated-audio.ts';
import { NO_WORDS } from '../../stt/joined-words.ts';
import type { Recognizer, RecognizerListener, SpeechToText } from '../../stt/stt.ts';
import { httpAddress, WyomingConnection, type WyomingEvent } from './wyoming-connection.ts';

/** 99th percentile of Whisper on a small machine. */
const FINAL_MS_P99 = 1_500;
/** Utterances whose words are due. The turns of a caller do not overlap. */
const UTTERANCES_MAX = 4;
/** Wait for the last words at the end of the call. */
const LAST_MS_MAX = 2_000;

export function createWyomingStt(
  settings: SttServiceSettings<'wyoming'>,
  means: ServiceMeans,
): SpeechToText {
  const { base_url: url, model, streaming } = settings;
  return {
    name: 'wyoming',
    model: model ?? 'wyoming',
    capabilities: {
      interimWords: streaming,
      finalMsP99: FINAL_MS_P99,
      gated: true,
      setsLanguage: true,
    },
    open: (_: ExpectedInput, listener) => new WyomingRecognizer(settings, means, listener),
    prepare: () => means.warm.prepare(httpAddress(url).href),
    close: () => Promise.resolve(),
  };
}

class WyomingRecognizer implements Recognizer {
  readonly #settings: SttServiceSettings<'wyoming'>;
  readonly #means: ServiceMeans;
  readonly #listener: RecognizerListener;
  readonly #audio: GatedAudio;
  /** Utterances, oldest first. The last one is being spoken while the gate is open. */
  readonly #utterances: WyomingUtterance[] = [];
  #language: string | undefined;
  #sentSamples = 0;
  /** Whether it accepts no more audio. */
  #isOver = false;
  /** Whether it reports nothing more. */
  #isClosed = false;
  /** Utterance that the end of the call cut off: no `finalize` asked for its words. */
  #cut: WyomingUtterance | undefined;
  #deadline: Timer | undefined;
  #onClosed: (() => void) | undefined;

  constructor(
    settings: SttServiceSettings<'wyoming'>,
    means: ServiceMeans,
    listener: RecognizerListener,
  ) {
    this.#settings = settings;
    this.#means = means;
    this.#listener = listener;
    this.#language = settings.language;
    this.#audio = createGatedAudio((samples) => {
      this.#sentSamples += samples.length;
      this.#utterances.at(-1)?.audio(samples);
    });
  }

  push(frame: Int16Array): void {
    if (!this.#isOver) this.#audio.push(frame);
  }

  speechStarted(): void {
    if (this.#isOver || this.#audio.open) return;
    this.#begin(true);
    if (!this.#isOver) this.#audio.start();
  }

  finalize(): void {
    if (this.#isOver) return;
    if (this.#audio.open) this.#endUtterance();
    else {
      this.#begin(false);
      this.#utterances.at(-1)?.finish();
    }
  }

  expect(): void {
    // The protocol has no phrase lists.
  }

  setLanguage(language: string): void {
    this.#language = language;
  }

  finish(): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    if (this.#audio.open) {
      this.#cut = this.#utterances.at(-1);
      this.#endUtterance();
    }
    this.#isOver = true;
    return new Promise((resolve) => {
      this.#onClosed = resolve;
      this.#deadline = this.#means.clock.after(LAST_MS_MAX, () => this.close());
      if (this.#utterances.length === 0) this.close();
    });
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isOver = true;
    this.#isClosed = true;
    this.#deadline?.cancel();
    this.#reportUsage();
    for (const utterance of this.#utterances.splice(0)) utterance.close();
    this.#onClosed?.();
  }

  #endUtterance(): void {
    this.#audio.stop();
    this.#utterances.at(-1)?.finish();
    this.#reportUsage();
  }

  #begin(hasSpeech: boolean): void {
    if (this.#utterances.length >= UTTERANCES_MAX) {
      this.#utterances[0]?.fail('overload', 'the words of earlier utterances are due');
      return;
    }
    const { base_url: url, model } = this.#settings;
    const utterance: WyomingUtterance = new WyomingUtterance({
      url,
      model,
      language: this.#language,
      hasSpeech,
      means: this.#means,
      listener: {
        onPartial: (text) => {
          if (utterance === this.#utterances.at(-1)) {
            this.#listener.onPartial({ text, confidence: null });
          }
        },
        onWords: () => this.#answer(),
        onFault: (fault) => this.#fail(fault),
      },
    });
    this.#utterances.push(utterance);
  }

  /** Reports the words of the oldest utterances, in order. */
  #answer(): void {
    for (let [oldest] = this.#utterances; oldest?.isAnswered; [oldest] = this.#utterances) {
      this.#utterances.shift();
      this.#observe('ok', oldest.waitedMs);
      const isAsked = oldest !== this.#cut;
      if (isAsked || oldest.text !== '') {
        this.#listener.onFinal({ ...NO_WORDS, text: oldest.text });
      }
      if (this.#isClosed) return;
    }
    if (this.#isOver && this.#utterances.length === 0) this.close();
  }

  #fail(fault: ServiceFault): void {
    if (this.#isClosed) return;
    this.#observe(fault.code, this.#utterances[0]?.waitedMs ?? 0);
    this.close();
    this.#listener.onError(fault);
  }

  #observe(result: string, ms: number): void {
    serviceSeconds.observe({ kind: 'stt', service: 'wyoming', result }, ms / 1_000);
  }

  #reportUsage(): void {
    if (this.#sentSamples === 0) return;
    this.#listener.onUsage?.({
      job: 'stt',
      service: 'wyoming',
      model: this.#settings.model ?? 'wyoming',
      unit: 'seconds',
      amount: this.#sentSamples / RATE_HZ,
      source: 'counted',
    });
    this.#sentSamples = 0;
  }
}

/** Audio format. Speech models use 16 kHz, and not every server resamples. */
const FORMAT = { rate: 16_000, width: 2, channels: 1 } as const;
/** Deadline from the end of the audio to the words. A busy server transcribes one utterance after the other. */
const WORDS_MS_MAX = 10_000;
/** Longest text of one utterance. */
const TEXT_CHARACTERS_MAX = 10_000;

interface WyomingUtteranceOptions {
  url: string;
  model: string | undefined;
  language: string | undefined;
  /** False if the audio has no speech: then nothing is requested, and the words are empty. */
  hasSpeech: boolean;
  means: ServiceMeans;
  listener: {
    onPartial(text: string): void;
    /** Called when `isAnswered` becomes true. */
    onWords(): void;
    onFault(fault: ServiceFault): void;
  };
}

/** One utterance on its own connection: transcribe, audio, stop, transcript. */
class WyomingUtterance {
  readonly #options: WyomingUtteranceOptions;
  readonly #packets: AudioPackets;
  #connection: WyomingConnection | undefined;
  /** Transcripts that arrived before the audio's end, because the server detected an end itself. */
  #before = '';
  #chunks = '';
  #finishedMs: number | undefined;
  #answeredMs: number | undefined;

  constructor(options: WyomingUtteranceOptions) {
    this.#options = options;
    if (options.hasSpeech) this.#connection = this.#connect();
    this.#packets = new AudioPackets({
      format: 's16@16000',
      packetMs: 100,
      send: (packet) => this.#connection?.send('audio-chunk', FORMAT, packet),
    });
  }

  get text(): string {
    return this.#before;
  }

  get isAnswered(): boolean {
    return this.#answeredMs !== undefined;
  }

  /** Milliseconds from the end of the audio to the words, or to now. */
  get waitedMs(): number {
    const nowMs = this.#options.means.clock.monotonicMs();
    return (this.#answeredMs ?? nowMs) - (this.#finishedMs ?? nowMs);
  }

  /** Sends audio, 8 kHz. */
  audio(samples: Int16Array): void {
    this.#packets.push(samples);
  }

  /** Ends the audio. */
  finish(): void {
    const { clock } = this.#options.means;
    this.#finishedMs = clock.monotonicMs();
    if (this.#connection === undefined) {
      clock.after(0, () => this.#answer());
      return;
    }
    this.#packets.flush();
    this.#connection.send('audio-stop');
    this.#connection.expectEvent(WORDS_MS_MAX);
  }

  fail(kind: FaultKind, detail: string): void {
    this.#connection?.fail(kind, detail);
  }

  close(): void {
    this.#connection?.close();
    // A late timer must not report an answer.
    this.#answeredMs ??= Number.NaN;
  }

  #connect(): WyomingConnection {
    const { url, model: name, language, means, listener } = this.#options;
    const connection = new WyomingConnection({
      job: 'stt',
      url,
      means,
      listener: {
        onEvent: (event) => this.#event(event),
        onFault: (fault) => listener.onFault(fault),
      },
    });
    connection.send('transcribe', {
      ...(name !== undefined && { name }),
      ...(language !== undefined && { language }),
    });
    connection.send('audio-start', FORMAT);
    return connection;
  }

  #event({ type, data }: WyomingEvent): void {
    const text = typeof data['text'] === 'string' ? data['text'] : '';
    if (type === 'transcript') {
      this.#transcript(text);
    } else if (type === 'transcript-chunk') {
      this.#chunks = (this.#chunks + text).slice(0, TEXT_CHARACTERS_MAX);
      this.#options.listener.onPartial(joined(this.#before, this.#chunks));
    } else if (type === 'transcript-stop') {
      // The transcript may follow, may have arrived before, or may be missing.
      if (this.#chunks !== '') this.#transcript(this.#chunks);
    }
  }

  #transcript(text: string): void {
    this.#before = joined(this.#before, text).slice(0, TEXT_CHARACTERS_MAX);
    this.#chunks = '';
    this.#connection?.close();
    if (this.#finishedMs !== undefined) {
      this.#answer();
      return;
    }
    if (text !== '') this.#options.listener.onPartial(this.#before);
    this.#connection = this.#connect();
  }

  #answer(): void {
    if (this.isAnswered) return;
    this.#answeredMs = this.#options.means.clock.monotonicMs();
    this.#connection?.close();
    this.#options.listener.onWords();
  }
}

function joined(before: string, after: string): string {
  return joinTexts([before.trim(), after.trim()]).replace(/\s+/g, ' ');
}
