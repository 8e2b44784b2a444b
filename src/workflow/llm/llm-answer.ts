// Handles a model's answer: speech, function calls (tool-calls.ts), or both in one response. After a failure a fixed
// line apologises, after a second one the caller is transferred or the call ends. Source: contract §8.3.

import type { DialogueEvent } from '../engine/dialogue-events.ts';
import { takeFault } from '../engine/hand-over.ts';
import { entryOf, limitVendorParts } from '../engine/history.ts';
import type { DialogueState } from '../engine/state.ts';
import type { Step } from '../engine/step.ts';
import { hasWords } from '../engine/unsaid.ts';
import { sayFallbackLine, speaksOnly } from './llm-policy.ts';
import { startToolCalls, TOOL_CALLS_MAX } from './tool-calls.ts';

/** Consecutive failures after which the agent gives up. */
const FAILURES_MAX = 2;

type Answered = Extract<DialogueEvent, { type: 'model-answered' }>;
type Finished = Extract<DialogueEvent, { type: 'utterance-finished' }>;
type Request = NonNullable<DialogueState['request']>;

/** Handles the answer to the request in progress. */
export function handleLlmResponse(step: Step, answer: Answered): void {
  const { state } = step;
  const { request } = state;
  if (request === null) return;
  state.request = null;
  state.failures = 0;
  const entry = entryOf(state, request.utteranceId);
  if (entry !== undefined && !entry.heard) entry.text = answer.text;
  if (entry !== undefined && answer.vendor !== undefined) entry.vendor = answer.vendor;
  const said = entry?.interrupted ? (entry.text ?? '') : answer.text;
  const spoken = hasWords(said) ? said : '';
  // The caller interrupted before the first word: their words get the answer.
  const isCut = entry?.interrupted === true && answer.text.trim() !== '';
  const calls = speaksOnly(request.purpose) ? [] : answer.toolCalls.slice(0, TOOL_CALLS_MAX);
  if (calls.length === 0) {
    limitVendorParts(state);
    if (spoken === '' && !isCut) answerNothing(step, request, said);
    return;
  }
  if (entry !== undefined) entry.toolCalls = calls.map((call) => ({ ...call }));
  limitVendorParts(state);
  startToolCalls(step, calls, spoken);
}

/** Handles an answer without text, which in a text chat may be valid. */
function answerNothing(step: Step, { utteranceId, purpose }: Request, said: string): void {
  if (said.trim() === '') sayFallbackLine(step, purpose, 'empty');
  else step.state.wordless = { utteranceId, purpose };
}

/** Handles a finished utterance: asks the caller again if it was an answer without a sound. */
export function replaceWordless(
  step: Step,
  { utteranceId, heardText, interrupted }: Finished,
): void {
  const { wordless, request, tools, phase } = step.state;
  if (wordless?.utteranceId !== utteranceId) return;
  delete step.state.wordless;
  const isOpen = phase === 'talking' || phase === 'closing';
  if (!isOpen || interrupted || heardText !== '' || request !== null || tools !== null) return;
  sayFallbackLine(step, wordless.purpose, 'empty');
}

/** Handles a failure: the model returned nothing usable for the request in progress. */
export function handleLlmFailure(step: Step): void {
  const { state } = step;
  const { request } = state;
  if (request === null) return;
  state.request = null;
  state.failures += 1;
  const isLast = state.failures >= FAILURES_MAX;
  if (state.phase === 'talking' && takeFault(step, 'model', isLast)) return;
  sayFallbackLine(step, request.purpose, 'failed');
}
