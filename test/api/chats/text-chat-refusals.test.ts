// What conversations in writing are refused for, on every operation: sessions that are not there, are none or have ended, and
// faults of the service. Source: contract §11.1.

import { beforeEach, describe, expect, it } from 'vitest';
import type { TextChatService } from '../../../src/call/chat/text-chat.ts';
import { type ErrorCode, GatewayError } from '../../../src/errors/gateway-error.ts';
import { withApi } from '../served.ts';
import { talking } from '../talking-workflow.ts';

/** Thrown by everything, once it is set. */
let refusal: GatewayError | undefined;
let chats: TextChatService;
const served = withApi();
const { call, ok } = served;
let sessions: string;
let workflowId: string;

beforeEach(async () => {
  refusal = undefined;
  chats ??= served.deps.textChats;
  served.deps.textChats = refusing(chats);
  workflowId = (await agent('Writer')).id;
  sessions = `/workflow/${workflowId}/text-chat/sessions`;
});

/** The text chat service, unless it must refuse. */
function refusing(chats: TextChatService): TextChatService {
  const unless = async <T>(answer: () => Promise<T>): Promise<T> => {
    if (refusal !== undefined) throw refusal;
    return answer();
  };
  return {
    create: (...asked) => unless(() => chats.create(...asked)),
    get: (...asked) => unless(() => chats.get(...asked)),
    say: (...asked) => unless(() => chats.say(...asked)),
    end: (...asked) => unless(() => chats.end(...asked)),
    rewind: (...asked) => unless(() => chats.rewind(...asked)),
  };
}

const agent = (name: string) =>
  ok('POST', '/workflow/create/definition', { name, workflow_definition: talking });
const operations: ['GET' | 'POST', string, object?][] = [
  ['GET', ''],
  ['POST', '/messages', { text: 'hello' }],
  ['POST', '/end', {}],
  ['POST', '/rewind', {}],
];
async function answer(
  method: 'GET' | 'POST',
  path: string,
  options: { body?: unknown; key?: string } = {},
) {
  const { status, body } = await call(method, `/api/v1${path}`, options);
  return [status, body];
}

describe.each(operations)('%s of a text chat session%s', (method, path, body) => {
  it('is 404 for one that is not there, another agent’s or another organization’s', async () => {
    const { workflow_run_id: id } = await ok('POST', sessions, {});
    const { id: other } = await agent('Other');
    const { apiKey: key } = await served.stranger();
    const missing = [404, { detail: 'Text chat session not found', code: 'TEXT_CHAT_NOT_FOUND' }];
    expect(await answer(method, `${sessions}/999999${path}`, { body })).toEqual(missing);
    const elsewhere = `/workflow/${other}/text-chat/sessions/${id}${path}`;
    expect(await answer(method, elsewhere, { body })).toEqual(missing);
    expect(await answer(method, `${sessions}/${id}${path}`, { body, key })).toEqual(missing);
    expect((await ok('GET', `${sessions}/${id}`)).revision).toBe(2);
  });

  it('is 400 for a run that is none', async () => {
    const { id } = await ok('POST', `/workflow/${workflowId}/runs`, { mode: 'ari', name: 'a' });
    expect(await answer(method, `${sessions}/${id}${path}`, { body })).toEqual([
      400,
      { detail: 'Workflow run is not a text chat session', code: 'RUN_NOT_TEXT_CHAT' },
    ]);
  });

  it('is 404 for a run that is no number', async () => {
    expect(await answer(method, `${sessions}/x${path}`, { body })).toEqual([
      404,
      { detail: 'Text chat session not found', code: 'TEXT_CHAT_NOT_FOUND' },
    ]);
  });
});

describe('a text chat session', () => {
  it('is not begun with an agent that is not there, foreign or archived: 404', async () => {
    const { apiKey: key } = await served.stranger();
    const missing = [404, { detail: 'Workflow not found', code: 'AGENT_NOT_FOUND' }];
    expect(await answer('POST', '/workflow/999999/text-chat/sessions', { body: {} })).toEqual(
      missing,
    );
    expect(await answer('POST', sessions, { body: {}, key })).toEqual(missing);
    await ok('PUT', `/workflow/${workflowId}/status`, { status: 'archived' });
    expect(await answer('POST', sessions, { body: {} })).toEqual([
      404,
      { detail: 'Workflow is not active', code: 'AGENT_NOT_ACTIVE' },
    ]);
  });

  it('that has ended takes nothing at the revision that it has either: 400', async () => {
    const { workflow_run_id: id } = await ok('POST', sessions, {});
    const { revision } = await ok('POST', `${sessions}/${id}/end`, {});
    const message = 'Text chat session has ended';
    for (const [path, body] of [
      ['messages', { text: 'hello', expected_revision: revision }],
      ['rewind', { expected_revision: revision }],
    ] as const) {
      expect(await answer('POST', `${sessions}/${id}/${path}`, { body })).toEqual([
        400,
        { detail: message, code: 'TEXT_CHAT_ENDED' },
      ]);
    }
  });

  it.each<[ErrorCode, number, string, Record<string, string | number>?]>([
    [
      'TEXT_CHAT_TURN_FAILED',
      500,
      'Failed to execute text chat assistant turn: it broke. Send the message again.',
      { reason: 'it broke' },
    ],
    [
      'TEXT_CHAT_FULL',
      400,
      'A text chat session holds at most 3 turns. Start a new one.',
      { max: 3, what: 'turns' },
    ],
    ['AGENT_NOT_PUBLISHED', 404, 'Workflow has no published definition'],
    ['QUEUE_FULL', 503, 'The queue text chats is full', { queue: 'text chats' }],
    ['GATEWAY_DRAINING', 503, 'This gateway is shutting down and accepts no new calls'],
  ])('that causes %s is answered %i', async (code, status, detail, facts) => {
    const { workflow_run_id: id } = await ok('POST', sessions, {});
    refusal = new GatewayError(code, facts);
    const {
      status: told,
      body,
      headers,
    } = await call('POST', `/api/v1${sessions}/${id}/messages`, { body: { text: 'hello' } });
    const retryAfter = status === 503 ? 5 : undefined;
    expect([told, body]).toEqual([status, { detail, code, retry_after: retryAfter }]);
    expect(headers['retry-after']).toBe(retryAfter?.toString());
  });
});
