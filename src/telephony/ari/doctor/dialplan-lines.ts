// Checks the dialplan lines of the configuration's numbers without a call: whether an extension has all labels of the
// lines that `patchbay asterisk config` prints. What a line does, and lines that somebody wrote by hand, only calls show
// (number-calls.ts). Source: asterisk §1, §4.5; func_dialplan.

import { type CheckOutcome, pass, skip, warn } from '../../provider/check.ts';
import type { MediaWay } from '../media/transport-selection.ts';
import type { CheckContext } from './check.ts';
import {
  type Ask,
  contextsOf,
  type DialplanPlace,
  hasLabel,
  isPlain,
  PRINTED_CONTEXT,
  PRINTED_LABELS,
  placeOf,
} from './dialplan-questions.ts';

/** Numbers that are looked up. */
const NUMBERS_MAX = 10;
export const JITTER_LINE = 'Set(JITTERBUFFER(adaptive)=default)';
const PRINT =
  'npx patchbay asterisk config prints all lines: replace those of the number, then dialplan reload.';

/** What is missing of a number's lines. `elsewhere`: they are not those that were printed. */
type Lines = { lacks: string[] } | 'elsewhere' | 'own';

export async function linesOutcome(
  { client, numbers, account }: CheckContext,
  way: MediaWay,
  ask: Ask,
  signal: AbortSignal,
): Promise<CheckOutcome> {
  const contexts = await contextsOf(client, ask, { signal });
  const whole: string[] = [];
  const own: string[] = [];
  const faults: string[] = [];
  for (const number of numbers.filter(isPlain).slice(0, NUMBERS_MAX)) {
    const place = await placeOf(number, contexts, ask);
    if (place === undefined) continue; // The check of the numbers says so.
    const lines = await linesOf(place, way, { app: account.app, number, ask });
    if (lines === 'own') own.push(number);
    else if (lines === 'elsewhere') faults.push(`${PRINTED_CONTEXT} has no line for ${number}`);
    else if (lines.lacks.length === 0) whole.push(number);
    else faults.push(`${number} lacks ${lines.lacks.join(' and ')}`);
  }
  if (faults.length > 0) {
    return warn(
      `Lines are missing in the dialplan, or lack their labels as those of earlier releases do: ${faults.join('; ')}.`,
      PRINT,
    );
  }
  if (whole.length > 0) return pass(`The printed lines of ${whole.join(', ')} are complete.`);
  if (own.length > 0) {
    return skip(
      `The lines of ${own.join(', ')} are not those that are printed: only calls show what they do (patchbay doctor --numbers).`,
    );
  }
  return skip('The dialplan has no line of a number.');
}

async function linesOf(
  place: DialplanPlace,
  way: MediaWay,
  { app, number, ask }: { app: string; number: string; ask: Ask },
): Promise<Lines> {
  const printed = await placeOf(number, [PRINTED_CONTEXT], ask);
  for (const each of printed === undefined ? [place] : [place, printed]) {
    const { stasis, jitter, away } = PRINTED_LABELS;
    const has = (label: string): Promise<boolean> => hasLabel(each, label, ask);
    const hasStasis = await has(stasis);
    if (!hasStasis && !(await has(away))) continue;
    const lacks = hasStasis ? [] : [`Stasis(${app},inbound,\${EXTEN}) (label ${stasis})`];
    if (way !== 'rtp' && !(await has(jitter))) lacks.push(`${JITTER_LINE} (label ${jitter})`);
    return { lacks };
  }
  const isPrinted = printed === undefined && (await hasContext(PRINTED_CONTEXT, ask));
  return isPrinted ? 'elsewhere' : 'own';
}

async function hasContext(context: string, ask: Ask): Promise<boolean> {
  return (await ask(`DIALPLAN_EXISTS(${context})`)) === '1';
}
