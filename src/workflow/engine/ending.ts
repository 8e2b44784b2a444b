// The end of a conversation: the last words are played, values are extracted, then the call ends; each step has a
// limit. The engine's state decides the end, never the model's words.
// Source: contract §8.3, §8.5.

import { isFarewell } from '../../model/control-phrases.ts';
import type { EndReason } from '../../model/end-reason.ts';
import { trustIn } from '../../model/word-trust.ts';
import { extractFrom } from './extraction.ts';
import { markMissing } from './gathered-values.ts';
import { languageOf } from './language.ts';
import type { CallerTurnEvent } from './policy.ts';
import type { DialogueState } from './state.ts';
import { currentNode, type Step, wait } from './step.ts';
import { stopTools, transferUnderWay } from './tool-results.ts';

/** Longest wait for closing words, which are a sentence or two; an utterance that does not end must not keep the call
 *  open. */
const CLOSING_WAIT_MS_MAX = 30_000;
/** Interval in which an end that was put off looks whether the caller has finished. */
const CALLER_CHECK_MS = 500;
/** Checks while the caller speaks: a minute, in which a turn of any length ends. */
const CALLER_CHECKS_MAX = 120;
/** The same where words change nothing: five seconds, enough for a "thank you, goodbye". */
const CALLER_CHECKS_FINAL_MAX = 10;
/** Longest wait of an ended conversation for its values. */
const EXTRACTION_WAIT_MS_MAX = 5_000;

/** The current speech is played to its end, then the call ends. `isWithdrawable`: words of the caller continue the
 *  conversation; default: the end is certain. */
export function startClosing(
  step: Step,
  reason: EndReason,
  { isWithdrawable = false, waitMs }: { isWithdrawable?: boolean; waitMs?: number } = {},
): void {
  const { state } = step;
  state.phase = 'closing';
  state.endReason = reason;
  if (isWithdrawable) state.isWithdrawable = true;
  restartClosing(step, waitMs);
}

/** Closes again, after the wait was lost. */
export function restartClosing(step: Step, waitMs = CLOSING_WAIT_MS_MAX): void {
  step.state.waits.closing = wait(step, waitMs);
  endIfHeard(step);
}

/** Whether the agent's last words of the call are being played. */
export function isFinal({
  phase,
  isWithdrawable,
}: Pick<DialogueState, 'phase' | 'isWithdrawable'>): boolean {
  return phase === 'closing' && isWithdrawable !== true;
}

/** In a call that is closing: ends it once everything has been played. A caller who speaks, or has interrupted the
 *  goodbye, is let finish. */
export function endIfHeard(step: Step, { isInterrupted = false } = {}): void {
  if (!isHeardOut(step)) return;
  const isWithdrawn = isInterrupted && step.state.isWithdrawable === true;
  if (isWithdrawn || step.isCallerSpeaking) putOffEnd(step);
  else startFarewell(step);
}

/** In a call that is closing: its longest wait is over, or the caller may have finished. */
export function closingWaited(step: Step): void {
  if (isHeardOut(step) && step.isCallerSpeaking) putOffEnd(step);
  else startFarewell(step);
}

/** In a call that is closing: continues the conversation if the words say that the caller has not finished. */
export function withdrawGoodbye(step: Step, { text, source, confidence }: CallerTurnEvent): void {
  const { state } = step;
  if (state.phase !== 'closing' || state.isWithdrawable !== true) return;
  if (source === 'speech') {
    const trust = trustIn(confidence);
    // Doubtful words have led to a goodbye after doubts.
    const isDoubted = state.endReason === 'unknown' && trust !== 'accept';
    if (isDoubted || trust === 'reject' || text.trim() === '') return;
    if (isFarewell(text, languageOf(step))) return;
  }
  state.phase = 'talking';
  state.endReason = null;
  state.waits.closing = null;
  delete state.isWithdrawable;
  delete state.closingChecks;
  delete state.misheard;
  state.scripted.misses = 0;
}

function isHeardOut({ state: { phase, speaking, request } }: Step): boolean {
  return phase === 'closing' && speaking.length === 0 && request === null;
}

function putOffEnd(step: Step): void {
  const { state } = step;
  const checks = (state.closingChecks ?? 0) + 1;
  state.closingChecks = checks;
  const checksMax = state.isWithdrawable === true ? CALLER_CHECKS_MAX : CALLER_CHECKS_FINAL_MAX;
  if (checks > checksMax) startFarewell(step);
  else state.waits.closing = wait(step, CALLER_CHECK_MS);
}

/** Ends speech. Waits for values that are still being extracted. */
export function startFarewell(step: Step): void {
  const { state } = step;
  abandonRequest(step);
  stopTools(step);
  state.phase = 'ending';
  // No request is sent to the model after a failure, and a machine has said no values.
  const hasValues = state.endReason !== 'pipeline_error' && state.answering === undefined;
  if (hasValues) settleValues(step);
  if (!hasValues || isSettled(step)) endDialogue(step);
  else state.waits.extraction = wait(step, EXTRACTION_WAIT_MS_MAX);
}

function settleValues(step: Step): void {
  if (step.policy === 'model') extractFrom(step, currentNode(step));
  else markMissing(step, currentNode(step));
}

/** In a call that is ending: ends it once no extraction and no transfer is in progress and no words are awaited. */
export function endIfExtracted(step: Step): void {
  if (step.state.phase === 'ending' && isSettled(step)) endDialogue(step);
}

function isSettled({ state }: Step): boolean {
  if (state.awaitsLastWords === true || state.extractions.length > 0) return false;
  return transferUnderWay(state) === undefined;
}

/** Ends the conversation from outside. */
export function endFromOutside(step: Step, reason: EndReason, lastWordsFollow: boolean): void {
  const { state } = step;
  if (state.phase === 'ending') return;
  state.endReason ??= reason;
  if (state.phase === 'before') {
    endDialogue(step);
    return;
  }
  if (lastWordsFollow && readsValues(step)) state.awaitsLastWords = true;
  startFarewell(step);
}

/** Requests the values again with words that a recogniser has returned after the caller left. */
export function settleLastWords(step: Step): void {
  if (!readsValues(step)) return;
  extractFrom(step, currentNode(step));
  step.state.waits.extraction = wait(step, EXTRACTION_WAIT_MS_MAX);
}

export function lastWordsComplete(step: Step): void {
  delete step.state.awaitsLastWords;
  endIfExtracted(step);
}

function readsValues(step: Step): boolean {
  return step.policy === 'model' && currentNode(step).extraction !== undefined;
}

export function endDialogue(step: Step): void {
  stopTools(step, { isFinal: true });
  const { state, actions } = step;
  state.phase = 'ended';
  actions.push({ type: 'end', reason: state.endReason ?? 'unknown' });
}

/** Drops the request in progress, if there is one. */
export function abandonRequest({ state, actions }: Step): void {
  if (state.request === null) return;
  actions.push({ type: 'abandon', requestId: state.request.requestId });
  state.request = null;
}
