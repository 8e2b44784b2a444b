// Reports to live watchers when the agent stops listening and when it listens again: in between, the caller's words
// neither stop the agent nor get an answer. Turn-taking and the engine do the muting.
// Source: contract §8.4.

import type { DialogueState } from '../../workflow/engine.ts';
import type { LiveType } from '../events/live-watchers.ts';

export class MuteState {
  readonly #emit: (type: LiveType) => void;
  /** Uninterruptible utterances that are being played. */
  readonly #heard = new Set<number>();
  #unanswered = false;
  #muted = false;

  /** `emit` is called at every change. The agent listens at first. */
  constructor(emit: (type: LiveType) => void) {
    this.#emit = emit;
  }

  /** Follows the state of the conversation after each event: the caller gets no answer before it begins, while tools
   *  run, and from its last words on, whichever side ends it; a goodbye that words withdraw is not the last. */
  follow({
    phase,
    tools,
    isWithdrawable = false,
  }: Pick<DialogueState, 'phase' | 'tools' | 'isWithdrawable'>): void {
    const isOpen =
      phase === 'talking' || phase === 'delayed' || (phase === 'closing' && isWithdrawable);
    this.#unanswered = !isOpen || tools !== null;
    this.#settle();
  }

  /** Reports that the first frame of an utterance was sent. */
  started(utterance: { utteranceId: number; interruptible: boolean }): void {
    if (utterance.interruptible) return;
    this.#heard.add(utterance.utteranceId);
    this.#settle();
  }

  /** Reports that the utterance is over. */
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
