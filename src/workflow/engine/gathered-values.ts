// Gathered values of a call, merged into the state and logged. Values that the scripted policy did not gather in a node
// are recorded as missing, never invented.

import type { GraphNode } from '../graph/graph.ts';
import type { ExtractionVariable } from '../nodes/fields.ts';
import type { ValueDetail } from './state.ts';
import { log, type Step } from './step.ts';

/** Stores the values. A null does not replace a known value. */
export function mergeGathered(
  step: Step,
  nodeId: string,
  values: Record<string, unknown>,
  details: Record<string, ValueDetail> = {},
): void {
  const { state } = step;
  const news = Object.fromEntries(
    Object.entries(values).filter(
      ([name, value]) => value !== null || !Object.hasOwn(state.extracted, name),
    ),
  );
  state.extracted = { ...state.extracted, ...news };
  state.details = { ...state.details, ...details };
  log(step, {
    type: 'variables.extracted',
    nodeId,
    values: news,
    ...(Object.keys(details).length === 0 ? {} : { details }),
  });
}

/** The value converted to the declared type if nothing is lost by it, else unchanged. */
export function coerced(value: unknown, type: ExtractionVariable['type']): unknown {
  if (type === 'string') {
    return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
  }
  if (typeof value !== 'string') return value;
  const text = value.trim();
  if (type === 'number') {
    return text !== '' && String(Number(text)) === text && Number.isFinite(Number(text))
      ? Number(text)
      : value;
  }
  if (text.toLowerCase() === 'true') return true;
  return text.toLowerCase() === 'false' ? false : value;
}

const MISSING: ValueDetail = {
  source: null,
  confidence: null,
  turn: null,
  reason: 'not_extracted',
};

export function markMissing(step: Step, node: GraphNode): void {
  const names = [
    ...node.slots.map(({ name }) => name),
    ...(node.extraction?.variables ?? []).map(({ name }) => name),
  ];
  const missing = names.filter(
    (name) =>
      !Object.hasOwn(step.state.extracted, name) && !Object.hasOwn(step.state.details, name),
  );
  if (missing.length === 0) return;
  mergeGathered(step, node.id, {}, Object.fromEntries(missing.map((name) => [name, MISSING])));
}
