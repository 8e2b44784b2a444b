// Streams an utterance to a synthesiser that accepts sentences only: one request for each piece, in sequence.

import { GatewayError } from '../../../errors/gateway-error.ts';
import { isSpeakable } from '../speakable.ts';
import type { SpeechListener, SpeechStream, TextToSpeech, UtteranceListener } from '../tts.ts';

export class SentenceStream implements SpeechStream {
  readonly #tts: TextToSpeech;
  readonly #voice: string | undefined;
  readonly #listener: UtteranceListener;
  readonly #abort = new AbortController();
  readonly #waiting: string[] = [];
  #samplesBefore = 0;
  #isRunning = false;
  #isEnded = false;
  #isOver = false;

  constructor(tts: TextToSpeech, voice: string | undefined, listener: UtteranceListener) {
    this.#tts = tts;
    this.#voice = voice;
    this.#listener = listener;
  }

  push(text: string): void {
    if (this.#isEnded || !isSpeakable(text)) return;
    this.#waiting.push(text);
    this.#wake();
  }

  flush(): void {
    // Each piece is requested at once.
  }

  end(): void {
    this.#isEnded = true;
    this.#wake();
  }

  cancel(): void {
    this.#isOver = true;
    this.#waiting.length = 0;
    this.#abort.abort();
  }

  #wake(): void {
    if (this.#isRunning || this.#isOver) return;
    this.#run().catch((error: unknown) => {
      const known =
        error instanceof GatewayError
          ? error
          : new GatewayError('TTS_FAILED', { reason: 'unexpected' }, error);
      this.#finish(() => this.#listener.onError(known));
    });
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    // Deferred until the caller's own call has returned.
    await Promise.resolve();
    const waiting = this.#waiting;
    for (let text = waiting.shift(); text !== undefined; text = waiting.shift()) {
      if (this.#isOver) break;
      await this.#speak(text);
    }
    this.#isRunning = false;
    if (this.#isEnded) this.#finish(() => this.#listener.onDone());
  }

  #speak(text: string): Promise<void> {
    const listener = this.#listener;
    const offsetMs = this.#samplesBefore / 8;
    const shifting: SpeechListener = {
      onAudio: (samples) => {
        this.#samplesBefore += samples.length;
        if (!this.#isOver) listener.onAudio(samples);
      },
      onWords: (words) => {
        const shifted = words.map(({ word, startMs, endMs }) => {
          return { word, startMs: startMs + offsetMs, endMs: endMs + offsetMs };
        });
        if (!this.#isOver) listener.onWords(shifted);
      },
      onUsage: (usage) => listener.onUsage?.(usage),
      onUnspoken: (error) => listener.onUnspoken?.(error),
    };
    return this.#tts.synthesize({ text, voice: this.#voice }, shifting, this.#abort.signal);
  }

  #finish(report: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    report();
  }
}
