// The end of a conversation: the last words are played, values are extracted, then the call ends; each step has a
// limit. The engine's state decides the end, never the model's words.
// Source: contract §8.3, §8.5.

import type { EndReason } from '../../model/end-reason.ts';
import { extractFrom } from './extraction.ts';
import { markMissing } from './gathered-values.ts';
import { currentNode, type Step, wait } from './step.ts';
import { stopTools, transferUnderWay } from './tool-results.ts';

/** Longest wait for closing words, which are a sentence or two; an utterance that does not end must not keep the call
 *  open. */
const CLOSING_WAIT_MS_MAX = 30_000;
/** Longest wait of an ended conversation for its values. */
const EXTRACTION_WAIT_MS_MAX = 5_000;

/** The end is certain: the current speech is played to its end, then the call ends. */
export function startClosing(step: Step, reason: EndReason): void {
  const { state } = step;
  state.phase = 'closing';
  state.endReason = reason;
  state.waits.closing = wait(step, CLOSING_WAIT_MS_MAX);
  endIfHeard(step);
}

/** In a call that is closing: ends it once everything has been played. */
export function endIfHeard(step: Step): void {
  const { phase, speaking, request } = step.state;
  if (phase === 'closing' && speaking.length === 0 && request === null) startFarewell(step);
}

/** Ends speech. Waits for values that are still being extracted. */
export function startFarewell(step: Step): void {
  const { state } = step;
  abandonRequest(step);
  stopTools(step);
  state.phase = 'ending';
  // No request is sent to the model after a failure.
  if (state.endReason !== 'pipeline_error') settleValues(step);
  if (state.endReason === 'pipeline_error' || isSettled(step)) endDialogue(step);
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
