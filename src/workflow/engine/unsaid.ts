// Answers without audio: the voice cannot speak the text (another script, symbols alone), or it fails. A fixed line
// replaces the answer; if that has no audio either, the agent transfers the caller or ends the call.

import { faultLine } from './dialogue-lines.ts';
import { takeFault } from './hand-over.ts';
import { entryOf } from './history.ts';
import { currentNode, type Step, say } from './step.ts';

/** Consecutive utterances without a sound after which the agent gives up. */
const UNSAID_MAX = 2;
const WORDS = /[\p{L}\p{N}\p{S}]/u;

/** Whether a voice is expected to say something for the text. */
export function hasWords(text: string): boolean {
  return WORDS.test(text);
}

interface Finished {
  utteranceId: number;
  heardText: string;
  interrupted: boolean;
}

/** Whether the utterance had words and no sound. To be called before its history entry has the heard words. */
export function isUnsaid(
  { state }: Step,
  { utteranceId, heardText, interrupted }: Finished,
): boolean {
  if (interrupted || heardText.trim() !== '') return false;
  return hasWords(entryOf(state, utteranceId)?.text ?? '');
}

/** Counts utterances without a sound; says the line once nothing else is about to be said. */
export function replaceUnsaid(step: Step): void {
  const { state } = step;
  state.unsaid = (state.unsaid ?? 0) + 1;
  if (state.phase !== 'talking' || state.speaking.length > 0) return;
  if (state.request !== null || state.tools !== null) return;
  if (takeFault(step, 'voice', state.unsaid >= UNSAID_MAX)) return;
  const { interruptible } = currentNode(step);
  say(step, { kind: 'fallback', text: faultLine(step, 'trouble'), interruptible });
}
