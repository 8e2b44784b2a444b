// A call's recogniser on a test bench: the clock is a fake, the service is a fake on loopback, the caller speaks words
// that the fake finds in the audio.

import { GatewayError } from '../../../src/errors/gateway-error.ts';
import { OPEN_SPEECH } from '../../../src/model/expected-input.ts';
import { ServiceFault } from '../../../src/speech/service/service-fault.ts';
import type { ServiceUsage } from '../../../src/speech/service/service-means.ts';
import type {
  RecognizedWords,
  Recognizer,
  SpeechToText,
  SttCapabilities,
  VendorTurn,
} from '../../../src/speech/stt/stt.ts';
import { framesOf, silentFrames } from '../../fakes/call/spoken-words.ts';
import { type FakeClock, settle } from '../../fakes/fake-clock.ts';

export class RecognizerRig {
  readonly clock: FakeClock;
  readonly recognizer: Recognizer;
  readonly partials: string[] = [];
  readonly finals: RecognizedWords[] = [];
  readonly turns: [VendorTurn, string][] = [];
  readonly errors: GatewayError[] = [];
  readonly usage: ServiceUsage[] = [];
  readonly replaced: SttCapabilities[] = [];
  readonly delays: number[] = [];
  /** `final` and `ended` in their order. */
  readonly order: string[] = [];

  constructor(clock: FakeClock, stt: SpeechToText, expectation = OPEN_SPEECH, list = 0) {
    this.clock = clock;
    this.recognizer = stt.open(
      expectation,
      {
        onPartial: ({ text }) => this.partials.push(text),
        onFinal: (words) => {
          this.order.push('final');
          this.finals.push(words);
        },
        onTurn: (turn, { text }) => {
          this.order.push(turn);
          this.turns.push([turn, text]);
        },
        onUsage: (usage) => this.usage.push(usage),
        onReplaced: (capabilities) => this.replaced.push(capabilities),
        onDelayed: (ms) => this.delays.push(ms),
        onError: (error) => this.errors.push(error),
      },
      list,
    );
  }

  /** All words of all finals. */
  get text(): string {
    return this.finals
      .map(({ text }) => text)
      .filter((text) => text !== '')
      .join(' ');
  }

  get fault(): ServiceFault {
    const [error] = this.errors;
    if (error instanceof ServiceFault) return error;
    throw new Error(`no fault but ${error instanceof GatewayError ? error.code : 'nothing'}`);
  }

  /** The line brings these frames in real time of the fake clock. */
  async hear(frames: readonly Int16Array[]): Promise<void> {
    for (const [nth, frame] of frames.entries()) {
      this.clock.advance(20);
      this.recognizer.push(frame);
      // Each frame comes by itself.
      await Promise.resolve();
      if (nth % 5 === 4) await settle();
    }
    await settle();
  }

  silence(ms: number): Promise<void> {
    return this.hear(silentFrames(ms));
  }

  /** The caller says it, as the VAD sees it: from its begin to its end. */
  async says(text: string, gapMs?: number): Promise<void> {
    this.recognizer.speechStarted();
    await this.hear(framesOf(text, gapMs));
    this.recognizer.speechStopped?.();
  }

  /** Says it, is silent for a while, and asks for the words. */
  async turn(text: string, silenceMs = 200): Promise<void> {
    await this.says(text);
    await this.silence(silenceMs);
    this.recognizer.finalize();
    await settle();
    await settle();
  }

  /** Time passes without audio. */
  async pause(ms: number): Promise<void> {
    await this.clock.advanceAsync(ms, 100);
  }
}
