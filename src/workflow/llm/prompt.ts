// The model's request in a node: the system prompt, its tools and one function per edge. Ours: an edge's description
// contains the next node's prompt, so that the model can move and speak for it in one response. Source: contract §5.4,
// §8.2.

import type { LlmMessage, LlmTool } from '../../model/llm-message.ts';
import { hasTransitionLine } from '../engine/clip-lines.ts';
import { messagesOf } from '../engine/history.ts';
import { rendered, type Step } from '../engine/step.ts';
import { edgeFunction } from '../graph/edge-function.ts';
import type { GraphEdge, GraphNode } from '../graph/graph.ts';

/** Characters of the next node's prompt, enough to begin its step; the step itself has all of it. */
const NEXT_PROMPT_CHARACTERS_MAX = 1_000;

/** The global prompt if the node includes it, a blank line, the node's prompt; both rendered. */
export function systemPrompt(step: Step, node: GraphNode): string {
  const own = rendered(step, node.prompt);
  const { globalPrompt } = step.graph;
  if (globalPrompt === undefined || !node.addGlobalPrompt) return own;
  return `${rendered(step, globalPrompt)}\n\n${own}`;
}

export function promptMessages(step: Step, node: GraphNode, instruction?: string): LlmMessage[] {
  return [
    { role: 'system', content: systemPrompt(step, node) },
    ...messagesOf(step.state, instruction),
  ];
}

/** The node's tools, then one function per edge. */
export function nodeTools(step: Step, node: GraphNode): LlmTool[] {
  return [
    ...(step.tools.get(node.id) ?? []).map((tool) => tool.function),
    ...node.edges.map((edge) => edgeFunction(edge.label, edgeDescription(step, edge))),
  ];
}

function edgeDescription(step: Step, edge: GraphEdge): string {
  const target = step.graph.nodes.get(edge.target);
  if (target === undefined) return edge.condition;
  if (hasTransitionLine(step, edge)) {
    return `${edge.condition}\nSay nothing yourself when you call this: a fixed line is spoken.`;
  }
  const next = rendered(step, target.prompt).slice(0, NEXT_PROMPT_CHARACTERS_MAX);
  const how = target.endsCall
    ? 'The call ends after this. Say your closing words in the same answer as this call.'
    : 'In the same answer as this call, say what the caller should hear next.';
  return `${edge.condition}\n${how} The next step is: ${next}`;
}
