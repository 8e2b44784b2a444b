// The engine's lines for faults, where the voice may lack the script of their language: the embedded voice, which is
// the last resort of a call, has Latin letters only.

import { type DialogueLines, ENGLISH_LINES } from './default-lines.ts';
import type { Step } from './step.ts';

const OTHER_SCRIPT = /(?!\p{Script=Latin})\p{L}/u;

/** The line in the language of the node; in English once words of another script had no sound. */
export function faultLine(
  { state, lines }: Step,
  name: keyof Pick<DialogueLines, 'trouble' | 'apology' | 'handOver'>,
): string {
  const line = lines[name];
  const isLost = (state.unsaid ?? 0) > 0 && OTHER_SCRIPT.test(line);
  return isLost ? ENGLISH_LINES[name] : line;
}
