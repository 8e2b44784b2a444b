// Tells whoever watches a call when the agent ceases to listen and when it listens again: what the caller
// says in between neither stops the agent nor is answered. It mutes nothing: floor and engine do.
// Source: contract §8.4.

import type { DialogueState } from '../../workflow/engine.ts';
import type { LiveType } from '../log/live-watchers.ts';

export class MuteState {
  readonly #tell: (type: LiveType) => void;
  /** Utterances that are being heard and cannot be interrupted. */
  readonly #heard = new Set<number>();
  #unanswered = false;
  #muted = false;

  /** `tell` is called at every change. The agent listens at first. */
  constructor(tell: (type: LiveType) => void) {
    this.#tell = tell;
  }

  /** Where the conversation stands, after each of its events: nobody is answered before it begins, while
   *  tools run, and from its last words on, whoever ends it. */
  follow({ phase, tools }: Pick<DialogueState, 'phase' | 'tools'>): void {
    const isOpen = phase === 'talking' || phase === 'delayed';
    this.#unanswered = !isOpen || tools !== null;
    this.#settle();
  }

  /** The first frame of an utterance is on the wire. */
  started(utterance: { utteranceId: number; interruptible: boolean }): void {
    if (utterance.interruptible) return;
    this.#heard.add(utterance.utteranceId);
    this.#settle();
  }

  /** All that will be heard of it has been heard. */
  finished(utteranceId: number): void {
    this.#heard.delete(utteranceId);
    this.#settle();
  }

  #settle(): void {
    const muted = this.#unanswered || this.#heard.size > 0;
    if (muted === this.#muted) return;
    this.#muted = muted;
    this.#tell(muted ? 'rtf-user-mute-started' : 'rtf-user-mute-stopped');
  }
}
