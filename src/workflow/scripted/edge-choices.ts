// Choices of a scripted node: edges that the caller can choose by a phrase or a key. Without the author's phrases they
// are derived from the edge's label and condition, by rule.

import { phrasesOf, plainWords } from '../../model/control-phrases.ts';
import { isFallback, isUnconditional } from '../graph/edge-data.ts';
import type { GraphEdge, GraphNode } from '../graph/graph.ts';
import type { SlotHint } from '../nodes/fields.ts';

export interface EdgeChoice {
  edge: GraphEdge;
  /** Phrases in lower case, without punctuation; each has words. */
  phrases: readonly string[];
  /** Whether the phrases come from label and condition. */
  derived: boolean;
}

/** Words of labels and conditions that are no part of a caller's phrase. */
const EDITORIAL = new Set(
  (
    'a an the to of for in on at by with about and or if when once after before as is are be been was ' +
    'has have had do does did will would should could can may must need needs want wants wanted wish ' +
    'wishes like likes say says said tell tells ask asks asked give gives given provide provides ' +
    'provided choose chooses chosen make makes user users caller callers customer customers client ' +
    'person they them their he she his her him you your it its this that these those there then than ' +
    'call agent node step next go goes going move continue proceed more any some all not no yes ' +
    'please who what which how something anything someone been being get gets'
  ).split(' '),
);
const AGREES = /\b(agree|agrees|confirm|confirms|accept|accepts|yes|interested|consents?)\b/;
const DECLINES = /\b(decline|declines|refuse|refuses|reject|rejects|disagrees?|no)\b/;
const NEGATED = /\b(not|no longer|n't|doesn't|isn't|don't)\b/;
const OPERATOR = /\b(operator|human|representative|receptionist|real person|transfer)\b/;

export const OPERATOR_PHRASES = ['operator', 'speak to a person', 'representative'];

/** The node's edges that are chosen by a phrase or a key. */
export function choicesOf(node: GraphNode): EdgeChoice[] {
  const edges = node.edges.filter(
    (edge) => !isFallback(edge) && !isUnconditional(edge) && !isSlotEdge(edge),
  );
  const drafts = edges.map((edge) => {
    const own = (edge.phrases ?? []).map(plainWords).filter((phrase) => phrase !== '');
    const derived = own.length === 0;
    return { edge, derived, phrases: derived ? derive(edge) : own };
  });
  return drafts.map(({ edge, derived, phrases }) => ({
    edge,
    derived,
    phrases: derived
      ? phrases.filter((phrase) =>
          drafts.every((other) => other.edge === edge || !other.phrases.includes(phrase)),
        )
      : phrases,
  }));
}

/** Whether the edge is taken when a slot of the node is filled, never by a phrase. */
export function isSlotEdge(edge: GraphEdge): boolean {
  return edge.slot !== undefined && (edge.phrases ?? []).length === 0 && edge.dtmf === undefined;
}

/** The words that fill a slot without a grammar. */
export function wordChoices(slot: SlotHint): readonly string[] {
  return slot.type === undefined ? (slot.choices ?? []) : [];
}

/** The edge to a person, if the node has one. */
export function operatorEdge(node: GraphNode): GraphEdge | undefined {
  return node.edges.find(({ label, phrases }) =>
    [label, ...(phrases ?? [])].some((text) => OPERATOR.test(plainWords(text))),
  );
}

/** An edge's phrases and, for one that means yes or no, all their synonyms. */
export function spokenForms(phrases: readonly string[]): { phrase: string; means: string }[] {
  const own = phrases.map((phrase) => ({ phrase, means: phrase }));
  const wider = (['yes', 'no'] as const).flatMap((kind) => {
    const means = phrases.find((phrase) => phrasesOf(kind).includes(phrase));
    return means === undefined ? [] : phrasesOf(kind).map((phrase) => ({ phrase, means }));
  });
  return [...own, ...wider.filter(({ phrase }) => !phrases.includes(phrase))];
}

export function isYesOrNo(phrase: string): boolean {
  return phrasesOf('yes').includes(phrase) || phrasesOf('no').includes(phrase);
}

function derive(edge: GraphEdge): string[] {
  const label = plainWords(edge.label.replaceAll('_', ' '));
  const condition = plainWords(edge.condition);
  const text = `${label} ${condition}`;
  const labelWords = contentOf(label);
  const words = [...new Set([...labelWords, ...contentOf(condition)])];
  const answers = [
    ...(AGREES.test(text) && !NEGATED.test(text) && !DECLINES.test(text) ? ['yes'] : []),
    ...(DECLINES.test(text) ? ['no'] : []),
  ];
  const whole = labelWords.length > 1 ? [labelWords.join(' ')] : [];
  return [...new Set([...answers, ...whole, ...words])];
}

function contentOf(text: string): string[] {
  return text
    .split(' ')
    .filter((word) => word.length > 2 && !EDITORIAL.has(word))
    .filter((word) => !AGREES.test(word) && !DECLINES.test(word) && !/\d/.test(word));
}
