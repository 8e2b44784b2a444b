// Reports to those who watch a call when the agent stops listening and when it listens again: what the caller
// says in between neither stops the agent nor is answered. It mutes nothing: turn-taking and the engine do.
// Source: contract §8.4.

import type { DialogueState } from '../../workflow/engine.ts';
import type { LiveType } from '../log/live-watchers.ts';

export class MuteState {
  readonly #emit: (type: LiveType) => void;
  /** Utterances that are being heard and cannot be interrupted. */
  readonly #heard = new Set<number>();
  #unanswered = false;
  #muted = false;

  /** `emit` is called at every change. The agent listens at first. */
  constructor(emit: (type: LiveType) => void) {
    this.#emit = emit;
  }

  /** The state of the conversation after each of its events: nobody is answered before it begins, while
   *  tools run, and from its last words on, whichever side ends it. */
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
    this.#emit(muted ? 'rtf-user-mute-started' : 'rtf-user-mute-stopped');
  }
}
