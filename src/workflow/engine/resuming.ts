// Continues a conversation whose process was lost, with everything that was in progress: words that were being said, a
// request to the model, functions, waits. The agent says to the caller that it is still there, and says the last words
// again. Functions whose result is not known are not called again (llm/tool-calls.ts).

import { endDialogue, restartClosing } from './ending.ts';
import { extractedNode, extractFrom } from './extraction.ts';
import type { LostWork } from './policy.ts';
import type { DialogueState } from './state.ts';
import { currentNode, type Step, say } from './step.ts';

/** Resumes a conversation that has begun. Returns the lost work if it is the agent's turn to speak; undefined if
 *  nothing is left to do. */
export function resumeDialogue(step: Step): LostWork | undefined {
  const { state } = step;
  if (state.phase === 'ending') {
    state.extractions = [];
    endDialogue(step);
    return undefined;
  }
  const lost = dropLostWork(state);
  extractAgain(step);
  if (state.phase === 'closing') {
    const words = lost.unheard === '' && lost.request !== null ? step.lines.goodbye : lost.unheard;
    const interruptible = state.isWithdrawable === true;
    if (words !== '') say(step, { kind: 'goodbye', text: words, interruptible });
    restartClosing(step);
    return undefined;
  }
  say(step, { kind: 'notice', text: step.lines.resumed, interruptible: true, remembered: false });
  return lost;
}

/** Says words again, or words that nobody heard for the first time. Returns the utterance's id, or null. */
export function sayAgainTo(step: Step, { unheard }: LostWork, heardBefore: string): number | null {
  const { interruptible } = currentNode(step);
  const isNew = unheard !== '';
  const text = isNew ? unheard : heardBefore;
  return say(step, { kind: 'reprompt', text, interruptible, remembered: isNew });
}

/** The agent's last words in the conversation; empty if there are none. */
export function lastWords({ history }: DialogueState): string {
  const last = history.findLast(
    (entry) => entry.role === 'assistant' && (entry.text ?? '').trim() !== '',
  );
  return last?.role === 'assistant' ? (last.text ?? '') : '';
}

function dropLostWork(state: DialogueState): LostWork {
  const { speaking, request } = state;
  const unheard: string[] = [];
  for (const entry of state.history) {
    if (entry.role !== 'assistant' || entry.heard || !speaking.includes(entry.utteranceId))
      continue;
    unheard.push((entry.text ?? '').trim());
    entry.text = '';
    entry.heard = true;
  }
  state.speaking = [];
  state.request = null;
  state.idles = 0;
  state.generations = 0;
  delete state.waitLines;
  delete state.wordless;
  delete state.keysOnly; // The recogniser is a new one.
  return { unheard: unheard.filter((text) => text !== '').join(' '), request };
}

/** Requests the values again that were being extracted. */
function extractAgain(step: Step): void {
  const { extractions } = step.state;
  const places = new Map(
    extractions.map((each) => [JSON.stringify([each.agentId, each.nodeId]), each]),
  );
  step.state.extractions = [];
  for (const pending of places.values()) {
    const node = extractedNode(step, pending);
    if (node !== undefined) extractFrom(step, node, pending.agentId ?? null);
  }
}
