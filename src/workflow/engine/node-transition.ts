// A transition from one node to the next: leaves the node, speaks the edge's line, enters the next node.
// Source: contract §8.3.

import type { ExpectedInput } from '../../model/expected-input.ts';
import type { GraphEdge, GraphNode } from '../graph/graph.ts';
import { transitionLine } from './clip-lines.ts';
import { extractFrom } from './extraction.ts';
import { markMissing } from './gathered-values.ts';
import { SCRIPTED_INITIAL } from './state.ts';
import { currentNode, log, type Step, say } from './step.ts';

/** Leaves the current node along the edge. The caller of this function speaks for the new node. */
export function followEdge(step: Step, edge: GraphEdge): GraphNode {
  const leaving = currentNode(step);
  if (step.policy === 'model') extractFrom(step, leaving);
  else markMissing(step, leaving);
  say(step, {
    kind: 'transition',
    ...transitionLine(step, edge),
    interruptible: false,
    remembered: false,
  });
  const target = step.graph.nodes.get(edge.target) ?? leaving;
  enterNode(step, target);
  return target;
}

export function enterNode(step: Step, node: GraphNode): void {
  const { state, graph } = step;
  const previous = state.nodeId === null ? undefined : graph.nodes.get(state.nodeId);
  state.nodeId = node.id;
  Object.assign(step, step.wordingOf(node, state.language));
  if (!state.visited.includes(node.name)) state.visited.push(node.name);
  state.scripted = { ...SCRIPTED_INITIAL, moves: state.scripted.moves + 1 };
  log(step, {
    type: 'node.entered',
    nodeId: node.id,
    nodeName: node.name,
    previousNodeId: previous?.id ?? null,
    previousNodeName: previous?.name ?? null,
    allowInterrupt: node.interruptible,
  });
}

export function expectInput(step: Step, expectation: ExpectedInput): void {
  step.actions.push({ type: 'expect', expectation });
}
