// Traversal of a scripted conversation: entering nodes, asking, asking again, giving up politely; and the generated
// words around the author's own: a node's menu and its questions.

import type { UtteranceKind } from '../../model/call-event.ts';
import type { DialogueLines } from '../../model/languages/languages.ts';
import { isSayable } from '../../std/text/sayable.ts';
import { transferFromNode } from '../engine/agent-transfer.ts';
import type { SpokenLine } from '../engine/clip-refs.ts';
import { fillLine } from '../engine/dialogue-lines.ts';
import { startClosing } from '../engine/ending.ts';
import { expectInput, followEdge } from '../engine/node-transition.ts';
import { currentNode, rendered, type Step, say } from '../engine/step.ts';
import { isFallback, isUnconditional } from '../graph/edge-data.ts';
import type { GraphEdge, GraphNode } from '../graph/graph.ts';
import type { SlotHint } from '../nodes/fields.ts';
import { choicesOf, type EdgeChoice, isSlotEdge } from './edge-choices.ts';
import { confirmExpectation, nodeExpectation } from './node-grammar.ts';

/** Consecutive turns without a result before the agent gives up. */
const MISSES_MAX = 3;
/** Most choices that are read out: callers do not remember more. */
const CHOICES_READ_MAX = 9;
/** Nodes entered without words of the caller; more are a cycle that validation did not find. */
const MOVES_MAX = 25;

export function arriveAtStart(step: Step, greeting: SpokenLine | undefined): void {
  const node = currentNode(step);
  const own = questionOf(step, node);
  const { text: greeted = '', clipId } = greeting ?? {};
  if (clipId !== undefined && own !== '') {
    // The clip is an utterance of its own; the question follows it.
    say(step, { kind: 'greeting', text: greeted, clipId, interruptible: node.interruptible });
    ask(step, node, { kind: 'greeting', before: '', question: own });
    return;
  }
  ask(step, node, {
    kind: 'greeting',
    before: own === '' ? '' : greeted,
    question: own || greeted,
    ...(clipId === undefined ? {} : { clipId }),
  });
}

/** Leaves the node along the edge and speaks for the next one. */
export function goToNode(step: Step, edge: GraphEdge): void {
  const node = followEdge(step, edge);
  if (step.state.scripted.moves <= MOVES_MAX && transferFromNode(step, node)) return;
  if (node.endsCall) {
    const text = node.say === undefined ? step.lines.goodbye : rendered(step, node.say);
    say(step, { kind: 'goodbye', text, interruptible: false });
    startClosing(step, 'user_qualified');
  } else if (step.state.scripted.moves > MOVES_MAX) {
    giveUp(step);
  } else {
    ask(step, node, { kind: 'reply', before: '', question: questionOf(step, node) });
  }
}

/** Speaks the node's question and sets the expected answers. */
function ask(
  step: Step,
  node: GraphNode,
  speech: { kind: UtteranceKind; before: string; question: string; clipId?: string },
): void {
  const { scripted } = step.state;
  const { kind, clipId } = speech;
  const text = `${speech.before} ${speech.question}`.trim();
  if (text === '' && clipId === undefined) {
    // The node has only a prompt: without a model there is nothing to say.
    say(step, { kind: 'goodbye', text: step.lines.apology, interruptible: false });
    startClosing(step, 'pipeline_error');
    return;
  }
  scripted.asked = speech.question;
  const { interruptible } = node;
  const line = clipId === undefined ? { text } : { text, clipId };
  const utteranceId = say(step, { kind, ...line, interruptible });
  if (node.slots.length === 0 && alwaysEdge(node) !== undefined) scripted.goOnAfter = utteranceId;
  waitForInput(step);
}

/** Whether the current node has words of its own. */
export function hasQuestion(step: Step): boolean {
  return questionOf(step, currentNode(step)) !== '';
}

/** The node's own words, and the question for its first slot if that is separate. */
function questionOf(step: Step, node: GraphNode): string {
  const text = rendered(step, [node.say ?? '', node.slots[0]?.ask ?? ''].join(' ')).trim();
  return isSayable(text) ? text : '';
}

/** The question to the caller: a confirmation, or the author's question. */
export function questionNow({ state, lines }: Step): string {
  const { confirming, asked } = state.scripted;
  switch (confirming?.what) {
    case 'goodbye':
      return lines.confirmGoodbye;
    case 'slot':
      return fillLine(lines.confirm, { value: confirming.spoken });
    case 'edge':
      return fillLine(lines.confirm, { value: confirming.phrase });
    default:
      return asked;
  }
}

/** Passes the expected input to the recogniser. */
export function waitForInput(step: Step): void {
  const { scripted } = step.state;
  const expectation =
    scripted.confirming === null
      ? nodeExpectation(step, currentNode(step), openSlots(step))
      : confirmExpectation(step.boost);
  expectInput(step, expectation);
}

/** The node's slots without a value, in the author's order. */
export function openSlots(step: Step): SlotHint[] {
  const { filled } = step.state.scripted;
  return currentNode(step).slots.filter(({ name }) => !filled.includes(name));
}

/** Repeats the last question. */
export function repeat(step: Step, before = ''): void {
  const { interruptible } = currentNode(step);
  const text = `${before} ${questionNow(step)}`;
  say(step, { kind: 'reprompt', text, interruptible });
  waitForInput(step);
}

/** Reads out the choices of this node. */
export function readMenu(step: Step, before = ''): void {
  const node = currentNode(step);
  const menu = menuOf(step.lines, node, openSlots(step)[0]) || step.state.scripted.asked;
  const { interruptible } = node;
  say(step, { kind: 'reprompt', text: `${before} ${menu}`, interruptible });
  waitForInput(step);
}

/** Handles a turn that was not understood: asks again, then reads the menu, then gives up. */
export function handleNoMatch(step: Step): void {
  const { scripted } = step.state;
  const node = currentNode(step);
  const always = node.slots.length === 0 ? alwaysEdge(node) : undefined;
  if (always !== undefined) {
    // The node continues by itself, for any words of the caller.
    const waiting = scripted.goOnAfter !== null && step.state.speaking.includes(scripted.goOnAfter);
    if (!waiting) goToNode(step, always);
    return;
  }
  scripted.misses += 1;
  scripted.confirming = null;
  const { notUnderstood, sayOtherwise } = step.lines;
  if (scripted.misses >= MISSES_MAX) fallBack(step, node);
  else if (scripted.misses > 1 && hasMenu(step)) readMenu(step, notUnderstood);
  // A node without choices would only say the same once more.
  else if (scripted.misses > 1) repeat(step, sayOtherwise);
  else if (node.reprompt === undefined) repeat(step, notUnderstood);
  else {
    const text = rendered(step, node.reprompt);
    say(step, { kind: 'reprompt', text, interruptible: node.interruptible });
    waitForInput(step);
  }
}

function fallBack(step: Step, node: GraphNode): void {
  const edge = node.edges.find(isFallback);
  if (edge === undefined) giveUp(step);
  else goToNode(step, edge);
}

function giveUp(step: Step): void {
  say(step, { kind: 'goodbye', text: step.lines.givingUp, interruptible: true });
  startClosing(step, 'unknown', { isWithdrawable: true });
}

/** Handles a caller who wants to end the call. */
export function leave(step: Step): void {
  say(step, { kind: 'goodbye', text: step.lines.goodbye, interruptible: false });
  startClosing(step, 'user_hangup');
}

/** Continues after a slot was filled: with the next node, or the question for the next slot. */
export function followDefaultEdge(step: Step, filled: SlotHint): void {
  const node = currentNode(step);
  const [next] = openSlots(step);
  const edge =
    node.edges.find((one) => isSlotEdge(one) && one.slot === filled.name) ??
    (next === undefined ? edgeWhenFilled(node) : undefined);
  if (edge !== undefined) {
    goToNode(step, edge);
    return;
  }
  const { scripted } = step.state;
  if (next === undefined) {
    readMenu(step);
    return;
  }
  scripted.asked = rendered(step, next.ask ?? slotLine(step.lines, next));
  say(step, { kind: 'reply', text: scripted.asked, interruptible: node.interruptible });
  waitForInput(step);
}

/** The edge to take once every slot has its value; undefined if there is none. */
function edgeWhenFilled({ edges }: GraphNode): GraphEdge | undefined {
  const unhinted = edges.filter(
    (edge) =>
      edge.slot === undefined &&
      edge.dtmf === undefined &&
      (edge.phrases ?? []).length === 0 &&
      !isFallback(edge),
  );
  return (
    edges.find((edge) => isSlotEdge(edge) && edge.slot === 'all') ??
    unhinted.find(isUnconditional) ??
    (unhinted.length === 1 ? unhinted[0] : undefined)
  );
}

export function alwaysEdge({ edges }: GraphNode): GraphEdge | undefined {
  return edges.find(isUnconditional);
}

/** Whether there is anything to read out. */
function hasMenu(step: Step): boolean {
  return menuOf(step.lines, currentNode(step), openSlots(step)[0]) !== '';
}

/** All choices as text: how to answer for the open slot, the keys, and the phrases without a key. */
function menuOf(lines: DialogueLines, node: GraphNode, slot: SlotHint | undefined): string {
  const choices = choicesOf(node).slice(0, CHOICES_READ_MAX);
  const keyed = choices.flatMap((choice) => {
    const { dtmf } = choice.edge;
    return dtmf === undefined
      ? []
      : [fillLine(lines.menuKey, { choice: nameOf(choice), key: keyName(dtmf) })];
  });
  const spoken = choices.filter(({ edge }) => edge.dtmf === undefined).map(nameOf);
  return [
    slot === undefined ? '' : slotLine(lines, slot),
    ...keyed,
    spoken.length === 0 ? '' : fillLine(lines.menuSay, { choices: joined(lines, spoken) }),
  ]
    .filter((part) => part !== '')
    .join(' ');
}

/** Text on how to answer for a slot. */
function slotLine(lines: DialogueLines, slot: SlotHint): string {
  if (slot.type !== undefined) return lines.slots[slot.type];
  const values = (slot.choices ?? []).slice(0, CHOICES_READ_MAX);
  return fillLine(lines.menuSay, { choices: joined(lines, values) });
}

/** Name of a choice in the caller's words. */
function nameOf({ edge, phrases }: EdgeChoice): string {
  return phrases[0] ?? edge.label;
}

function joined(lines: DialogueLines, values: readonly string[]): string {
  if (values.length < 2) return values.join('');
  return `${values.slice(0, -1).join(', ')} ${lines.or} ${values.at(-1)}`;
}

function keyName(key: string): string {
  if (key === '#') return 'pound';
  return key === '*' ? 'star' : key;
}
