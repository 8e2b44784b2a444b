// Where a conversation in writing stands, for clients: from the state that is stored with its last turn.
// Source: contract §11.1.

import { isObject } from '../../std/json.ts';
import type { TextChat } from '../../store/runs/text-chat-store.ts';

export interface Checkpoint {
  /** The last turn that was carried out; null before the first. */
  anchorTurnId: string | null;
  currentNodeId: string | null;
  messages: Record<string, unknown>[];
  /** Values by name, `extracted_variables` and `nodes_visited`. */
  gatheredContext: Record<string, unknown>;
}

export function checkpointOf({ turns, state }: TextChat): Checkpoint {
  const nodeId = state?.['nodeId'];
  const history = state?.['history'];
  const extracted = state?.['extracted'];
  const visited = state?.['visited'];
  return {
    anchorTurnId: turns.findLast(({ status }) => status === 'completed')?.id ?? null,
    currentNodeId: typeof nodeId === 'string' ? nodeId : null,
    messages: Array.isArray(history) ? history.filter(isObject).map(messageOf) : [],
    gatheredContext: isObject(extracted)
      ? { ...extracted, extracted_variables: extracted, nodes_visited: visited ?? [] }
      : {},
  };
}

/** In the outline of chat completions. */
function messageOf(entry: Record<string, unknown>): Record<string, unknown> {
  const { role, text, content, callId, toolCalls } = entry;
  if (role === 'tool') return { role, tool_call_id: callId, content };
  const calls = Array.isArray(toolCalls) ? toolCalls.filter(isObject) : [];
  return {
    role,
    content: text ?? '',
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(callOf) }),
  };
}

function callOf({ id, name, arguments: given }: Record<string, unknown>): Record<string, unknown> {
  return { id, type: 'function', function: { name, arguments: JSON.stringify(given ?? {}) } };
}
