// The closed grammar of a scripted node for the recogniser: the caller's possible words and keys there.

import { plainWords } from '../../model/control-phrases.ts';
import type { ExpectedInput, SlotType } from '../../model/expected-input.ts';
import type { Step } from '../engine/step.ts';
import type { Graph, GraphNode } from '../graph/graph.ts';
import type { SlotHint } from '../nodes/fields.ts';
import {
  choicesOf,
  isYesOrNo,
  OPERATOR_PHRASES,
  operatorEdge,
  wordChoices,
} from './edge-choices.ts';

/** Phrases that are valid in every node; few and dissimilar, as every further phrase lowers the confidence of a weak
 *  recogniser. */
const GLOBAL_PHRASES = ['repeat that', 'help', 'goodbye'];
const DIGITS_MAX_DEFAULT = 16;
/** Phrases of other steps: more would cost the current one its answers, and time. */
const ELSEWHERE_MAX = 40;
/** Slot types that can be entered by keys. */
const KEYED: readonly (SlotType | undefined)[] = ['digit', 'digits', 'number', 'yes_no'];

/** `open` are the node's slots without a value. */
export function nodeExpectation(
  { graph, boost }: Pick<Step, 'graph' | 'boost'>,
  node: GraphNode,
  open: readonly SlotHint[],
): ExpectedInput {
  const choices = choicesOf(node);
  const edgePhrases = choices.flatMap(({ phrases }) => phrases);
  const slots = open.flatMap(({ type }) => (type === undefined ? [] : [type]));
  const operator = operatorEdge(node) === undefined ? [] : OPERATOR_PHRASES;
  const spoken = [
    ...edgePhrases.filter((phrase) => !isYesOrNo(phrase)),
    ...open.flatMap(wordChoices).map(plainWords),
    ...operator,
    ...GLOBAL_PHRASES,
  ];
  const yesNo: SlotType[] = edgePhrases.some(isYesOrNo) ? ['yes_no'] : [];
  const digits = digitsOf(
    open,
    choices.some(({ edge }) => edge.dtmf !== undefined),
  );
  const elsewhere = phrasesElsewhere(graph, node, spoken);
  return {
    closed: true,
    phrases: [...new Set(spoken)],
    slots: [...new Set([...slots, ...yesNo])],
    ...(elsewhere.length > 0 && { elsewhere }),
    boost,
    ...(digits === undefined ? {} : { digits }),
  };
}

/** Phrases of other nodes that are no phrase of this one. Words that only a label has are omitted, as are single words:
 *  short values sound like them ("billing" was recognised for "nine" and "no"). */
export function phrasesElsewhere(
  graph: Pick<Graph, 'nodes'>,
  node: GraphNode,
  own: readonly string[],
): string[] {
  const others = [...graph.nodes.values()].filter(({ id }) => id !== node.id);
  const phrases = others.flatMap((other) => [
    ...choicesOf(other).flatMap((choice) => (choice.derived ? [] : choice.phrases)),
    ...other.slots.flatMap(wordChoices).map(plainWords),
  ]);
  const known = new Set(own);
  const unexpected = phrases.filter(
    (phrase) => phrase.includes(' ') && !known.has(phrase) && !isYesOrNo(phrase),
  );
  return [...new Set(unexpected)].slice(0, ELSEWHERE_MAX);
}

/** Yes or no, by voice or key. */
export function confirmExpectation(boost: readonly string[]): ExpectedInput {
  return {
    closed: true,
    phrases: [],
    slots: ['yes_no'],
    boost,
    digits: { countMax: 1, terminator: null },
  };
}

function digitsOf(open: readonly SlotHint[], menu: boolean): ExpectedInput['digits'] | undefined {
  const slot = open.find(({ type }) => KEYED.includes(type));
  if (slot === undefined) return menu ? { countMax: 1, terminator: null } : undefined;
  if (slot.type === 'digit' || slot.type === 'yes_no') return { countMax: 1, terminator: null };
  return { countMax: slot.digits_max ?? DIGITS_MAX_DEFAULT, terminator: '#' };
}
