// Function calls of a model: edges and tools. Requests run in parallel, and the caller gets no answer meanwhile. When
// all are finished, the first call that moves, ends or transfers takes effect; otherwise the model speaks about the
// results. A move that already asked something, or that ends the call, needs no second response. Source: contract §8.3,
// §8.4, §8.7.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { LlmToolCall } from '../../model/llm-message.ts';
import { hasTransitionLine } from '../engine/clip-lines.ts';
import type { DialogueEvent } from '../engine/dialogue-events.ts';
import { endIfExtracted, startClosing } from '../engine/ending.ts';
import { handOverFailed, takeToolRound } from '../engine/hand-over.ts';
import { addEntry } from '../engine/history.ts';
import { followEdge } from '../engine/node-transition.ts';
import type { PendingToolCalls } from '../engine/state.ts';
import { currentNode, log, newId, type Step, templateContext } from '../engine/step.ts';
import { finishToolCall, resultText, UNFINISHED } from '../engine/tool-results.ts';
import { edgeFunctionName } from '../graph/edge-function.ts';
import type { GraphEdge } from '../graph/graph.ts';
import type { OfferedFunction } from '../tools/offered-functions.ts';
import { failureOf } from '../tools/tool-request-builder.ts';
import { generate, waitForCaller } from './llm-policy.ts';
import { sayPreToolMessage } from './tool-announcement.ts';
import {
  beginTransfer,
  destinationResolved,
  destinationResolverFailed,
  toolOf,
} from './tool-transfer.ts';

/** Calls of one answer that are carried out. */
export const TOOL_CALLS_MAX = 8;
/** Question marks of the scripts in which agents are written. */
const QUESTION = /[?\uff1f\u061f\u037e]/;

type Result = Record<string, unknown>;
type CalledOut = Extract<DialogueEvent, { type: 'called-out' | 'call-out-failed' }>;

/** Starts the calls, each of which gets exactly one result. `spoken` is the text beside them. */
export function startToolCalls(step: Step, calls: readonly LlmToolCall[], spoken: string): void {
  const work: PendingToolCalls = {
    spoken,
    isAnswered: false,
    pending: [],
    next: { what: 'reply' },
  };
  step.state.tools = work;
  for (const call of calls) {
    const { id: callId, name, arguments: given } = call;
    log(step, { type: 'function.called', callId, name, arguments: given });
    const result = begin(step, work, call);
    if (result === undefined) continue;
    const content = resultText(result);
    addEntry(step.state, { role: 'tool', callId, content });
    log(step, { type: 'function.returned', callId, name, result: content });
  }
  settle(step);
}

/** Takes the reply to a tool's request, or its failure. */
export function toolResponded(step: Step, event: CalledOut): void {
  const { tools } = step.state;
  if (tools === null) return;
  const { next } = tools;
  if (next.what === 'transfer' && next.toolRunId === event.toolRunId) {
    if (next.stage !== 'resolving') return;
    if (event.type === 'called-out') destinationResolved(step, next, event);
    else
      destinationResolverFailed(step, next, event.isLate ? 'resolver_timeout' : 'resolver_error');
    settle(step);
    return;
  }
  const call = tools.pending.find(({ toolRunId }) => toolRunId === event.toolRunId);
  if (call === undefined) return;
  tools.pending = tools.pending.filter((each) => each !== call);
  tools.isAnswered = true;
  tools.isFaulty = (tools.isFaulty ?? true) && isFault(event);
  finishToolCall(step, call, event.result ?? replyResult(offeredBy(step, call.name), event));
  settle(step);
}

/** Handles a transfer that the provider refused. */
export function transferFailed(
  step: Step,
  event: Extract<DialogueEvent, { type: 'transfer-failed' }>,
): void {
  const next = step.state.tools?.next;
  if (next?.what !== 'transfer' || next.toolRunId !== event.toolRunId) return;
  const { reason, message, result } = event;
  finishToolCall(step, next, result ?? { status: 'transfer_failed', reason, message });
  step.state.tools = null;
  if (step.state.phase === 'ending') endIfExtracted(step);
  else if (next.afterFaults !== undefined) handOverFailed(step, next.afterFaults);
  else generate(step, { purpose: 'reply', kind: 'reply' });
}

/** Ends the functions in progress after their process was lost: they may have been carried out, so that none is called
 *  again, and the model learns that. False if there are none. */
export function interruptTools(step: Step): boolean {
  const { tools } = step.state;
  if (tools === null) return false;
  waitForCaller(step);
  step.state.waits.announcement = null;
  for (const call of tools.pending) finishToolCall(step, call, INTERRUPTED);
  tools.pending = [];
  tools.isAnswered = true;
  const { next } = tools;
  if (next.what === 'transfer') {
    const message = 'The call was interrupted before the transfer was complete.';
    finishToolCall(step, next, { status: 'transfer_failed', reason: 'interrupted', message });
    tools.next = { what: 'reply' };
    if (next.afterFaults !== undefined) {
      step.state.tools = null;
      handOverFailed(step, next.afterFaults);
      return true;
    }
  }
  settle(step);
  return true;
}

/** The result if it is available at once; undefined if it comes later. */
function begin(step: Step, work: PendingToolCalls, call: LlmToolCall): Result | undefined {
  const node = currentNode(step);
  const edge = node.edges.find(({ label }) => edgeFunctionName(label) === call.name);
  if (edge !== undefined) {
    if (work.next.what !== 'reply') return MOVED_ON;
    work.next = { what: 'move', edgeId: edge.id };
    return { status: 'done' };
  }
  const tool = offeredBy(step, call.name);
  if (tool === undefined) {
    // Words that announce what the function would have done need the rest; a question waits for the caller.
    if (!QUESTION.test(work.spoken)) work.isAnswered = true;
    return { status: 'error', error: `There is no function ${call.name} here.` };
  }
  try {
    return beginTool(step, work, tool, call);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    work.isAnswered = true;
    return { status: 'error', error: error.message };
  }
}

/** Starts a tool. Throws TOOL_ARGUMENTS, TOOL_URL. */
function beginTool(
  step: Step,
  work: PendingToolCalls,
  { uuid, type, tool, key }: OfferedFunction,
  { id: callId, name, arguments: given }: LlmToolCall,
): Result | undefined {
  if (tool.leavesConversation === true && work.next.what !== 'reply') return MOVED_ON;
  const outcome = tool.call(key, given, { values: templateContext(step.state), now: step.at });
  switch (outcome.what) {
    case 'result':
      work.isAnswered = true;
      return outcome.result;
    case 'request': {
      const toolRunId = awaitResult(step, callId);
      sayPreToolMessage(step, tool.message, 'notice');
      step.actions.push({ type: 'call-out', toolRunId, tool: type, request: outcome.request });
      work.pending.push({ toolRunId, callId, name });
      return undefined;
    }
    case 'end': {
      const { disposition } = outcome;
      if (disposition !== null) {
        step.state.disposition = disposition;
        log(step, { type: 'disposition.given', disposition });
      }
      work.next = { what: 'end', toolUuid: uuid };
      return { status: 'success', action: 'ending_call' };
    }
    case 'transfer':
      work.next = {
        what: 'transfer',
        toolRunId: awaitResult(step, callId),
        callId,
        name,
        toolUuid: uuid,
        arguments: outcome.arguments,
        stage: 'waiting',
        destination: '',
      };
      return undefined;
  }
}

/** Inserts the placeholder of the result in the history. Returns the id of the awaited result. */
function awaitResult(step: Step, callId: string): number {
  const toolRunId = newId(step);
  addEntry(step.state, { role: 'tool', callId, content: UNFINISHED, toolRunId });
  return toolRunId;
}

const INTERRUPTED: Result = {
  status: 'error',
  error: 'The call was interrupted before the result came. It is not known whether this was done.',
};

const MOVED_ON: Result = { status: 'error', error: 'The conversation has already moved on.' };

function offeredBy(step: Step, name: string): OfferedFunction | undefined {
  return step.tools.get(currentNode(step).id)?.find((each) => each.function.name === name);
}

function replyResult(of: OfferedFunction | undefined, event: CalledOut): Result {
  if (event.type === 'call-out-failed') return { status: 'error', error: event.error };
  const { status, data } = event;
  const own = of?.tool.resultOf?.(of.key, { status, data });
  if (own !== undefined) return own;
  const error = failureOf(status);
  return error === undefined
    ? { status: 'success', status_code: status, data }
    : { status: 'error', error, status_code: status, data };
}

/** Continues once no request is in progress. */
function settle(step: Step): void {
  const { tools } = step.state;
  if (tools === null || tools.pending.length > 0) return;
  const { next, spoken } = tools;
  if (next.what === 'transfer') {
    if (next.stage === 'waiting') beginTransfer(step, next);
    if (step.state.tools?.next.what === 'reply') settle(step);
    return;
  }
  const isSilent = tools.isAnswered || spoken.trim() === '';
  step.state.tools = null;
  const isLeaving = takeRound(step, tools);
  if (next.what === 'move') move(step, next.edgeId, spoken);
  else if (next.what === 'end') endByTool(step, next.toolUuid);
  else if (isSilent && !isLeaving) generate(step, { purpose: 'reply', kind: 'reply' });
}

/** Whether the caller is transferred because of the tools' faults: not if the model has another step to take. */
function takeRound(step: Step, { isFaulty, next }: PendingToolCalls): boolean {
  if (isFaulty === undefined || next.what !== 'reply') return false;
  return takeToolRound(step, isFaulty);
}

/** Whether the other system failed: no reply, or an error of its own. */
function isFault(event: CalledOut): boolean {
  return event.type === 'call-out-failed' || event.status >= 500;
}

function move(step: Step, edgeId: string, spoken: string): void {
  const edge = currentNode(step).edges.find(({ id }) => id === edgeId);
  if (edge !== undefined) continueAfterEdge(step, edge, spoken);
}

function endByTool(step: Step, toolUuid: string): void {
  sayPreToolMessage(step, toolOf(step, toolUuid)?.message, 'goodbye');
  startClosing(step, 'end_call_tool');
}

/** Moves along the edge. `spoken` is the text before the move. Makes the new node speak unless it has. */
function continueAfterEdge(step: Step, edge: GraphEdge, spoken: string): void {
  const node = followEdge(step, edge);
  waitForCaller(step);
  const said = spoken.trim() !== '';
  if (node.endsCall) {
    if (!said) generate(step, { purpose: 'closing', kind: 'goodbye' });
    startClosing(step, 'user_qualified');
    return;
  }
  // The transition line replaces the text, and with it a question before the move. The caller may also have answered it
  // while a tool ran.
  const isOpen = said && QUESTION.test(spoken) && !hasTransitionLine(step, edge);
  const last = step.state.history.findLast(({ role }) => role !== 'assistant');
  const asked = isOpen && last?.role !== 'user';
  if (!asked) generate(step, { purpose: 'reply', kind: 'reply' });
}
