// A recogniser that understands what a script says was spoken, as late as real ones do: interim words a
// little behind the voice, the final words shortly after they are asked for. It ignores the audio.

import type { Recognizer, RecognizerListener, SpeechToText } from '../../../src/speech/stt/stt.ts';
import type { Clock } from '../../../src/std/clock.ts';

const PARTIAL_BEHIND_MS = 100;
const FINAL_MS = 40;

export interface SpokenWord {
  word: string;
  endMs: number;
}

export class ScriptedStt implements SpeechToText {
  readonly name = 'scripted';
  readonly model = 'scripted';
  readonly capabilities = { interimWords: true, finalMsP99: 100 };
  readonly #clock: Clock;
  #words: SpokenWord[] = [];
  #told = 0;
  #listener: RecognizerListener | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  open(_expectation: unknown, listener: RecognizerListener): Recognizer {
    this.#listener = listener;
    return {
      push: () => this.#tell(),
      speechStarted: () => undefined,
      finalize: () => {
        const untilMs = this.#clock.monotonicMs();
        this.#clock.after(FINAL_MS, () => this.#final(untilMs));
      },
      expect: () => undefined,
      close: () => {
        this.#listener = undefined;
      },
    };
  }

  /** Words that are being said, in order. */
  hears(words: readonly SpokenWord[]): void {
    this.#words.push(...words);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #until(ms: number): string {
    const said = this.#words.filter(({ endMs }) => endMs <= ms);
    return said.map(({ word }) => word).join(' ');
  }

  #tell(): void {
    const text = this.#until(this.#clock.monotonicMs() - PARTIAL_BEHIND_MS);
    if (text.length <= this.#told) return;
    this.#told = text.length;
    this.#listener?.onPartial({ text, confidence: null });
  }

  #final(untilMs: number): void {
    const text = this.#until(untilMs);
    this.#words = this.#words.filter(({ endMs }) => endMs > untilMs);
    this.#told = 0;
    this.#listener?.onFinal({ text, confidence: text === '' ? null : 0.9 });
  }
}
