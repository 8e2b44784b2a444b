// Handles a model's answer: speech, function calls (tool-calls.ts), or both in one response. After a failure a fixed
// line apologises, after a second one the caller is transferred or the call ends. Source: contract §8.3.

import { isObject, parseJson } from '../../std/json.ts';
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

/** Consecutive refusals that are masked. After more the instructions of the agent are at fault: masks do not help. */
const REFUSALS_MAX = 4;

const MASKED_WORDS = '(The caller said something that must not be discussed.)';
const MASKED_ANSWER = '(left out)';
const MASKED_RESULT = 'The content of this result must not be discussed.';

type Answered = Extract<DialogueEvent, { type: 'model-answered' }>;
type Failed = Extract<DialogueEvent, { type: 'model-failed' }>;
type Finished = Extract<DialogueEvent, { type: 'utterance-finished' }>;
type Request = NonNullable<DialogueState['request']>;

/** Handles the answer to the request in progress. */
export function handleLlmResponse(step: Step, answer: Answered): void {
  const { state } = step;
  const { request } = state;
  if (request === null) return;
  state.request = null;
  state.failures = 0;
  delete state.refusals;
  const entry = entryOf(state, request.utteranceId);
  if (entry !== undefined) noteAnswer(entry, answer);
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

function noteAnswer(entry: NonNullable<ReturnType<typeof entryOf>>, answer: Answered): void {
  if (!entry.heard) entry.text = answer.text;
  entry.isAccepted = true;
  if (answer.vendor !== undefined) entry.vendor = answer.vendor;
}

/** Handles an answer without text, which in a text chat may be valid. */
function answerNothing(step: Step, { utteranceId, purpose }: Request, said: string): void {
  if (said.trim() === '') sayFallbackLine(step, purpose, emptyReason(step));
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
export function handleLlmFailure(step: Step, { code, refused }: Failed): void {
  const { state } = step;
  const { request } = state;
  if (request === null) return;
  state.request = null;
  // Before anything was said, the agent's instructions are at fault.
  if (refused !== undefined && request.purpose !== 'opening' && maskRefused(step, refused)) {
    sayFallbackLine(step, request.purpose, 'refused');
    return;
  }
  const reason = emptyReason(step) === 'done' ? 'done' : 'failed';
  if (reason === 'done' && code === 'LLM_EMPTY') {
    sayFallbackLine(step, request.purpose, reason);
    return;
  }
  state.failures += 1;
  const isLast = state.failures >= FAILURES_MAX;
  if (state.phase === 'talking' && takeFault(step, 'model', isLast)) return;
  sayFallbackLine(step, request.purpose, reason);
}

/** Why there is no answer: after a tool that has worked, nothing more is to be done, and a caller who is asked to
 *  repeat would have it done twice. */
function emptyReason({ state }: Step): 'empty' | 'done' {
  const last = state.history.findLast(
    (entry) => entry.role !== 'assistant' || (entry.text ?? '').trim() !== '',
  );
  return last?.role === 'tool' && hasWorked(last.content) ? 'done' : 'empty';
}

function hasWorked(content: string): boolean {
  const result = parseJson(content);
  return isObject(result) && result['status'] === 'success';
}

/** Masks parts of the history that a model or its content filter refuses. They stay in every later request, so that one
 *  sentence of the caller would end the call; the run's transcript keeps them. Masks what is new since the last answer;
 *  after a second refusal in a row all of the history. False if masks do not help: after too many refusals, and if a
 *  service refuses requests of which it has answered none. */
function maskRefused({ state }: Step, refused: 'content' | 'request'): boolean {
  const accepted = state.history.findLastIndex(
    (entry) => entry.role === 'assistant' && entry.isAccepted === true,
  );
  if (refused === 'request' && accepted < 0) return false;
  const refusals = (state.refusals ?? 0) + 1;
  state.refusals = refusals;
  if (refusals > REFUSALS_MAX) return false;
  const from = refusals > 1 ? 0 : accepted + 1;
  for (const entry of state.history.slice(from)) {
    if (entry.role === 'user') entry.text = MASKED_WORDS;
    else if (entry.role === 'tool') entry.content = maskedResult(entry.content);
    else if (refusals > 1 && (entry.text ?? '') !== '') entry.text = MASKED_ANSWER;
  }
  return true;
}

/** The result without its content: whether the tool has worked must not be lost. */
function maskedResult(content: string): string {
  const result = parseJson(content);
  const status = isObject(result) ? result['status'] : undefined;
  return JSON.stringify({ ...(status !== undefined && { status }), note: MASKED_RESULT });
}
