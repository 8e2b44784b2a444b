// Confirmation: a certain value or choice counts at once; an uncertain one counts after the caller has said yes.

import type { TurnSource } from '../../model/engine-input.ts';
import { trustIn } from '../../model/word-trust.ts';
import { mergeGathered } from '../engine/gathered-values.ts';
import type { CallerTurnEvent } from '../engine/policy.ts';
import type { Confirmation } from '../engine/state.ts';
import { currentNode, type Step, say } from '../engine/step.ts';
import type { GraphEdge } from '../graph/graph.ts';
import type { SlotHint } from '../nodes/fields.ts';
import {
  keyYesNo,
  needsConfirmation,
  parseKeys,
  parseSlot,
  type SlotValue,
} from '../slots/slot.ts';
import { parseYesNo } from '../slots/yes-no.ts';
import {
  followDefaultEdge,
  goToNode,
  handleNoMatch,
  leave,
  questionNow,
  readMenu,
  repeat,
  waitForInput,
} from './traversal.ts';

/** Confidence from which spoken digits count at once: recognisers that are less sure drop, add and exchange single
 *  digits. */
const DIGITS_CONFIDENCE_MIN = 0.95;
/** Questions about one value that were answered with neither yes nor no. */
const UNANSWERED_MAX = 2;

export interface SlotCandidate {
  slot: SlotHint;
  value: SlotValue;
  /** Whether the recogniser was certain of it. */
  certain: boolean;
}

/** The source of a value; default turn: the current one. */
interface Source {
  source: TurnSource;
  confidence: number | null;
  turn?: number;
}

/** Fills the slot, or asks whether the value is right. `others` are filled too where they are certain and need no
 *  confirmation. */
export function offerSlot(
  step: Step,
  turn: CallerTurnEvent,
  offer: SlotCandidate,
  others: readonly SlotCandidate[],
): void {
  fillPlain(step, turn, others);
  const { slot, value } = offer;
  if (isPlain(offer, turn)) {
    fill(step, slot, value.value, turn);
    followDefaultEdge(step, slot);
  } else {
    const asked = {
      what: 'slot',
      slot: slot.name,
      value: value.value,
      spoken: value.spoken,
    } as const;
    askToConfirm(step, turn, asked);
  }
}

/** Fills the slots whose values are certain and need no confirmation. */
export function fillPlain(
  step: Step,
  turn: CallerTurnEvent,
  offers: readonly SlotCandidate[],
): void {
  for (const offer of offers) {
    if (isPlain(offer, turn)) fill(step, offer.slot, offer.value.value, turn);
  }
}

function isPlain(
  { slot, value, certain }: SlotCandidate,
  { source, confidence }: CallerTurnEvent,
): boolean {
  if (!certain || needsConfirmation(slot, value.value)) return false;
  const isDoubted = confidence !== null && confidence < DIGITS_CONFIDENCE_MIN;
  return !(slot.type === 'digits' && source === 'speech' && isDoubted);
}

function fill(step: Step, slot: SlotHint, value: SlotValue['value'], from: Source): void {
  const { scripted } = step.state;
  if (!scripted.filled.includes(slot.name)) scripted.filled.push(slot.name);
  scripted.misses = 0;
  keep(step, slot.name, value, from);
}

function keep(step: Step, name: string, value: SlotValue['value'], from: Source): void {
  const { source, confidence, turn = step.state.turns } = from;
  const detail = { source, confidence, turn, reason: null };
  mergeGathered(step, currentNode(step).id, { [name]: value }, { [name]: detail });
}

/** Takes the edge. If it names a variable, stores the caller's phrase in it, or the author's value for it. */
export function chooseEdge(step: Step, from: Source, edge: GraphEdge, phrase: string): void {
  if (edge.slot !== undefined) {
    const slot = currentNode(step).slots.find(({ name }) => name === edge.slot);
    const yes = slot?.type === 'yes_no' ? parseYesNo(phrase) : undefined;
    keep(step, edge.slot, edge.value ?? yes ?? phrase, from);
  }
  goToNode(step, edge);
}

/** Asks yes or no about the recognised value. */
export function askToConfirm(step: Step, from: Source, confirmation: Confirmation): void {
  const { source, confidence } = from;
  const { turns: turn } = step.state;
  step.state.scripted.confirming = { ...confirmation, source, confidence, turn };
  const { interruptible } = currentNode(step);
  say(step, { kind: 'reply', text: questionNow(step), interruptible });
  waitForInput(step);
}

/** Handles the caller's answer to the question. */
export function confirmTurn(step: Step, turn: CallerTurnEvent): void {
  const { confirming } = step.state.scripted;
  if (confirming === null) return;
  const yes = turn.source === 'dtmf' ? keyAnswer(turn.text) : parseYesNo(turn.text);
  const better = trustIn(turn.confidence) === 'reject' ? undefined : corrected(step, turn);
  if (better !== undefined && yes !== true) {
    misunderstood(step, () => offerSlot(step, turn, better, []));
  } else if (yes === undefined || !isBelieved(step, yes, turn.confidence)) {
    unanswered(step);
  } else if (yes) {
    confirmed(step);
  } else {
    misunderstood(step, () => repeat(step));
  }
}

function keyAnswer(keys: string): boolean | undefined {
  const value = keyYesNo(keys.trim())?.value;
  return value === undefined ? undefined : value === true;
}

/** Whether the answer counts: a doubtful one does, and one of hardly any confidence the second time. A call is ended by
 *  a certain yes, or by two doubtful ones. */
function isBelieved(step: Step, yes: boolean, confidence: number | null): boolean {
  const { confirming } = step.state.scripted;
  if (confirming === null) return false;
  const trust = trustIn(confidence);
  const endsCall = confirming.what === 'goodbye' && yes;
  if (trust === 'accept' || (trust === 'confirm' && !endsCall)) return true;
  const isRepeated = confirming.doubtedAnswer === yes;
  if (trust === 'reject' && endsCall) return false;
  confirming.doubtedAnswer = yes;
  return isRepeated;
}

/** The value that replaces the one in question: "No, five five five one three". Undefined without one. */
function corrected(step: Step, turn: CallerTurnEvent): SlotCandidate | undefined {
  const { confirming } = step.state.scripted;
  if (confirming?.what !== 'slot') return undefined;
  const slot = currentNode(step).slots.find(({ name }) => name === confirming.slot);
  if (slot === undefined || slot.type === undefined || slot.type === 'yes_no') return undefined;
  const text = turn.text.replace(/^\W*(no|nope|nah)\b/i, '');
  const value =
    turn.source === 'dtmf' ? keysLongerThanOne(slot, turn.text) : parseSlot(slot, text, step.at);
  return value === undefined ? undefined : { slot, value, certain: false };
}

/** The value of several keys. A single key answers the question. */
function keysLongerThanOne(slot: SlotHint, keys: string): SlotValue | undefined {
  return keys.trim().length > 1 ? parseKeys(slot, keys.trim()) : undefined;
}

function confirmed(step: Step): void {
  const { scripted } = step.state;
  const { confirming } = scripted;
  scripted.confirming = null;
  scripted.misses = 0;
  const node = currentNode(step);
  if (confirming?.what === 'goodbye') {
    leave(step);
  } else if (confirming?.what === 'edge') {
    const edge = node.edges.find(({ id }) => id === confirming.edgeId);
    if (edge !== undefined) chooseEdge(step, confirming, edge, confirming.phrase);
  } else if (confirming?.what === 'slot') {
    const slot = node.slots.find(({ name }) => name === confirming.slot);
    if (slot === undefined) return;
    fill(step, slot, confirming.value, confirming);
    followDefaultEdge(step, slot);
  }
}

/** Handles a no of the caller. It counts as a turn that was not understood, so that it cannot repeat for ever. */
function misunderstood(step: Step, askAnew: () => void): void {
  const { scripted } = step.state;
  scripted.confirming = null;
  if (scripted.misses >= UNANSWERED_MAX) {
    handleNoMatch(step);
    return;
  }
  scripted.misses += 1;
  if (scripted.misses > 1) readMenu(step);
  else askAnew();
}

function unanswered(step: Step): void {
  const { scripted } = step.state;
  if (scripted.misses >= UNANSWERED_MAX) {
    handleNoMatch(step);
    return;
  }
  scripted.misses += 1;
  repeat(step, scripted.misses > 1 ? step.lines.yesNoKeys : step.lines.notUnderstood);
}
