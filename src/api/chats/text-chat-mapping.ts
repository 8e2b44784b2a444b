// A conversation in writing as it travels. Source: contract §11.1.

import { checkpointOf } from '../../call/log/chat-checkpoint.ts';
import type { TextChat, TextChatTurn } from '../../store/runs/text-chat-store.ts';
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
    // Once it has ended, the run says more.
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
