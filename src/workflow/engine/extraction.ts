// Extracts values from the conversation with a model, in a separate request. Source: contract §8.5.

import type { GraphNode } from '../graph/graph.ts';
import { coerced, mergeGathered } from './gathered-values.ts';
import { transcriptOf } from './history.ts';
import type { PendingExtraction } from './state.ts';
import { newId, rendered, type Step } from './step.ts';

/** Extractions in progress: a call that changes nodes faster loses the oldest. */
const PENDING_MAX = 20;
const TRANSCRIPT_CHARACTERS_MAX = 30_000;

/** Requests the node's values. Does nothing if it has none, or the caller has said nothing. `agentId`: the node's agent;
 *  default: the current one. */
export function extractFrom(
  step: Step,
  node: GraphNode,
  agentId: string | null = step.agent.id,
): void {
  const { extraction } = node;
  if (extraction === undefined || step.state.turns === 0) return;
  const extractionId = newId(step);
  const ofAgent = agentId === null ? {} : { agentId };
  step.state.extractions.push({ extractionId, nodeId: node.id, ...ofAgent });
  if (step.state.extractions.length > PENDING_MAX) step.state.extractions.shift();
  const variables = extraction.variables.map(
    ({ name, type, prompt }) => `- ${name} (${type})${prompt ? `: ${prompt}` : ''}`,
  );
  const system = [
    'Read the telephone conversation and give the values below as one JSON object and nothing else.',
    'Use null for what was not said. Do not guess.',
    rendered(step, extraction.prompt),
    'Values:',
    ...variables,
  ];
  step.actions.push({
    type: 'extract',
    extractionId,
    messages: [
      { role: 'system', content: system.filter((line) => line !== '').join('\n') },
      { role: 'user', content: transcriptOf(step.state, TRANSCRIPT_CHARACTERS_MAX) },
    ],
  });
}

/** Stores the declared values, except those that an extraction from more of the conversation has given already. An
 *  answer that is not an object is stored as `raw`. False for an extraction that is no longer awaited. */
export function takeExtracted(
  step: Step,
  extractionId: number,
  values: Record<string, unknown>,
): boolean {
  const found = settled(step, extractionId);
  if (found === undefined) return false;
  const { node, replaced } = found;
  const declared = (node.extraction?.variables ?? [])
    .filter(({ name }) => Object.hasOwn(values, name))
    .map(({ name, type }): [string, unknown] => [name, coerced(values[name], type)]);
  const raw: [string, unknown][] = Object.hasOwn(values, 'raw') ? [['raw', values['raw']]] : [];
  const fresh = [...raw, ...declared].filter(([name]) => !replaced.includes(name));
  mergeGathered(step, node.id, Object.fromEntries(fresh));
  const given = fresh.filter(([, value]) => value !== null).map(([name]) => name);
  for (const earlier of step.state.extractions) {
    if (earlier.extractionId > extractionId) continue;
    earlier.replaced = [...new Set([...(earlier.replaced ?? []), ...given])];
  }
  return true;
}

/** Drops an extraction. False if it is no longer awaited. */
export function dropExtraction(step: Step, extractionId: number): boolean {
  return settled(step, extractionId) !== undefined;
}

/** The node of an extraction, whose agent may have left the call. */
export function extractedNode(step: Step, pending: PendingExtraction): GraphNode | undefined {
  return step.graphOf(pending.agentId ?? null)?.nodes.get(pending.nodeId);
}

function settled(
  step: Step,
  extractionId: number,
): { node: GraphNode; replaced: readonly string[] } | undefined {
  const { state } = step;
  const pending = state.extractions.find((one) => one.extractionId === extractionId);
  if (pending === undefined) return undefined;
  state.extractions = state.extractions.filter((one) => one !== pending);
  const node = extractedNode(step, pending);
  return node && { node, replaced: pending.replaced ?? [] };
}
