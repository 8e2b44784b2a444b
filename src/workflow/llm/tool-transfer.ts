// Call transfer: finds the destination, announces the transfer to the caller, and requests it from the provider after
// the announcement was played. The model explains a failed transfer. Source: contract §8.7.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { PendingTransfer } from '../engine/state.ts';
import { currentNode, type Step, toolContext, wait } from '../engine/step.ts';
import { finishToolCall } from '../engine/tool-results.ts';
import type { OfferedFunction } from '../tools/offered-functions.ts';
import type { ToolContext } from '../tools/parameters.ts';
import type { OpenTool } from '../tools/tool-type.ts';
import { readResolved } from '../tools/transfer-call-tool.ts';
import { announceTool, sayPreToolMessage } from './tool-announcement.ts';

/** Longest wait for an announcement, which is a sentence or two; one that does not end must not block the transfer. */
const ANNOUNCEMENT_MS_MAX = 30_000;

/** Finds the destination: at once, or by a request to a server. */
export function beginTransfer(step: Step, transfer: PendingTransfer): void {
  const steps = toolOf(step, transfer.toolUuid)?.transfer;
  if (steps === undefined) {
    fail(step, transfer, 'execution_error', 'The tool is not there any more.');
    return;
  }
  const context = toolContext(step);
  try {
    const request = steps.resolverRequest(transfer.arguments, context);
    if (request === undefined) {
      announce(step, transfer, steps.knownDestination(contextOf(step, transfer)), null);
      return;
    }
    const { toolRunId } = transfer;
    transfer.stage = 'resolving';
    announceTool(step, steps.waitMessage, transfer);
    step.actions.push({ type: 'call-out', toolRunId, tool: 'resolver', request });
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    fail(step, transfer, 'resolver_error', error.message);
  }
}

/** Takes the server's reply. */
export function destinationResolved(
  step: Step,
  transfer: PendingTransfer,
  { status, data }: { status: number; data: unknown },
): void {
  const answer = readResolved(status, data);
  if ('reason' in answer) destinationResolverFailed(step, transfer, answer.reason);
  else announce(step, transfer, answer.destination, answer.message);
}

export function destinationResolverFailed(
  step: Step,
  transfer: PendingTransfer,
  reason: string,
): void {
  fail(step, transfer, reason, 'It could not be found out where to transfer the call.');
}

/** Requests the transfer from the provider once all utterances were played; at once if `isOverdue`. */
export function transferIfHeard(step: Step, { isOverdue = false } = {}): void {
  const { state } = step;
  const next = state.tools?.next;
  if (next?.what !== 'transfer' || next.stage !== 'announcing') return;
  if (state.speaking.length > 0 && !isOverdue) return;
  const steps = toolOf(step, next.toolUuid)?.transfer;
  next.stage = 'transferring';
  state.waits.announcement = null;
  const { toolRunId, destination: to, afterFaults } = next;
  const ringS = afterFaults?.ringS ?? steps?.ringS ?? 30;
  const announcement = afterFaults?.announcement ?? steps?.announcement(contextOf(step, next));
  step.actions.push({
    type: 'transfer',
    toolRunId,
    to,
    ringS,
    ...(announcement && { announcement }),
  });
}

/** Notes that the caller is connected with the destination. False for a transfer that is no longer awaited. */
export function transferred(step: Step, toolRunId: number): boolean {
  const { state } = step;
  const next = state.tools?.next;
  if (next?.what !== 'transfer' || next.toolRunId !== toolRunId) return false;
  finishToolCall(step, next, { status: 'transfer_success', destination: next.destination });
  state.tools = null;
  state.endReason = 'transfer_call';
  return true;
}

/** Announces the transfer. `message` is the server's; it replaces the author's. */
function announce(
  step: Step,
  transfer: PendingTransfer,
  destination: string,
  message: string | null,
): void {
  if (destination === '') {
    fail(step, transfer, 'no_destination', 'There is nobody to transfer the call to.');
    return;
  }
  transfer.stage = 'announcing';
  transfer.destination = destination;
  const own = toolOf(step, transfer.toolUuid)?.message;
  sayPreToolMessage(step, message === null ? own : { text: message, recordingId: null }, 'notice');
  step.state.waits.announcement = wait(step, ANNOUNCEMENT_MS_MAX);
  transferIfHeard(step);
}

/** The tool's context with the model's arguments. */
function contextOf(step: Step, transfer: PendingTransfer): ToolContext {
  const { values, now } = toolContext(step);
  return { values: { ...values, ...transfer.arguments }, now };
}

/** The tool of the current node; undefined if the node does not offer it. */
export function toolOf(step: Step, toolUuid: string): OpenTool | undefined {
  return step.tools.get(currentNode(step).id)?.find(({ uuid }) => uuid === toolUuid)?.tool;
}

/** The function of that name in the current node; undefined if the node does not offer it. */
export function offeredBy(step: Step, name: string): OfferedFunction | undefined {
  return step.tools.get(currentNode(step).id)?.find((each) => each.function.name === name);
}

function fail(step: Step, transfer: PendingTransfer, reason: string, message: string): void {
  finishToolCall(step, transfer, { status: 'transfer_failed', reason, message });
  const { tools } = step.state;
  if (tools === null) return;
  tools.next = { what: 'reply' };
  tools.isAnswered = true;
}
