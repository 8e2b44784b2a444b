// The engine's own lines, for moments without words of the author or the model, in the language of the agent. An
// operator may replace each line. The texts are in model/languages.

import { primaryLanguage } from '../../model/language-tag.ts';
import { type DialogueLines, ENGLISH, LANGUAGES } from '../../model/languages/languages.ts';
import type { Step } from './step.ts';

export const ENGLISH_LINES: DialogueLines = ENGLISH.lines;

const OTHER_SCRIPT = /(?!\p{Script=Latin})\p{L}/u;

/** Lines for a BCP 47 tag, such as `de-AT`; English for a language without lines, and for one whose script the voice
 *  lacks. */
export function linesFor(tag: string, isLatinOnly = false): DialogueLines {
  const language = LANGUAGES.get(primaryLanguage(tag));
  const isSpoken = !isLatinOnly || language?.script === 'Latn';
  return { ...ENGLISH_LINES, ...(isSpoken ? language?.lines : undefined) };
}

/** The line in the language of the node; in English once words of another script had no sound: the embedded voice,
 *  which is the last resort of a call, has Latin letters only. */
export function faultLine(
  { state, lines }: Step,
  name: keyof Pick<DialogueLines, 'trouble' | 'apology' | 'handOver'>,
): string {
  const line = lines[name];
  const isLost = (state.unsaid ?? 0) > 0 && OTHER_SCRIPT.test(line);
  return isLost ? ENGLISH_LINES[name] : line;
}

/** Fills `{name}` in a line. Unknown names stay unchanged. */
export function fillLine(line: string, values: Record<string, string>): string {
  return line.replace(/\{(\w+)\}/g, (whole, name: string) =>
    Object.hasOwn(values, name) ? (values[name] ?? whole) : whole,
  );
}
