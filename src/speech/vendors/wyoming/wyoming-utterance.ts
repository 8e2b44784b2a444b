// One utterance on its own connection to a Wyoming recogniser: transcribe, audio, stop, transcript.

import { joinTexts } from '../../../std/text/unspaced-text.ts';
import type { FaultKind, ServiceFault } from '../../service/service-fault.ts';
import type { ServiceMeans } from '../../service/service-means.ts';
import { AudioPackets } from '../../stt/audio-packets.ts';
import { WyomingConnection } from './wyoming-connection.ts';
import type { WyomingEvent } from './wyoming-events.ts';

/** Audio format. Speech models use 16 kHz, and not every server resamples. */
const FORMAT = { rate: 16_000, width: 2, channels: 1 } as const;
/** Deadline from the end of the audio to the words. A busy server transcribes one utterance after the other. */
const WORDS_MS_MAX = 10_000;
/** Longest text of one utterance. */
const TEXT_CHARACTERS_MAX = 10_000;

export interface WyomingUtteranceOptions {
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

export class WyomingUtterance {
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
