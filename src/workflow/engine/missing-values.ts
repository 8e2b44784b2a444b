// Values that the scripted policy was to gather in a node and did not: noted as missing, never invented.

import type { GraphNode } from '../graph/graph.ts';
import { mergeGathered } from './gathered-values.ts';
import type { ValueDetail } from './state.ts';
import type { Step } from './step.ts';

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
