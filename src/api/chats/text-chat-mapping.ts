// A text chat as clients get it: the run, its turns, and the checkpoint, which is read from the state stored with the
// last turn. Source: contract §11.1.

import { isObject } from '../../std/json.ts';
import type { TextChat, TextChatTurn } from '../../store/runs/text-chat.ts';
import { isoTime } from '../http/values.ts';
import type { TextChatOut, TextChatTurnOut } from './text-chat-schema.ts';

export function textChatOnWire(chat: TextChat): TextChatOut {
  const { run } = chat;
  const { anchorTurnId, currentNodeId, messages, gatheredContext } = checkpointOf(chat);
  return {
    workflow_run_id: run.id,
    workflow_id: run.workflowId,
    name: run.name,
    mode: run.mode,
    state: run.state,
    is_completed: run.state === 'completed',
    revision: chat.revision,
    initial_context: run.initialContext,
    // After the end of the chat the run has more values.
    gathered_context: run.state === 'completed' ? run.gatheredContext : gatheredContext,
    annotations: run.annotations,
    session_data: {
      version: 1,
      status: chat.status,
      cursor_turn_id: chat.cursorTurnId,
      turns: chat.turns.map(turnOnWire),
      discarded_future: chat.discarded.map(({ rewoundFromTurnId, discardedAt, turns }) => ({
        rewound_from_turn_id: rewoundFromTurnId,
        discarded_at: isoTime(discardedAt),
        turns: turns.map(turnOnWire),
      })),
      simulator: { enabled: false, config: {} },
    },
    checkpoint: {
      version: 1,
      anchor_turn_id: anchorTurnId,
      current_node_id: currentNodeId,
      messages,
      gathered_context: gatheredContext,
      tool_state: {},
    },
    created_at: isoTime(chat.createdAt),
    updated_at: isoTime(chat.updatedAt),
  };
}

function turnOnWire(turn: TextChatTurn): TextChatTurnOut {
  const createdAt = isoTime(turn.createdAt);
  const answeredAt = isoTime(turn.answeredAt ?? turn.createdAt);
  const { userText, assistantText } = turn;
  return {
    id: turn.id,
    status: turn.status,
    created_at: createdAt,
    user_message: userText === null ? null : { text: userText, created_at: createdAt },
    assistant_message:
      assistantText === null ? null : { text: assistantText, created_at: answeredAt },
    events: [...turn.events],
    usage: turn.usage,
  };
}

interface Checkpoint {
  /** The last turn that was carried out; null before the first. */
  anchorTurnId: string | null;
  currentNodeId: string | null;
  messages: Record<string, unknown>[];
  /** Values by name, `extracted_variables` and `nodes_visited`. */
  gatheredContext: Record<string, unknown>;
}

function checkpointOf({ turns, state }: TextChat): Checkpoint {
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

/** A message in the format of chat completions. */
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
