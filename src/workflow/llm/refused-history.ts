// Parts of the history that a model or its content filter refuses. They stay in every later request, so that one
// sentence of the caller would end the call: they are masked, and the conversation goes on. The run's transcript keeps
// them.

import { isObject, parseJson } from '../../std/json.ts';
import type { Step } from '../engine/step.ts';

/** Consecutive refusals that are masked. After more the instructions of the agent are at fault: masks do not help. */
const REFUSALS_MAX = 4;

const MASKED_WORDS = '(The caller said something that must not be discussed.)';
const MASKED_ANSWER = '(left out)';
const MASKED_RESULT = 'The content of this result must not be discussed.';

/** Masks what is new since the last answer; after a second refusal in a row all of the history. False if masks do not
 *  help: after too many refusals, and if a service refuses requests of which it has answered none. */
export function maskRefused({ state }: Step, refused: 'content' | 'request'): boolean {
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
