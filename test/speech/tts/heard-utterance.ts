// What the listener of an utterance was given.

import type { GatewayError } from '../../../src/errors/gateway-error.ts';
import type { UtteranceListener, WordTiming } from '../../../src/speech/tts/tts.ts';
import { deferred } from '../../fakes/deferred.ts';

export class HeardUtterance implements UtteranceListener {
  samples = 0;
  words: WordTiming[] = [];
  characters = 0;
  ends: ('done' | GatewayError)[] = [];
  /** Resolves with the first audio, and with the end. */
  readonly begun = deferred();
  readonly over = deferred();

  get end(): 'done' | GatewayError | undefined {
    return this.ends[0];
  }

  get ms(): number {
    return this.samples / 8;
  }

  onAudio(samples: Int16Array): void {
    if (this.ends.length > 0) throw new Error('audio after the end');
    this.samples += samples.length;
    this.begun.resolve();
  }

  onWords(words: readonly WordTiming[]): void {
    this.words.push(...words);
  }

  onUsage({ amount }: { amount: number }): void {
    this.characters += amount;
  }

  onDone(): void {
    this.ends.push('done');
    this.over.resolve();
  }

  onError(error: GatewayError): void {
    this.ends.push(error);
    this.over.resolve();
  }
}
