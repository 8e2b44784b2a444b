// Writes the results of function calls into the history and the run's log, each exactly once, and ends calls whose
// results are no longer awaited. The calls themselves: workflow/llm/tool-calls.ts.

import type { DialogueState, PendingToolCalls, PendingTransfer } from './state.ts';
import { log, type Step } from './step.ts';

/** Longest result: the model reads it again in every further request of the call. */
const RESULT_CHARACTERS_MAX = 16_000;

/** Placeholder in the history until there is a result. */
export const UNFINISHED = JSON.stringify({
  status: 'error',
  error: 'The call ended before this was finished.',
});

/** A call whose result is ready or awaited. */
interface Called {
  callId: string;
  name: string;
}

/** Replaces the placeholder by the result, or by its text. */
export function finishToolCall(
  step: Step,
  { callId, name, toolRunId }: Called & { toolRunId: number },
  result: Record<string, unknown> | string,
): void {
  const content = typeof result === 'string' ? result : resultText(result);
  const entry = step.state.history.findLast(
    (each) => each.role === 'tool' && each.toolRunId === toolRunId,
  );
  if (entry?.role === 'tool') {
    entry.content = content;
    delete entry.toolRunId;
  }
  log(step, { type: 'function.returned', callId, name, result: content });
}

export function resultText(result: Record<string, unknown>): string {
  const text = JSON.stringify(result);
  if (text.length <= RESULT_CHARACTERS_MAX) return text;
  const { status, error, status_code: statusCode, data } = result;
  const begin = (typeof data === 'string' ? data : JSON.stringify(data ?? null)).slice(
    0,
    RESULT_CHARACTERS_MAX / 2, // Escaping may double the length.
  );
  return JSON.stringify({ status, error, status_code: statusCode, data: begin, is_cut_off: true });
}

/** The transfer that the provider was asked for and may still carry out. */
export function transferUnderWay({ tools }: DialogueState): PendingTransfer | undefined {
  const next = tools?.next;
  return next?.what === 'transfer' && next.stage === 'transferring' ? next : undefined;
}

/** Ends all tool calls. A transfer in progress continues, unless `isFinal`. */
export function stopTools(step: Step, { isFinal = false } = {}): void {
  const { tools } = step.state;
  if (tools === null || (!isFinal && transferUnderWay(step.state) !== undefined)) return;
  step.state.tools = null;
  for (const call of unfinished(tools)) {
    step.actions.push({ type: 'stop-tool', toolRunId: call.toolRunId });
    log(step, {
      type: 'function.returned',
      callId: call.callId,
      name: call.name,
      result: UNFINISHED,
    });
  }
}

function unfinished({ pending, next }: PendingToolCalls): (Called & { toolRunId: number })[] {
  return next.what === 'transfer' || next.what === 'digits' ? [...pending, next] : pending;
}
