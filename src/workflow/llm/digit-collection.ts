// Digits that the caller enters by keys for a tool: says the message, waits for the keys, says it again after a missing or
// wrong entry, and gives the model the result. Words of the caller meanwhile: acknowledgements are ignored, a request
// to wait is granted, spoken digits count unless they must be hidden, anything else ends the collection, and the model
// answers it. Source: contract §8.7.

import { isBackchannel } from '../../model/control-phrases.ts';
import type { DigitsVerdict } from '../../model/engine-input.ts';
import { trustIn } from '../../model/word-trust.ts';
import { mergeGathered } from '../engine/gathered-values.ts';
import { collectionIn, HIDDEN } from '../engine/hidden-digits.ts';
import { addCallerText } from '../engine/history.ts';
import { languageOf } from '../engine/language.ts';
import type { CallerTurnEvent } from '../engine/policy.ts';
import type { PendingDigits } from '../engine/state.ts';
import { currentNode, type Step, say, wait } from '../engine/step.ts';
import { finishToolCall } from '../engine/tool-results.ts';
import { asksToWait } from '../engine/waiting.ts';
import { parseSlot } from '../slots/slot.ts';
import { slotWords, standsAlone } from '../slots/tokens.ts';
import { judgeDigits } from '../tools/digit-check.ts';
import type { ToolMessage } from '../tools/tool-fields.ts';
import { expectCaller } from './llm-policy.ts';
import { toolLine } from './tool-announcement.ts';
import { toolOf } from './tool-transfer.ts';

/** Interval in which a caller who speaks or presses keys at the end of the wait is looked at again. */
const CALLER_CHECK_MS = 1_000;
/** Time for a caller who has asked the agent to wait: enough to find a card. */
const PATIENCE_MS = 60_000;
/** Keys as they are written in a chat. */
const WRITTEN_KEYS = /^[\d\s().+-]+$/;

const FAILURES: Record<Exclude<DigitsVerdict, 'ok'>, string> = {
  none: 'The caller entered nothing.',
  too_few: 'The caller entered too few digits.',
  too_many: 'The caller entered too many digits.',
  invalid: 'The digits that the caller entered are not valid.',
};

/** Begins once no other tool of the answer runs. */
export function beginDigits(step: Step, digits: PendingDigits, spoken: string): void {
  const { collection } = digits;
  if (collection.isHidden && step.isWritten) {
    finish(step, digits, {
      status: 'error',
      error: 'Hidden digits can only be entered by the keys of a telephone.',
    });
    return;
  }
  const { rules, terminator, pauseMs } = collection;
  expectCaller(step, { digits: { countMax: rules.max, terminator, pauseMs }, slots: ['digits'] });
  const own = toolOf(step, digits.toolUuid)?.message;
  const isAsked = spoken.trim() !== '';
  ask(step, digits, { message: own, line: isAsked ? '' : step.lines.enterDigits });
}

/** Waits for the first key once the agent has said its words. */
export function awaitDigitsIfHeard(step: Step): void {
  const digits = collectionIn(step.state);
  if (digits?.stage !== 'asking' || step.state.speaking.length > 0) return;
  digits.stage = 'entering';
  if (!step.isWritten) digits.firstDigitWait = wait(step, digits.collection.firstDigitMs);
}

/** The time for the first key is over. False for another wait. */
export function firstDigitOverdue(step: Step, waitId: number): boolean {
  const digits = collectionIn(step.state);
  if (digits?.firstDigitWait !== waitId) return false;
  if (step.isCallerSpeaking) digits.firstDigitWait = wait(step, CALLER_CHECK_MS);
  else entryOver(step, digits, 'none', '');
  return true;
}

/** Takes the caller's turn while digits are collected. */
export function takeDigits(step: Step, turn: CallerTurnEvent): void {
  const digits = collectionIn(step.state);
  if (digits === undefined) return;
  const text = turn.text.trim();
  if (turn.source !== 'speech' && isEntry(turn)) {
    const keys = turn.source === 'chat' ? text.replace(/\D/g, '') : text;
    const verdict = turn.digits ?? judgeDigits(digits.collection.rules, keys, step.at);
    entryOver(step, digits, verdict, keys);
    return;
  }
  takeWords(step, digits, turn);
}

/** Ends a collection whose process was lost. */
export function interruptDigits(step: Step, digits: PendingDigits): void {
  finish(step, digits, {
    status: 'error',
    error: 'The call was interrupted while the caller entered the digits: have them entered again.',
  });
}

function isEntry({ source, text }: CallerTurnEvent): boolean {
  return source === 'dtmf' || WRITTEN_KEYS.test(text.trim());
}

function takeWords(step: Step, digits: PendingDigits, turn: CallerTurnEvent): void {
  const { rules, isHidden } = digits.collection;
  const text = turn.text.trim();
  const isSpeech = turn.source === 'speech';
  if (text === '' || (isSpeech && trustIn(turn.confidence) === 'reject')) return;
  if (isHidden && text.includes(HIDDEN)) {
    entryOver(step, digits, 'none', '');
    return;
  }
  const said = isSpeech && !isHidden ? spokenDigits(text, step.at) : undefined;
  if (said !== undefined && trustIn(turn.confidence) === 'accept') {
    entryOver(step, digits, judgeDigits(rules, said, step.at), said, { isSpoken: true });
    return;
  }
  // Keys are being pressed: words beside them are the caller's own.
  if (step.isCallerSpeaking || (isSpeech && isBackchannel(text, languageOf(step)))) {
    return;
  }
  if (asksToWait(step, turn)) {
    say(step, { kind: 'reply', text: step.lines.waiting, interruptible: true, remembered: false });
    digits.stage = 'entering';
    digits.firstDigitWait = wait(step, PATIENCE_MS);
    return;
  }
  addCallerText(step.state, text);
  finish(step, digits, {
    status: 'interrupted',
    error:
      'The caller spoke in place of entering digits. Answer them, and call this again if the digits are still needed.',
  });
}

/** Digits that are all of the words. */
function spokenDigits(text: string, now: number): string | undefined {
  const found = parseSlot({ name: 'digits', type: 'digits' }, text, now);
  if (typeof found?.value !== 'string') return undefined;
  return standsAlone(slotWords(text), found.from, found.to) ? found.value : undefined;
}

/** An entry is over: the digits count, or the caller has another try, or there is none left. */
function entryOver(
  step: Step,
  digits: PendingDigits,
  verdict: DigitsVerdict,
  keys: string,
  { isSpoken = false } = {},
): void {
  const { collection } = digits;
  if (verdict === 'ok') {
    finish(step, digits, { ...kept(step, digits, keys), ...(isSpoken && { source: 'speech' }) });
    return;
  }
  digits.tried += 1;
  if (digits.tried >= collection.tries) {
    const tries = digits.tried;
    finish(step, digits, { status: 'error', reason: verdict, error: FAILURES[verdict], tries });
    return;
  }
  const { enterDigits, digitsWrong } = step.lines;
  const own = { text: collection.retryMessage, recordingId: null };
  ask(step, digits, { message: own, line: verdict === 'none' ? enterDigits : digitsWrong });
}

/** Stores the digits; returns the model's result. */
function kept(step: Step, digits: PendingDigits, keys: string): Record<string, unknown> {
  const { isHidden, variable } = digits.collection;
  const { state } = step;
  if (isHidden && variable !== null) {
    // In a replay the keys are not known.
    state.hiddenDigits = { ...state.hiddenDigits, [variable]: /^\d+$/.test(keys) ? keys : '' };
    return { status: 'success', digits: 'hidden', variable: `hidden_digits.${variable}` };
  }
  if (variable !== null) {
    const detail = { source: 'dtmf', confidence: 1, turn: state.turns, reason: null } as const;
    mergeGathered(step, currentNode(step).id, { [variable]: keys }, { [variable]: detail });
  }
  return { status: 'success', digits: keys };
}

/** Says the message, or the line without one, and then waits for the first key. */
function ask(
  step: Step,
  digits: PendingDigits,
  { message, line }: { message: ToolMessage | undefined; line: string },
): void {
  const own = toolLine(step, message);
  const hasOwn = own !== undefined && (own.text.trim() !== '' || own.clipId !== undefined);
  const spoken = hasOwn ? own : { text: line };
  const kind = digits.tried === 0 ? 'reply' : 'reprompt';
  say(step, { kind, ...spoken, interruptible: true, remembered: false });
  digits.stage = 'asking';
  delete digits.firstDigitWait;
  awaitDigitsIfHeard(step);
}

function finish(step: Step, digits: PendingDigits, result: Record<string, unknown>): void {
  finishToolCall(step, digits, result);
  const { tools } = step.state;
  if (tools === null) return;
  tools.next = { what: 'reply' };
  tools.isAnswered = true;
  expectCaller(step);
}
