// Function calls of a model: edges and tools. Requests run in parallel, and the caller gets no answer meanwhile. When
// all are finished, the first call that moves, ends or transfers takes effect; otherwise the model speaks about the
// results. A move that already asked something, or that ends the call, needs no second response. Source: contract §8.3,
// §8.4, §8.7.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { LlmToolCall } from '../../model/llm-message.ts';
import {
  enterAgent,
  type TransferRefusal,
  transferFromNode,
  transferRefusal,
} from '../engine/agent-transfer.ts';
import { hasTransitionLine } from '../engine/clip-lines.ts';
import type { DialogueEvent } from '../engine/dialogue-events.ts';
import { endIfExtracted, startClosing } from '../engine/ending.ts';
import { handOverFailed, takeToolRound } from '../engine/hand-over.ts';
import { addEntry } from '../engine/history.ts';
import { switchLanguage } from '../engine/language.ts';
import { followEdge } from '../engine/node-transition.ts';
import type { CallerTurnEvent } from '../engine/policy.ts';
import type { NextAfterTools, PendingRequest, PendingToolCalls } from '../engine/state.ts';
import { currentNode, log, newId, rendered, type Step, say, toolContext } from '../engine/step.ts';
import { finishToolCall, resultText, UNFINISHED } from '../engine/tool-results.ts';
import { edgeFunctionName } from '../graph/edge-function.ts';
import type { GraphEdge } from '../graph/graph.ts';
import type { OfferedFunction } from '../tools/offered-functions.ts';
import { notOffered } from '../tools/switch-language-tool.ts';
import { failureOf } from '../tools/tool-request-builder.ts';
import { beginDigits, firstDigitOverdue, interruptDigits, takeDigits } from './digit-collection.ts';
import { generate, waitForCaller } from './llm-policy.ts';
import { announceTool, sayPreToolMessage } from './tool-announcement.ts';
import {
  beginTransfer,
  destinationResolved,
  destinationResolverFailed,
  offeredBy,
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

/** Takes the caller's turn while digits are collected. */
export function digitsEntered(step: Step, turn: CallerTurnEvent): void {
  step.state.generations = 0;
  takeDigits(step, turn);
  settleIfOver(step);
}

/** The time for the first key of a collection is over. */
export function digitsOverdue(step: Step, waitId: number): void {
  if (firstDigitOverdue(step, waitId)) settleIfOver(step);
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
  if (next.what === 'digits') interruptDigits(step, next);
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
  const outcome = tool.call(key, given, toolContext(step));
  switch (outcome.what) {
    case 'result':
      work.isAnswered = true;
      return outcome.result;
    case 'request': {
      const toolRunId = awaitResult(step, callId);
      const pending: PendingRequest = { toolRunId, callId, name };
      announceTool(step, tool.message, pending);
      step.actions.push({ type: 'call-out', toolRunId, tool: type, request: outcome.request });
      work.pending.push(pending);
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
    case 'digits':
      work.next = {
        what: 'digits',
        toolRunId: awaitResult(step, callId),
        callId,
        name,
        toolUuid: uuid,
        collection: outcome.collection,
        stage: 'waiting',
        tried: 0,
      };
      return undefined;
    case 'language':
      work.isAnswered = true;
      return switched(step, outcome);
    case 'agent': {
      const { agentUuid, reason, greets } = outcome;
      const refusal = transferRefusal(step, agentUuid);
      if (refusal === undefined) {
        work.next = { what: 'agent', toolUuid: uuid, agentUuid, reason, greets };
        return { status: 'success', action: 'transferring_to_agent' };
      }
      work.isAnswered = true;
      return { status: 'error', error: REFUSALS[refusal] };
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

/** Goes on in another language, if the agent's services have it. */
function switched(
  step: Step,
  { language, message }: { language: string; message: string },
): Result {
  if (!switchLanguage(step, language)) {
    const offers = (step.languages ?? []).map((each) => ({ language: each }));
    return notOffered(language, offers);
  }
  waitForCaller(step);
  const text = rendered(step, message);
  say(step, { kind: 'reply', text, interruptible: currentNode(step).interruptible });
  return { status: 'success', language };
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

const REFUSALS: Record<TransferRefusal, string> = {
  unknown: 'The other agent is not available.',
  'too many': 'The call was transferred between agents too often: help the caller yourself.',
};

const MOVED_ON: Result = { status: 'error', error: 'The conversation has already moved on.' };

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
    settleIfOver(step);
    return;
  }
  if (next.what === 'digits') {
    if (next.stage === 'waiting') beginDigits(step, next, spoken);
    settleIfOver(step);
    return;
  }
  const isSilent = tools.isAnswered || spoken.trim() === '';
  step.state.tools = null;
  const isLeaving = takeRound(step, tools);
  if (next.what === 'move') move(step, next.edgeId, spoken);
  else if (next.what === 'end') endByTool(step, next.toolUuid);
  else if (next.what === 'agent') transferToAgent(step, next);
  else if (isSilent && !isLeaving) generate(step, { purpose: 'reply', kind: 'reply' });
}

/** Continues after a step that is over, and not if it is in progress. */
function settleIfOver(step: Step): void {
  if (step.state.tools?.next.what === 'reply') settle(step);
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

function transferToAgent(step: Step, next: Extract<NextAfterTools, { what: 'agent' }>): void {
  sayPreToolMessage(step, toolOf(step, next.toolUuid)?.message, 'notice');
  enterAgent(step, next);
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
  if (transferFromNode(step, node)) return;
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
