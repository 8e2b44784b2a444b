// Text chat routes: conversations in writing with an agent, its draft or else its published version. Each request is
// answered with the whole session. Source: contract §11.1.

import { z } from 'zod';
import type { TextChatId, TextChatService } from '../../call/chat/text-chat.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { principalOf } from '../http/authentication.ts';
import { AGENT_FAULTS, faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import { runIdInPath, workflowIdInPath } from '../http/path-parameters.ts';
import { textChatOnWire } from './text-chat-mapping.ts';
import {
  textChatCreate,
  textChatEnd,
  textChatMessage,
  textChatOut,
  textChatRewind,
} from './text-chat-schema.ts';

const common = { tags: ['text chat'], security: keyRequired };
const sessions = '/workflow/:workflow_id/text-chat/sessions';
const session = `${sessions}/:run_id`;
const params = z.object({ workflow_id: workflowIdInPath, run_id: runIdInPath });
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
  { workflow_id: workflowId, run_id: runId }: z.infer<typeof params>,
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
        params,
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
        params,
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
        params,
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
        params,
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
