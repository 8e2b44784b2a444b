// Language understanding without a model: the meaning of a turn in a scripted node, which is a phrase of an edge, a
// key, a value for a slot, or one of the few phrases that are valid anywhere.

import { isGoodbye, phrasesOf, plainWords } from '../../model/control-phrases.ts';
import { trustIn } from '../../model/word-trust.ts';
import type { CallerTurnEvent } from '../engine/policy.ts';
import { currentNode, type Step } from '../engine/step.ts';
import type { GraphEdge, GraphNode } from '../graph/graph.ts';
import type { SlotHint } from '../nodes/fields.ts';
import { type ParsedSlot, parseKeys, parseSlot } from '../slots/slot.ts';
import {
  askToConfirm,
  chooseEdge,
  fillPlain,
  offerSlot,
  type SlotCandidate,
} from './confirmation.ts';
import {
  choicesOf,
  OPERATOR_PHRASES,
  operatorEdge,
  spokenForms,
  wordChoices,
} from './edge-choices.ts';
import { phrasesElsewhere } from './node-grammar.ts';
import { type Candidate, type Decision, decide, type Ranked, rank } from './phrase-match.ts';
import { handleNoMatch, leave, openSlots, readMenu, repeat } from './traversal.ts';

type GlobalName = 'repeat' | 'help' | 'operator' | 'goodbye' | 'greeting' | 'presence';

type Target =
  | { what: 'edge'; edge: GraphEdge; phrase: string }
  | { what: 'choice'; slot: SlotHint; value: string }
  | { what: 'global'; name: GlobalName };

const GLOBALS: Record<GlobalName, readonly string[]> = {
  repeat: ['repeat that', 'repeat', 'say that again', 'come again', 'pardon', 'what did you say'],
  help: ['help', 'what can i say', 'menu', 'options'],
  operator: OPERATOR_PHRASES,
  goodbye: phrasesOf('goodbye'),
  greeting: ['hello', 'hi', 'hey', 'good morning', 'good afternoon', 'good evening'],
  presence: ['are you there', 'are you still there', 'can you hear me', 'anybody there'],
};

/** Whether the author expects exactly these words in the current node. */
export function isOwnPhrase(step: Step, text: string): boolean {
  const plain = plainWords(text);
  return choicesOf(currentNode(step)).some(({ phrases }) => phrases.includes(plain));
}

export function handleCallerTurn(step: Step, turn: CallerTurnEvent): void {
  if (turn.source === 'dtmf') takeKeys(step, turn);
  else takeWords(step, turn);
}

function takeWords(step: Step, turn: CallerTurnEvent): void {
  const ranked = rank(turn.text, candidatesOf(step));
  const [best] = ranked;
  const decision = withDoubt(step, turn, best, decide(ranked, turn.confidence));
  const target = decision === 'reject' ? undefined : best?.target;
  // A whole phrase of the author is never taken for a value.
  const values = best?.fit === 1 ? [] : valuesIn(step, turn);
  if (target?.what === 'edge' && (decision === 'accept' || values.length === 0)) {
    takeChoice(step, turn, { target, decision, values });
  } else if (target?.what === 'choice') {
    const { slot, value } = target;
    const certain = decision === 'accept';
    offerSlot(step, turn, { slot, value: { value, spoken: value }, certain }, values);
  } else if (values.length > 0) {
    takeValues(step, turn, values);
  } else if (target?.what === 'global') {
    takeGlobal(step, turn, target.name, decision === 'accept');
  } else if (turn.source === 'chat') {
    takeKeys(step, turn);
  } else {
    handleNoMatch(step);
  }
}

/** The decision, with a confirmation for a phrase of another step that partly fits one of this step. */
function withDoubt(
  step: Step,
  { text, source }: CallerTurnEvent,
  best: Ranked<Target> | undefined,
  decision: Decision,
): Decision {
  if (decision !== 'accept' || source !== 'speech' || best === undefined || best.fit === 1) {
    return decision;
  }
  const elsewhere = phrasesElsewhere(step.graph, currentNode(step), []);
  return elsewhere.includes(plainWords(text)) ? 'confirm' : 'accept';
}

function takeChoice(
  step: Step,
  turn: CallerTurnEvent,
  choice: {
    target: Extract<Target, { what: 'edge' }>;
    decision: Decision;
    values: readonly SlotCandidate[];
  },
): void {
  const { edge, phrase } = choice.target;
  const endsCall = step.graph.nodes.get(edge.target)?.endsCall === true;
  const isFarewell = turn.source === 'speech' && endsCall && isGoodbye(phrase);
  if (choice.decision !== 'accept' || isFarewell) {
    askToConfirm(step, turn, { what: 'edge', edgeId: edge.id, phrase });
    return;
  }
  fillPlain(step, turn, choice.values);
  chooseEdge(step, turn, edge, phrase);
}

function takeValues(
  step: Step,
  turn: CallerTurnEvent,
  [first, ...others]: readonly SlotCandidate[],
): void {
  if (first === undefined || trustIn(turn.confidence) === 'reject') handleNoMatch(step);
  else offerSlot(step, turn, first, others);
}

function takeGlobal(step: Step, turn: CallerTurnEvent, name: GlobalName, certain: boolean): void {
  switch (name) {
    case 'repeat':
      repeat(step);
      break;
    case 'help':
      readMenu(step);
      break;
    case 'operator':
      repeat(step, step.lines.noOperator);
      break;
    case 'greeting':
      repeat(step, isGreeting(step, turn) ? '' : step.lines.stillHere);
      break;
    case 'presence':
      repeat(step, step.lines.stillHere);
      break;
    case 'goodbye':
      // A sound that was recognised as a goodbye must not end a call.
      if (certain && turn.source === 'chat') leave(step);
      else askToConfirm(step, turn, { what: 'goodbye' });
  }
}

/** Whether the turn may be a greeting: at the beginning, and in a text chat at any time. Later in a call "hello" asks
 *  whether the agent is still there. */
function isGreeting({ state }: Step, { source }: CallerTurnEvent): boolean {
  return state.turns <= 1 || source === 'chat';
}

/** Handles keys: an edge of the node, or a value for its first open slot that keys can fill. */
function takeKeys(step: Step, turn: CallerTurnEvent): void {
  const keys = turn.text.trim();
  const node = currentNode(step);
  const edge = node.edges.find(({ dtmf }) => dtmf !== undefined && dtmf === keys);
  const slots = openSlots(step);
  const filling = slots.flatMap((slot) => {
    const value = parseKeys(slot, keys);
    return value === undefined ? [] : [{ slot, value, certain: true }];
  });
  const [first] = filling;
  if (edge !== undefined) chooseEdge(step, turn, edge, phraseOf(node, edge));
  else if (first !== undefined) offerSlot(step, turn, first, []);
  else handleNoMatch(step);
}

function phraseOf(node: GraphNode, edge: GraphEdge): string {
  return choicesOf(node).find((choice) => choice.edge === edge)?.phrases[0] ?? edge.label;
}

/** Values for open slots, the requested one first. No word counts for two of them. */
function valuesIn(step: Step, turn: CallerTurnEvent): SlotCandidate[] {
  const certain = trustIn(turn.confidence) === 'accept';
  const offers: (SlotCandidate & { value: ParsedSlot })[] = [];
  for (const slot of openSlots(step)) {
    const value = parseSlot(slot, turn.text, step.at);
    if (value === undefined) continue;
    const taken = offers.some(({ value: other }) => value.from < other.to && other.from < value.to);
    if (!taken) offers.push({ slot, value, certain });
  }
  return offers;
}

/** All phrases that are valid here, the author's before the general ones. */
function candidatesOf(step: Step): Candidate<Target>[] {
  const node = currentNode(step);
  const operator = operatorEdge(node);
  const edges = choicesOf(node).flatMap(({ edge, phrases }) => {
    const forms = spokenForms(phrases);
    const wider = edge === operator ? OPERATOR_PHRASES : [];
    return [...forms, ...wider.map((phrase) => ({ phrase, means: phrase }))].map(
      ({ phrase, means }): Candidate<Target> => ({
        phrase,
        key: `edge ${edge.id}`,
        target: { what: 'edge', edge, phrase: means },
      }),
    );
  });
  const choices = openSlots(step).flatMap((slot) =>
    wordChoices(slot).map(
      (value): Candidate<Target> => ({
        phrase: value,
        key: `choice ${slot.name} ${value}`,
        target: { what: 'choice', slot, value },
      }),
    ),
  );
  const own = new Set([...edges, ...choices].map(({ phrase }) => phrase.toLowerCase()));
  const globals = Object.entries(GLOBALS).flatMap(([name, phrases]) =>
    isGlobal(name) && !(name === 'operator' && operator !== undefined)
      ? phrases
          .filter((phrase) => !own.has(phrase))
          .map(
            (phrase): Candidate<Target> => ({
              phrase,
              key: `global ${name}`,
              target: { what: 'global', name },
            }),
          )
      : [],
  );
  return [...edges, ...choices, ...globals];
}

function isGlobal(name: string): name is GlobalName {
  return Object.hasOwn(GLOBALS, name);
}
