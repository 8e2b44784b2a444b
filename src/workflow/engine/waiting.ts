// Lines that explain a wait or an outage to the caller, and how often they are said. The medium reports the wait.

import { hasPerson } from './hand-over.ts';
import { rendered, type Step, say } from './step.ts';
import { transferUnderWay } from './tool-results.ts';

/** Lines of one turn: the first line, and three more in half a minute. The waiting tone continues behind them. */
const LINES_MAX = 4;

/** The caller has waited in silence. */
export function explainWait(step: Step): void {
  const { state, lines } = step;
  if (state.phase !== 'talking' && state.phase !== 'closing') return;
  // The other side of a transfer has its own sounds.
  if (transferUnderWay(state) !== undefined) return;
  const said = state.waitLines ?? 0;
  if (said >= LINES_MAX) return;
  state.waitLines = said + 1;
  const text = said === 0 ? firstLine(step) : lines.stillWorking;
  say(step, {
    kind: 'notice',
    text,
    interruptible: true,
    remembered: false,
    isInterjection: true,
  });
}

/** Explains an outage, before the agent continues. */
export function explainOutage(step: Step): void {
  const { state, lines } = step;
  if (state.phase !== 'talking' && state.phase !== 'closing') return;
  if (transferUnderWay(state) !== undefined) return;
  say(step, {
    kind: 'notice',
    text: lines.lineRestored,
    interruptible: true,
    remembered: false,
    isInterjection: true,
  });
}

/** Lines that can be rendered ahead. */
export interface PreparableLines {
  /** All lines that `explainWait` may say. */
  waits: string[];
  /** Lines that `explainOutage` says, and the lines for faults. */
  faults: string[];
}

export function waitLines(step: Step): PreparableLines {
  const { stillWorking, trouble, sayAgain, apology, lineRestored, handOver } = step.lines;
  const first = firstLines(step).map((line) => rendered(step, line).trim());
  const last = hasPerson(step) ? [handOver] : [];
  const isSaid = (line: string): boolean => line !== '';
  return {
    waits: [...first, stillWorking].filter(isSaid),
    faults: [lineRestored, trouble, sayAgain, ...last, apology].filter(isSaid),
  };
}

/** The first line of a wait, another one in each turn. */
function firstLine(step: Step): string {
  const all = firstLines(step);
  return rendered(step, all[step.state.turns % all.length] ?? '');
}

function firstLines({ waitPhrases, lines }: Step): readonly string[] {
  return waitPhrases.length > 0 ? waitPhrases : lines.oneMoment;
}
