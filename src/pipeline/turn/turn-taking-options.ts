// Options of turn-taking, and its requests to the recogniser.

import type { Playout } from '../speak/playout.ts';
import type { TurnOptions } from './turn-detector.ts';
import type { TurnEvent } from './turn-event.ts';
import type { TurnTuning } from './turn-tuning.ts';

/** Languages (BCP 47) of words for which the recogniser detects none. Undefined if not known. */
export interface CallerLanguages {
  /** Language of the node. */
  language?: string | undefined;
  /** Language of the node, or of the recogniser's settings. */
  wordsLanguage?: string | undefined;
}

export interface TurnTakingOptions {
  playout: Playout;
  /** `agentLanguage`: language of callers about whom nothing else is known. */
  languages: CallerLanguages & { agentLanguage?: string };
  tuning: TurnTuning;
  /** The recogniser's delays. Undefined without one: voice alone never interrupts then, because no words could
   *  follow. */
  recognizer: TurnOptions['recognizer'];
  /** Monotonic milliseconds at the start of media time. */
  startAt: number;
  /** An interruption is reported before the results of the interrupted utterances. */
  onEvent: (event: TurnEvent) => void;
  controls: RecognizerControls;
}

/** Notices and requests to the recogniser. */
export interface RecognizerControls {
  /** A new piece of speech begins: earlier audio may be dropped. */
  speechStarted(): void;
  speechStopped(): void;
  /** Speech continues after a pause within the turn. */
  speechResumed(): void;
  /** The final words will probably be needed soon. */
  prepareFinal(): void;
  /** The final words are needed. */
  finalize(): void;
}
