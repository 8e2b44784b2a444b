// What becomes of a model's answer: it may speak, move to another node, or both in one response.
// A move that already asked something, or that ends the call, needs no second response; one that made
// a statement goes on at once under the new prompt; a silent one speaks from there.
// Source: contract §8.3; a failure is told to the caller, a second one ends the call.

import type { ModelToolCall } from '../model/conversation.ts';
import { hasTransitionLine } from './clip-lines.ts';
import type { DialogueEvent } from './dialogue.ts';
import { close } from './ending.ts';
import type { GraphEdge } from './graph.ts';
import { addEntry, entryOf } from './history.ts';
import { generate, listen, sayInstead, speaksOnly } from './model-policy.ts';
import { follow } from './move.ts';
import { currentNode, log, type Step, say } from './step.ts';
import { transitionName } from './transition.ts';

/** Calls in one answer that are looked at. */
const TOOL_CALLS_MAX = 8;
/** Failures in a row after which the call ends. */
const FAILURES_MAX = 2;
/** Question marks of the scripts that agents are written in. */
const QUESTION = /[?\uff1f\u061f\u037e]/;

type Answered = Extract<DialogueEvent, { type: 'model-answered' }>;

const DONE = JSON.stringify({ status: 'done' });

/** The answer to the request that is under way. */
export function takeAnswer(step: Step, answer: Answered): void {
  const { state } = step;
  const { request } = state;
  if (request === null) return;
  state.request = null;
  state.failures = 0;
  const entry = entryOf(state, request.utteranceId);
  if (entry !== undefined && !entry.heard) entry.text = answer.text;
  const spoken = entry?.interrupted ? (entry.text ?? '') : answer.text;
  const calls = speaksOnly(request.purpose) ? [] : answer.toolCalls.slice(0, TOOL_CALLS_MAX);
  if (calls.length === 0) {
    if (spoken.trim() === '') sayInstead(step, request.purpose, 'empty');
    return;
  }
  if (entry !== undefined) entry.toolCalls = [...calls];
  const edge = takeCalls(step, calls);
  if (edge !== undefined) arrive(step, edge, spoken);
  else if (spoken.trim() === '') generate(step, { purpose: 'reply', kind: 'reply' });
}

/** The model gave nothing usable to the request that is under way. */
export function takeFailure(step: Step): void {
  const { state } = step;
  const { request } = state;
  if (request === null) return;
  state.request = null;
  state.failures += 1;
  if (state.phase === 'talking' && state.failures >= FAILURES_MAX) {
    say(step, { kind: 'goodbye', text: step.lines.apology, interruptible: false });
    close(step, 'pipeline_error');
  } else {
    sayInstead(step, request.purpose, 'failed');
  }
}

/** Answers every call once. The edge of the first call that names one. */
function takeCalls(step: Step, calls: readonly ModelToolCall[]): GraphEdge | undefined {
  const { edges } = currentNode(step);
  let taken: GraphEdge | undefined;
  for (const call of calls) {
    const edge = edges.find(({ label }) => transitionName(label) === call.name);
    const result = resultOf(call, edge, taken);
    taken ??= edge;
    log(step, {
      type: 'function.called',
      callId: call.id,
      name: call.name,
      arguments: call.arguments,
    });
    log(step, { type: 'function.returned', callId: call.id, name: call.name, result });
    addEntry(step.state, { role: 'tool', callId: call.id, content: result });
  }
  return taken;
}

function resultOf(
  call: ModelToolCall,
  edge: GraphEdge | undefined,
  taken: GraphEdge | undefined,
): string {
  if (edge === undefined) {
    return JSON.stringify({ status: 'error', error: `There is no function ${call.name} here.` });
  }
  if (taken === undefined) return DONE;
  return JSON.stringify({ status: 'error', error: 'The conversation has already moved on.' });
}

/** Moves along the edge and sees to it that the new node speaks, if it has not done so already. */
function arrive(step: Step, edge: GraphEdge, spoken: string): void {
  const node = follow(step, edge);
  listen(step);
  const said = spoken.trim() !== '';
  if (node.type === 'endCall') {
    if (!said) generate(step, { purpose: 'closing', kind: 'goodbye' });
    close(step, 'user_qualified');
    return;
  }
  // The line between stands after what was said: the question before it would be lost.
  const asked = said && QUESTION.test(spoken) && !hasTransitionLine(step, edge);
  if (!asked) generate(step, { purpose: 'reply', kind: 'reply' });
}
