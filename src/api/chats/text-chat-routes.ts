// Text chat routes: conversations in writing with an agent, its draft or else its published version. Each request is
// answered with the whole session. Source: contract §11.1.

import { z } from 'zod';
import type { TextChatId, TextChatService } from '../../call/chat/text-chat.ts';
import { isObject } from '../../std/json.ts';
import type { TextChat, TextChatTurn } from '../../store/runs/text-chat-records.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { principalOf } from '../http/authentication.ts';
import { AGENT_FAULTS, faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import { runInPath, workflowIdInPath } from '../http/path-parameters.ts';
import { isoTime } from '../http/values.ts';
import {
  type TextChatOut,
  type TextChatTurnOut,
  textChatCreate,
  textChatEnd,
  textChatMessage,
  textChatOut,
  textChatRewind,
} from './text-chat-schema.ts';

const common = { tags: ['text chat'], security: keyRequired };
const sessions = '/workflow/:workflow_id/text-chat/sessions';
const session = `${sessions}/:run_id`;
const response = {
  200: textChatOut,
  ...faults(
    'TEXT_CHAT_NOT_FOUND',
    'RUN_NOT_TEXT_CHAT',
    'TEXT_CHAT_ENDED',
    'TEXT_CHAT_FULL',
    'TEXT_CHAT_TURN_NOT_FOUND',
    'TEXT_CHAT_CONFLICT',
    'WORKFLOW_INVALID',
  ),
};

export interface TextChatDeps extends ApiDeps {
  textChats: TextChatService;
}

export function textChatRoutes(api: Api, deps: TextChatDeps): void {
  createRoute(api, deps);
  readRoute(api, deps);
  messageRoute(api, deps);
  endRoute(api, deps);
  rewindRoute(api, deps);
}

function idOf(
  request: Parameters<typeof principalOf>[0],
  { workflow_id: workflowId, run_id: runId }: z.infer<typeof runInPath>,
): TextChatId {
  return { organizationId: principalOf(request).organizationId, workflowId, runId };
}

function createRoute(api: Api, deps: TextChatDeps): void {
  api.post(
    sessions,
    {
      schema: {
        ...common,
        operationId: 'createTextChat',
        summary: 'Create a text chat',
        description: 'Begins a conversation in writing; the agent opens it.',
        params: z.object({ workflow_id: workflowIdInPath }),
        body: textChatCreate,
        response: {
          200: textChatOut,
          ...faults(...AGENT_FAULTS),
        },
      },
    },
    async (request) => {
      const { body } = request;
      const chat = await deps.textChats.create({
        organizationId: principalOf(request).organizationId,
        workflowId: request.params.workflow_id,
        name: body.name ?? null,
        initialContext: body.initial_context ?? {},
        annotations: body.annotations ?? {},
      });
      return textChatOnWire(chat);
    },
  );
}

function readRoute(api: Api, deps: TextChatDeps): void {
  api.get(
    session,
    {
      schema: {
        ...common,
        operationId: 'getTextChat',
        summary: 'Get a text chat',
        description: 'The conversation so far.',
        params: runInPath,
        response: { 200: textChatOut, ...faults('TEXT_CHAT_NOT_FOUND', 'RUN_NOT_TEXT_CHAT') },
      },
    },
    async (request) => textChatOnWire(await deps.textChats.get(idOf(request, request.params))),
  );
}

function messageRoute(api: Api, deps: TextChatDeps): void {
  api.post(
    `${session}/messages`,
    {
      schema: {
        ...common,
        operationId: 'sendTextChatMessage',
        summary: 'Send a text chat message',
        description: 'Says something to the agent and waits for its answer.',
        params: runInPath,
        body: textChatMessage,
        response,
      },
    },
    async (request) => {
      const { text, expected_revision: revision } = request.body;
      const id = idOf(request, request.params);
      return textChatOnWire(await deps.textChats.say(id, text, revision ?? null));
    },
  );
}

function endRoute(api: Api, deps: TextChatDeps): void {
  api.post(
    `${session}/end`,
    {
      schema: {
        ...common,
        operationId: 'endTextChat',
        summary: 'End a text chat',
        description: 'Ends the conversation. Asked again, it changes nothing.',
        params: runInPath,
        body: textChatEnd.nullish(),
        response,
      },
    },
    async (request) => {
      const revision = request.body?.expected_revision ?? null;
      return textChatOnWire(await deps.textChats.end(idOf(request, request.params), revision));
    },
  );
}

function rewindRoute(api: Api, deps: TextChatDeps): void {
  api.post(
    `${session}/rewind`,
    {
      schema: {
        ...common,
        operationId: 'rewindTextChat',
        summary: 'Rewind a text chat',
        description: 'Takes the conversation back to where it stood after a turn.',
        params: runInPath,
        body: textChatRewind,
        response,
      },
    },
    async (request) => {
      const { cursor_turn_id: turnId, expected_revision: revision } = request.body;
      const id = idOf(request, request.params);
      return textChatOnWire(await deps.textChats.rewind(id, turnId ?? null, revision ?? null));
    },
  );
}

function textChatOnWire(chat: TextChat): TextChatOut {
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
