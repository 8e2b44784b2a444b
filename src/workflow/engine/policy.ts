// Dialogue policy: decides the agent's words, by a language model with each node's prompt or by the author's script.
// The engine calls it at the moments below; everything else is the same for both.

import type { SpokenLine } from './clip-refs.ts';
import type { DialogueEvent } from './dialogue-events.ts';
import type { DialogueState } from './state.ts';
import type { Step } from './step.ts';

export type CallerTurnEvent = Extract<DialogueEvent, { type: 'caller-turn' }>;

/** What was in progress. */
export interface LostWork {
  /** Words that were to be said and may not have been heard; empty: none. */
  unheard: string;
  request: DialogueState['request'];
}

export interface DialoguePolicyHandler {
  /** The start node was entered: the first words. `greeting` is rendered. */
  start(step: Step, greeting: SpokenLine | undefined): void;
  /** The start node was entered by a transfer from another agent: the first words, without a greeting. */
  takeOver(step: Step): void;
  /** The caller has finished a turn, which is already in the history. */
  callerTurn(step: Step, turn: CallerTurnEvent): void;
  /** An utterance was played, and the call continues. */
  heard(step: Step, utteranceId: number): void;
  /** Speech recognition has failed for the rest of the call: the agent asks the caller to use the keys. */
  offerKeys(step: Step): void;
  /** The conversation goes on after its process was lost, and the agent has said so to the caller: expect them again, and speak.
   */
  resume(step: Step, lost: LostWork): void;
  /** The caller has been silent for the first time: ask whether they are there. */
  askIfPresent(step: Step): void;
  /** The caller has been silent again: say goodbye. The engine ends the call afterwards. */
  sayGoodbye(step: Step): void;
}
