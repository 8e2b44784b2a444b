// The call's recogniser: opened when the call begins to listen, gone after a fault. Its results go to turn-taking, what
// turn-taking detects of the caller's voice goes to it. Without one, the caller has the keypad.

import type { GatewayError } from '../errors/gateway-error.ts';
import { type ExpectedInput, OPEN_SPEECH } from '../model/expected-input.ts';
import type { Recognizer, RecognizerListener, SpeechToText } from '../speech/stt/stt.ts';
import type { CallAudioEvent } from './call-audio-event.ts';
import type { DeferredEvents } from './deferred-events.ts';
import type { RecognizerControls, TurnTaking } from './turn/turn-taking.ts';

export interface CallRecognizerOptions {
  stt: SpeechToText | undefined;
  events: DeferredEvents<CallAudioEvent>;
  mediaMs: () => number;
  onFault: (error: GatewayError) => void;
}

export class CallRecognizer implements RecognizerControls {
  readonly #options: CallRecognizerOptions;
  #recognizer: Recognizer | undefined;
  #list = 0;

  constructor(options: CallRecognizerOptions) {
    this.#options = options;
  }

  open(turnTaking: TurnTaking): void {
    this.#recognizer = this.#options.stt?.open(OPEN_SPEECH, this.#listener(turnTaking));
    if (this.#list > 0) this.#recognizer?.switchTo?.(this.#list);
  }

  /** The services of another node, after the caller's current turn. */
  switchTo(list: number): void {
    if (list === this.#list) return;
    this.#list = list;
    this.#recognizer?.switchTo?.(list);
  }

  /** 20 ms of the caller; borrowed. */
  push(frame: Int16Array): void {
    this.#recognizer?.push(frame);
  }

  speechStarted(): void {
    this.#recognizer?.speechStarted();
  }

  speechStopped(): void {
    this.#recognizer?.speechStopped?.();
  }

  speechResumed(): void {
    this.#recognizer?.speechResumed?.();
  }

  finalize(): void {
    this.#recognizer?.finalize();
  }

  expect(expectation: ExpectedInput): void {
    this.#recognizer?.expect(expectation);
  }

  close(): void {
    this.#recognizer?.close();
    this.#recognizer = undefined;
  }

  #listener(turnTaking: TurnTaking): RecognizerListener {
    const { events, mediaMs, onFault } = this.#options;
    // A fault in this call's code does not reach the recogniser, which serves other calls too.
    const run = (work: () => void) => {
      if (this.#recognizer !== undefined) events.run(work);
    };
    return {
      onPartial: (words) => run(() => turnTaking.partial(words, mediaMs())),
      onFinal: (words) => run(() => turnTaking.final(words, mediaMs())),
      onTurn: (turn) =>
        run(() => {
          if (turn === 'ended') turnTaking.ended(mediaMs());
          else if (turn === 'eager-end') turnTaking.probablyEnded(mediaMs());
          else if (turn === 'resumed') turnTaking.resumed();
        }),
      onReplaced: (capabilities) => run(() => turnTaking.recognizerReplaced(capabilities)),
      onDelayed: (ms) => run(() => turnTaking.delayed(ms)),
      // Also while it closes: services count at the end of a session.
      onUsage: (usage) => events.defer({ type: 'usage', usage }),
      onError: (error) =>
        run(() => {
          this.close();
          turnTaking.recognizerLost();
          onFault(error);
          events.defer({ type: 'recognizer-lost' });
        }),
    };
  }
}
