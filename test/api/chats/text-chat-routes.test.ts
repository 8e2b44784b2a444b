// Text chats over HTTP: shapes, and each row of the contract's errors. Source: contract §11.1.

import { beforeEach, describe, expect, it } from 'vitest';
import { withApi } from '../served.ts';
import { talking } from '../talking-workflow.ts';

const served = withApi();
let workflowId: string;
let sessions: string;

beforeEach(async () => {
  const made = await served.ok('POST', '/workflow/create/definition', {
    name: 'Writer',
    workflow_definition: talking,
  });
  workflowId = made.id;
  sessions = `/workflow/${workflowId}/text-chat/sessions`;
});

function post(path: string, body: unknown) {
  return served.call('POST', `/api/v1${sessions}${path}`, { body });
}

describe('a text chat session', () => {
  it('is created with the opening turn, in the shape of the contract', async () => {
    const body = { name: 'mine', initial_context: { who: 'Ann' }, annotations: { by: 'me' } };
    const session = await served.ok('POST', sessions, body);
    const at = new Date(served.test.clock.now()).toISOString();
    expect(session).toEqual({
      workflow_run_id: expect.stringMatching(/^\d+$/),
      workflow_id: workflowId,
      name: 'mine',
      mode: 'textchat',
      state: 'running',
      is_completed: false,
      revision: 2,
      initial_context: { who: 'Ann' },
      gathered_context: { extracted_variables: {}, nodes_visited: ['Start'] },
      annotations: { by: 'me' },
      session_data: {
        version: 1,
        status: 'idle',
        cursor_turn_id: null,
        turns: [
          {
            id: expect.stringMatching(/^turn_[0-9a-f]{12}$/),
            status: 'completed',
            created_at: at,
            user_message: null,
            assistant_message: { text: 'Hello Ann. Shall we end?', created_at: at },
            events: [
              expect.objectContaining({ type: 'rtf-node-transition' }),
              expect.objectContaining({ type: 'rtf-bot-text' }),
            ],
            usage: { llm: {} },
          },
        ],
        discarded_future: [],
        simulator: { enabled: false, config: {} },
      },
      checkpoint: {
        version: 1,
        anchor_turn_id: session.session_data.turns[0].id,
        current_node_id: '1',
        messages: [{ role: 'assistant', content: 'Hello Ann. Shall we end?' }],
        gathered_context: { extracted_variables: {}, nodes_visited: ['Start'] },
        tool_state: {},
      },
      created_at: at,
      updated_at: at,
    });
    expect(await served.ok('GET', `${sessions}/${session.workflow_run_id}`)).toEqual(session);
  });

  it('gets messages, is rewound and ended, and its run has them', async () => {
    const { workflow_run_id: id, session_data } = await served.ok('POST', sessions, {});
    const first = session_data.turns[0].id;
    const said = await served.ok('POST', `${sessions}/${id}/messages`, { text: 'a horse' });
    expect(said.session_data.turns).toHaveLength(2);
    const live = await served.ok('GET', `/workflow/${workflowId}/runs/${id}`);
    expect(JSON.stringify(live.logs)).toContain('a horse');
    const back = await served.ok('POST', `${sessions}/${id}/rewind`, { cursor_turn_id: first });
    expect(back.session_data).toMatchObject({
      status: 'rewound',
      cursor_turn_id: first,
      turns: [{ id: first }],
      discarded_future: [
        { rewound_from_turn_id: first, turns: [{ user_message: { text: 'a horse' } }] },
      ],
    });
    const done = await served.ok('POST', `${sessions}/${id}/messages`, {
      text: 'finish',
      expected_revision: back.revision,
    });
    expect(done).toMatchObject({
      is_completed: true,
      state: 'completed',
      session_data: { status: 'completed' },
      gathered_context: { call_disposition: 'user_qualified', nodes_visited: ['Start', 'End'] },
    });
    const run = await served.ok('GET', `/workflow/${workflowId}/runs/${id}`);
    expect(run).toMatchObject({ mode: 'textchat', status: 'completed', is_completed: true });
    expect(JSON.stringify(run.logs)).not.toContain('a horse');
    const text = await served.call(
      'GET',
      new URL(run.transcript_url).pathname + new URL(run.transcript_url).search,
    );
    expect(text.text).toMatch(
      /assistant: Hello there\..*\n.*user: finish\n.*assistant: Goodbye\.\n$/,
    );
  });

  it('ends without a body, twice with the same answer', async () => {
    const { workflow_run_id: id } = await served.ok('POST', sessions, {});
    const done = await served.ok('POST', `${sessions}/${id}/end`);
    expect(done.gathered_context.call_disposition).toBe('user_hangup');
    expect(await served.ok('POST', `${sessions}/${id}/end`, {})).toEqual(done);
  });

  it('that has ended takes nothing any more', async () => {
    const { workflow_run_id: id } = await served.ok('POST', sessions, {});
    await served.ok('POST', `${sessions}/${id}/end`, {});
    for (const [path, body] of [
      [`/${id}/messages`, { text: 'hello' }],
      [`/${id}/rewind`, {}],
    ] as const) {
      const { status, body: answer } = await post(path, body);
      expect([status, answer]).toEqual([
        400,
        { detail: 'Text chat session has ended', code: 'TEXT_CHAT_ENDED' },
      ]);
    }
  });

  it('at another revision is a conflict, in words and numbers', async () => {
    const { workflow_run_id: id } = await served.ok('POST', sessions, {});
    for (const [path, body] of [
      ['messages', { text: 'hello', expected_revision: 7 }],
      ['end', { expected_revision: 7 }],
      ['rewind', { expected_revision: 7 }],
    ] as const) {
      const { status, body: answer } = await post(`/${id}/${path}`, body);
      const message = 'Text chat session revision conflict';
      expect([status, answer]).toEqual([
        409,
        {
          detail: { message, expected_revision: 7, actual_revision: 2 },
          code: 'TEXT_CHAT_CONFLICT',
          message,
        },
      ]);
    }
  });

  it('that is not there is 404, as is one of another agent', async () => {
    const { workflow_run_id: id } = await served.ok('POST', sessions, {});
    const other = await served.ok('POST', '/workflow/create/definition', {
      name: 'Other',
      workflow_definition: talking,
    });
    const paths = [`${sessions}/999999`, `/workflow/${other.id}/text-chat/sessions/${id}`];
    for (const path of paths) {
      const { status, body } = await served.call('GET', `/api/v1${path}`);
      expect([status, body]).toEqual([
        404,
        { detail: 'Text chat session not found', code: 'TEXT_CHAT_NOT_FOUND' },
      ]);
    }
    const empty = await served.ok('POST', `/workflow/${workflowId}/runs`, {
      mode: 'textchat',
      name: 'empty',
    });
    expect((await served.call('GET', `/api/v1${sessions}/${empty.id}`)).status).toBe(404);
  });

  it('is not taken back to a turn that it does not have', async () => {
    const { workflow_run_id: id } = await served.ok('POST', sessions, {});
    const { status, body } = await post(`/${id}/rewind`, { cursor_turn_id: 'turn_0' });
    expect([status, body]).toEqual([
      404,
      { detail: 'Turn not found in text chat session', code: 'TEXT_CHAT_TURN_NOT_FOUND' },
    ]);
  });

  it('wants a context of a bounded size', async () => {
    const large = { initial_context: { a: 'x'.repeat(40_000) } };
    expect((await post('', large)).status).toBe(422);
  });
});
