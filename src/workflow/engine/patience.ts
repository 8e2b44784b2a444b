// A caller who asks the agent to wait: the agent is silent, says after a while that it is still there, and continues
// when the caller speaks.

import { isWaitPhrase } from '../../model/control-phrases.ts';
import { trustIn } from '../../model/word-trust.ts';
import type { CallerTurnEvent } from './policy.ts';
import { currentNode, type Step, say } from './step.ts';

/** Silences before the agent may say goodbye: half a minute with the default idle time. */
const SILENCES = 3;

/** Whether the whole turn asks the agent to wait. */
export function asksToWait(step: Step, { text, source, confidence }: CallerTurnEvent): boolean {
  if (source !== 'speech' || trustIn(confidence) === 'reject') return false;
  return isWaitPhrase(text, currentNode(step).language);
}

/** Accepts the next silences, as the caller asked for them. */
export function bePatient({ state }: Step): void {
  state.patience = SILENCES;
}

/** Says that the agent waits. */
export function promiseToWait(step: Step): void {
  const { interruptible } = currentNode(step);
  say(step, { kind: 'reply', text: step.lines.waiting, interruptible });
}

/** Handles a silence that the caller has asked for. False if it is another one. */
export function waitOn(step: Step): boolean {
  const { state, lines } = step;
  const left = state.patience ?? 0;
  if (left === 0) return false;
  state.patience = left - 1;
  say(step, { kind: 'idle', text: lines.stillHere, interruptible: true });
  return true;
}
