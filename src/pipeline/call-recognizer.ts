// The call's recogniser, from the start of listening until a fault. Turn-taking gets its results, and it gets what
// turn-taking detects of the caller's voice. Without one the caller has the keypad, until a node with other
// recognisers, or until those that failed work again: they are opened again after a pause.

import { FRAME_MS, FRAME_SAMPLES } from '../audio/pcm.ts';
import type { GatewayError } from '../errors/gateway-error.ts';
import { type ExpectedInput, OPEN_SPEECH } from '../model/expected-input.ts';
import type {
  RecognizedWords,
  Recognizer,
  RecognizerListener,
  SpeechToText,
} from '../speech/stt/stt.ts';
import type { CallAudioEvent } from './call-audio-event.ts';
import type { DeferredEvents } from './deferred-events.ts';
import type { TurnEvent } from './turn/turn-event.ts';
import type { TurnTaking } from './turn/turn-taking.ts';
import type { RecognizerControls } from './turn/turn-taking-options.ts';

/** Time without audio of the caller, who is on hold or whose line sends none, after which the recogniser gets silence:
 *  services end a session that gets nothing, some within 10 s. */
const NO_AUDIO_MS = 1_000;
/** Pause before recognisers that all failed are opened again. Doubled each time that they fail again without a word. */
const PAUSE_MS = 5_000;
const PAUSE_MS_MAX = 60_000;
const SILENCE = new Int16Array(FRAME_SAMPLES);

export interface CallRecognizerOptions {
  stt: SpeechToText | undefined;
  events: DeferredEvents<CallAudioEvent>;
  mediaMs: () => number;
  onFault: (error: GatewayError) => void;
}

export class CallRecognizer implements RecognizerControls {
  readonly #options: CallRecognizerOptions;
  #recognizer: Recognizer | undefined;
  #turnTaking: TurnTaking | undefined;
  #expectation: ExpectedInput = OPEN_SPEECH;
  #list = 0;
  #opened = 0;
  #isFinishing = false;
  #withoutAudioMs = 0;
  /** Whether all recognisers failed, and no other one has recognised words since. */
  #isLost = false;
  /** Length of the pause before they are opened again, and what is left of it. */
  #pauseMs = PAUSE_MS;
  #pauseLeftMs = 0;
  /** Whether they are open again after a pause, without a word so far. */
  #isAgain = false;

  constructor(options: CallRecognizerOptions) {
    this.#options = options;
  }

  open(turnTaking: TurnTaking): void {
    this.#turnTaking = turnTaking;
    const { stt } = this.#options;
    this.#recognizer = stt?.open(this.#expectation, this.#listener(turnTaking), this.#list);
  }

  /** Changes to the services of another node, after the caller's current turn. */
  switchTo(list: number): void {
    // The recogniser with the audio must return the last words.
    if (list === this.#list || this.#isFinishing) return;
    this.#list = list;
    if (this.#isLost && this.#recognizer === undefined) {
      this.#isAgain = false;
      this.#openAgain();
    } else this.#recognizer?.switchTo?.(list);
  }

  /** Opens recognisers again: the services of another node may work, or those that failed. */
  #openAgain(): void {
    const { stt } = this.#options;
    if (stt === undefined || this.#turnTaking === undefined) return;
    this.open(this.#turnTaking);
    this.#turnTaking.recognizerReplaced(stt.capabilities);
  }

  /** Passes 20 ms of the caller's audio; `frame` is borrowed. */
  push(frame: Int16Array): void {
    this.#withoutAudioMs = 0;
    this.#recognizer?.push(frame);
  }

  /** Takes a tick, `strideMs` after the last one. */
  tick(strideMs: number): void {
    this.#rest(strideMs);
    this.#withoutAudioMs += strideMs;
    if (this.#withoutAudioMs <= NO_AUDIO_MS) return;
    for (let ms = 0; ms < strideMs; ms += FRAME_MS) this.#recognizer?.push(SILENCE);
  }

  /** Passes a part of the pause after which recognisers are opened again. */
  #rest(strideMs: number): void {
    if (!this.#isLost || this.#recognizer !== undefined || this.#isFinishing) return;
    this.#pauseLeftMs -= strideMs;
    if (this.#pauseLeftMs > 0) return;
    this.#isAgain = true;
    this.#openAgain();
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

  prepareFinal(): void {
    this.#recognizer?.prepareFinal?.();
  }

  finalize(): void {
    this.#recognizer?.finalize();
  }

  expect(expectation: ExpectedInput): void {
    this.#expectation = expectation;
    this.#recognizer?.expect(expectation);
  }

  /** Passes the agent's words that the caller has heard. */
  agentSaid(text: string): void {
    if (text !== '') this.#recognizer?.agentSaid?.(text);
  }

  /** Ends the recogniser after the call: the last words of the caller and of the service are reported before this
   *  resolves, within seconds. Never rejects. */
  async finish(): Promise<void> {
    if (this.#isFinishing) return;
    const recognizer = this.#recognizer;
    const turnTaking = this.#turnTaking;
    const { events } = this.#options;
    this.#isFinishing = true;
    try {
      // Other recognisers close at once.
      if (recognizer?.finish !== undefined) await recognizer.finish();
      recognizer?.close();
    } catch (error) {
      // The end may have no listener: a rejection would end the process.
      events.broken(error);
    }
    this.#recognizer = undefined;
    this.#turnTaking = undefined;
    events.run(() => {
      turnTaking?.conclude();
      events.defer({ type: 'words-complete' });
    });
  }

  /** Passes an event of turn-taking to the call. The last words begin nothing that would continue. */
  turnEvent(event: TurnEvent): void {
    const { events } = this.#options;
    const isUnanswered = event.type === 'backchannel' || event.type === 'late-turn';
    if (!this.#isFinishing || isUnanswered) events.defer(event);
    else if (event.type === 'turn') events.defer({ type: 'last-turn', turn: event.turn });
  }

  #failed(turnTaking: TurnTaking, error: GatewayError): void {
    const { events, onFault } = this.#options;
    if (this.#isFinishing) return;
    this.#recognizer?.close();
    this.#recognizer = undefined;
    turnTaking.recognizerLost();
    this.#pauseMs = this.#isAgain ? Math.min(2 * this.#pauseMs, PAUSE_MS_MAX) : PAUSE_MS;
    this.#pauseLeftMs = this.#pauseMs;
    // The same fault after a pause is no news.
    if (!this.#isAgain) onFault(error);
    if (this.#isLost) return;
    this.#isLost = true;
    events.defer({ type: 'recognizer-lost' });
  }

  #understood({ text }: RecognizedWords): void {
    if (!this.#isLost || text === '') return;
    this.#isLost = false;
    this.#isAgain = false;
    this.#options.events.defer({ type: 'recognizer-restored' });
  }

  #listener(turnTaking: TurnTaking): RecognizerListener {
    const { events, mediaMs } = this.#options;
    // A fault in this call's code does not reach the recogniser, which serves other calls too. Late results of an
    // abandoned recogniser have no effect.
    this.#opened += 1;
    const nth = this.#opened;
    const run = (work: () => void) => {
      if (this.#recognizer !== undefined && nth === this.#opened) events.run(work);
    };
    return {
      onPartial: (words) =>
        run(() => {
          this.#understood(words);
          turnTaking.partial(words, mediaMs());
        }),
      onFinal: (words) =>
        run(() => {
          this.#understood(words);
          turnTaking.final(words, mediaMs());
        }),
      onTurn: (turn) =>
        run(() => {
          if (turn === 'ended') turnTaking.ended(mediaMs());
          else if (turn === 'eager-end') turnTaking.probablyEnded(mediaMs());
          else if (turn === 'resumed') turnTaking.resumed();
        }),
      onReplaced: (capabilities) => run(() => turnTaking.recognizerReplaced(capabilities)),
      onDelayed: (ms) => run(() => turnTaking.delayed(ms)),
      // Also reported while it closes: services count at the end of a session.
      onUsage: (usage) => events.defer({ type: 'usage', usage }),
      onError: (error) => run(() => this.#failed(turnTaking, error)),
    };
  }
}
