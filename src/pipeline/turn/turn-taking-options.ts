// What turn-taking is built from, and what it asks of the recogniser.

import type { Playout } from '../speak/playout.ts';
import type { TurnOptions } from './turn-detector.ts';
import type { TurnEvent } from './turn-event.ts';
import type { TurnTuning } from './turn-tuning.ts';

/** BCP 47, of words whose language the recogniser does not detect. Undefined: not known. */
export interface CallerLanguages {
  /** As the node sets it. */
  language?: string | undefined;
  /** As the node or the recogniser's settings have it. */
  wordsLanguage?: string | undefined;
}

export interface TurnTakingOptions {
  playout: Playout;
  /** `agentLanguage`: of callers about whom nothing else is known. */
  languages: CallerLanguages & { agentLanguage?: string };
  tuning: TurnTuning;
  /** Undefined without a recogniser: voice alone never interrupts then, because no words could follow. */
  recognizer: TurnOptions['recognizer'];
  /** Monotonic milliseconds at the start of media time. */
  startAt: number;
  /** An interruption is reported before the results of the interrupted utterances. */
  onEvent: (event: TurnEvent) => void;
  controls: RecognizerControls;
}

/** What the recogniser is informed of, and asked for. */
export interface RecognizerControls {
  /** A new piece of speech begins: earlier audio may be dropped. */
  speechStarted(): void;
  speechStopped(): void;
  /** Speech goes on after a pause within the turn. */
  speechResumed(): void;
  /** The final words will probably be needed soon. */
  prepareFinal(): void;
  /** The final words are needed. */
  finalize(): void;
}
