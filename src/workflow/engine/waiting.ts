// Waits. The caller waits: lines that explain it, or an outage, and how often they are said; the medium reports the wait.
// The caller asks the agent to wait: it is silent, says after a while that it is still there, and continues when the
// caller speaks.

import { isWaitPhrase } from '../../model/control-phrases.ts';
import { trustIn } from '../../model/word-trust.ts';
import { hasPerson } from './hand-over.ts';
import { languageOf } from './language.ts';
import type { CallerTurnEvent } from './policy.ts';
import { currentNode, rendered, type Step, say } from './step.ts';
import { transferUnderWay } from './tool-results.ts';

/** Lines of one turn: the first line, and three more in half a minute. The waiting tone continues behind them. */
const LINES_MAX = 4;
/** Silences before the agent may say goodbye: half a minute with the default idle time. */
const SILENCES = 3;

/** The caller has waited in silence. */
export function explainWait(step: Step): void {
  const { state, lines } = step;
  if (state.phase !== 'talking' && state.phase !== 'closing') return;
  if (state.answering !== undefined) return;
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

/** Whether the whole turn asks the agent to wait. */
export function asksToWait(step: Step, { text, source, confidence }: CallerTurnEvent): boolean {
  if (source !== 'speech' || trustIn(confidence) === 'reject') return false;
  return isWaitPhrase(text, languageOf(step));
}

/** Accepts the next silences, as the caller asked for them. */
export function bePatient({ state }: Step): void {
  state.patience = SILENCES;
}

/** Says that the agent waits. */
export function promiseToWait(step: Step): void {
  const { interruptible } = currentNode(step);
  say(step, { kind: 'reply', text: step.lines.waiting, interruptible });
}

/** Handles a silence that the caller has asked for. False if it is another one. */
export function waitOn(step: Step): boolean {
  const { state, lines } = step;
  const left = state.patience ?? 0;
  if (left === 0) return false;
  state.patience = left - 1;
  say(step, { kind: 'idle', text: lines.stillHere, interruptible: true });
  return true;
}
