// An outbound call that no person has answered: the agent stops, and then leaves its message, says who calls, goes
// through the menu, waits in the queue, or hangs up. A person who takes the call after all is greeted as at its begin.

import type { AnswerHandling, AnswerMessage } from '../../model/answer-handling.ts';
import type { UtteranceKind } from '../../model/call-event.ts';
import { isGreeting } from '../../model/control-phrases.ts';
import type { EndReason } from '../../model/end-reason.ts';
import { greetingOf } from './clip-lines.ts';
import type { DialogueEvent } from './dialogue-events.ts';
import { abandonRequest, endDialogue, startClosing } from './ending.ts';
import { enterNode } from './node-transition.ts';
import type { CallerTurnEvent, DialoguePolicyHandler } from './policy.ts';
import type { AnsweringState, DialogueState } from './state.ts';
import { currentNode, rendered, type Step, say, wait } from './step.ts';
import { stopTools } from './tool-results.ts';

type AnsweredEvent = Extract<DialogueEvent, { type: 'answered' }>;

/** Longest greeting of a voicemail; and time for a menu to go on after its last step. */
const GREETING_MS_MAX = 60_000;
const MENU_WAIT_MS = 30_000;
/** Longest message. */
const MESSAGE_MS_MAX = 120_000;
const KEYS = /^[0-9*#w]+$/;

/** Whether the far end is no person: turns of it get no answer. */
export function isAnsweredByMachine({ answering }: DialogueState): boolean {
  return answering !== undefined;
}

/** Takes a verdict on who has answered. */
export function answered(step: Step, policy: DialoguePolicyHandler, event: AnsweredEvent): void {
  const { state, answerHandling: handling } = step;
  if (handling === undefined) return;
  const { phase, answering } = state;
  if (phase === 'closing' && answering?.who === 'voicemail') {
    beeped(step, handling, event);
    return;
  }
  if (phase !== 'talking' && phase !== 'delayed') return;
  if (event.who === 'person' || event.who === 'unknown') {
    if (answering !== undefined) comeBack(step, policy);
    return;
  }
  const now = answering ?? takeOver(step, event.who);
  now.who = event.who;
  act(step, handling, event, now);
}

/** Whether the turn is the greeting of a person who has just taken the call, and is greeted already. Only the first turn
 *  after it may be one. */
export function isGreetedAlready(step: Step, { text }: Pick<CallerTurnEvent, 'text'>): boolean {
  const { state } = step;
  if (state.isTakenOver !== true) return false;
  delete state.isTakenOver;
  const isGreeted = state.speaking.length > 0 || state.request !== null;
  return isGreeted && isGreeting(text, currentNode(step).language);
}

/** A wait of this file is over. False if it is another one. */
export function answeringWaited(step: Step, waitId: number): boolean {
  const { answering } = step.state;
  if (answering?.waitId !== waitId) return false;
  if (answering.who === 'voicemail') leaveMessage(step, answering);
  else endNow(step, LATE[answering.who] ?? 'voicemail_detected');
  return true;
}

/** Goes on in another process: the waits begin anew. False if a person has the call. */
export function resumeAnswering(step: Step): boolean {
  const { answering, phase } = step.state;
  const { answerHandling: handling } = step;
  if (answering === undefined || handling === undefined || phase !== 'talking') return false;
  answering.waitId = wait(step, waitMsOf(handling, answering));
  return true;
}

/** End reasons of waits without a person. */
const LATE: Partial<Record<AnsweringState['who'], EndReason>> = {
  screening: 'screening_timeout',
  menu: 'ivr_detected',
  hold: 'hold_timeout',
};

function act(
  step: Step,
  handling: AnswerHandling,
  { isReady }: AnsweredEvent,
  now: AnsweringState,
): void {
  switch (now.who) {
    case 'voicemail':
      voicemail(step, handling, now, isReady);
      break;
    case 'no-message':
      endNow(step, handling.voicemail === 'hangup' ? 'voicemail_detected' : 'voicemail_no_message');
      break;
    case 'screening':
      screening(step, handling, now, isReady);
      break;
    case 'menu':
      menu(step, handling, now, isReady);
      break;
    case 'hold':
      if (now.waitId === null) now.waitId = wait(step, handling.holdWaitMs);
      break;
    case 'out-of-service':
      endNow(step, 'number_not_in_service');
      break;
    default:
      endNow(step, 'voicemail_detected');
  }
}

/** Stops the agent: what it says is meant for a person. */
function takeOver(step: Step, who: AnsweringState['who']): AnsweringState {
  const { state } = step;
  abandonRequest(step);
  stopTools(step);
  if (state.phase === 'delayed') {
    state.phase = 'talking';
    enterNode(step, step.graph.start);
  }
  step.actions.push({ type: 'hush' });
  state.answering = { who, waitId: null, screenings: 0, menuSteps: 0, hasBeeped: false };
  return state.answering;
}

/** A person has taken the call. */
function comeBack(step: Step, policy: DialoguePolicyHandler): void {
  const { state } = step;
  delete state.answering;
  state.isTakenOver = true;
  state.idles = 0;
  step.actions.push({ type: 'hush' });
  if (state.nodeId === step.graph.start.id) policy.start(step, greetingOf(step));
  else policy.resume(step, { unheard: '', request: null });
}

function voicemail(
  step: Step,
  handling: AnswerHandling,
  now: AnsweringState,
  isReady: boolean,
): void {
  const isLeft = handling.voicemail === 'leave_message' && isSet(handling.voicemailMessage);
  if (!isLeft) endNow(step, 'voicemail_detected');
  else if (isReady) leaveMessage(step, now);
  else now.waitId ??= wait(step, GREETING_MS_MAX);
}

function leaveMessage(step: Step, now: AnsweringState): void {
  const { answerHandling: handling } = step;
  now.waitId = null;
  if (handling !== undefined) speak(step, 'voicemail-message', handling.voicemailMessage);
  startClosing(step, 'voicemail_detected', { waitMs: MESSAGE_MS_MAX });
}

/** A beep while the message is spoken: it had begun in a pause of the greeting, and is said again, once. */
function beeped(step: Step, handling: AnswerHandling, { by, isReady }: AnsweredEvent): void {
  const { answering } = step.state;
  const isBeep = isReady && (by === 'beep' || by === 'provider');
  if (answering === undefined || answering.hasBeeped || !isBeep) return;
  answering.hasBeeped = true;
  step.state.speaking = [];
  step.actions.push({ type: 'hush' });
  speak(step, 'voicemail-message', handling.voicemailMessage);
}

function screening(
  step: Step,
  handling: AnswerHandling,
  now: AnsweringState,
  isReady: boolean,
): void {
  if (!isReady) return;
  if (!isSet(handling.screeningMessage)) {
    endNow(step, 'screening_message_missing');
  } else if (now.screenings >= handling.screeningsMax) {
    endNow(step, 'screening_limit');
  } else {
    now.screenings += 1;
    speak(step, 'screening-message', handling.screeningMessage);
    now.waitId = wait(step, handling.screeningWaitMs);
  }
}

function menu(step: Step, handling: AnswerHandling, now: AnsweringState, isReady: boolean): void {
  if (handling.menu === 'hangup' || handling.menuSteps.length === 0) {
    endNow(step, 'ivr_detected');
    return;
  }
  now.waitId ??= wait(step, MENU_WAIT_MS);
  const next = handling.menuSteps[now.menuSteps];
  if (!isReady || next === undefined) return;
  now.menuSteps += 1;
  now.waitId = wait(step, MENU_WAIT_MS);
  if (KEYS.test(next)) step.actions.push({ type: 'press', digits: next });
  else speak(step, 'screening-message', { text: next, recording: undefined });
}

function speak(step: Step, kind: UtteranceKind, { text, recording }: AnswerMessage): void {
  const clip = recording && step.clips(recording);
  say(step, {
    kind,
    text: clip?.transcript ?? rendered(step, text),
    ...(clip && { clipId: clip.id }),
    interruptible: false,
    remembered: false,
  });
}

function isSet({ text, recording }: AnswerMessage): boolean {
  return text.trim() !== '' || recording !== undefined;
}

function waitMsOf(handling: AnswerHandling, { who }: AnsweringState): number {
  if (who === 'screening') return handling.screeningWaitMs;
  if (who === 'hold') return handling.holdWaitMs;
  return who === 'menu' ? MENU_WAIT_MS : GREETING_MS_MAX;
}

/** Ends the call without values: nobody has said any. */
function endNow(step: Step, reason: EndReason): void {
  step.state.endReason = reason;
  abandonRequest(step);
  endDialogue(step);
}
