import { describe, expect, it } from 'vitest';
import { smallWorkflow, withApi } from '../served.ts';

const served = withApi();
const { call, ok } = served;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const moment = expect.stringMatching(/Z$/);

const create = (definition: object = smallWorkflow, name = 'agent') =>
  ok('POST', '/workflow/create/definition', { name, workflow_definition: definition });
const refusal = async (...request: Parameters<typeof call>) => {
  const [method, path, options] = request;
  const { status, body } = await call(method, `/api/v1${path}`, options);
  return [status, body.detail, body.message];
};
const triggered = (path?: string) => ({
  ...smallWorkflow,
  nodes: [
    ...smallWorkflow.nodes,
    { id: 't', type: 'trigger', position: { x: 0, y: 0 }, data: { name: 'T', trigger_path: path } },
  ],
});

describe('creating a workflow', () => {
  it('publishes its definition as version 1, with every field of the contract', async () => {
    const created = await create();
    expect(created).toEqual({
      id: expect.stringMatching(/^\d+$/),
      name: 'agent',
      status: 'active',
      created_at: moment,
      workflow_definition: smallWorkflow,
      current_definition_id: expect.stringMatching(/^\d+$/),
      template_context_variables: {},
      call_disposition_codes: { disposition_codes: [] },
      total_runs: 0,
      workflow_configurations: {},
      version_number: 1,
      version_status: 'published',
      workflow_uuid: expect.stringMatching(UUID),
    });
    expect(await ok('GET', `/workflow/fetch/${created.id}`)).toEqual(created);
  });

  it('takes an incomplete definition', async () => {
    expect((await create({})).workflow_definition).toEqual({ nodes: [], edges: [] });
  });

  it('keeps unknown fields', async () => {
    const definition = { ...smallWorkflow, viewport: { x: 1, y: 2, zoom: 3 }, more: [1] };
    expect((await create(definition)).workflow_definition).toEqual(definition);
  });

  it('refuses JSON that is larger than calls can use, and says what is too much', async () => {
    const many = { ...smallWorkflow, more: Array.from({ length: 20_000 }, () => 1) };
    const deep = JSON.parse(`${'['.repeat(41)}${']'.repeat(41)}`);
    const long = 'x'.repeat(1_048_576);
    const refused = async (path: string, body: Record<string, unknown>) => {
      const [status, detail] = await refusal(
        path === '' ? 'POST' : 'PUT',
        path || '/workflow/create/definition',
        { body },
      );
      return [status, ...detail.map(({ loc, msg }: { loc: string[]; msg: string }) => [loc, msg])];
    };
    const at = (field: string) => ['body', field];
    for (const [definition, excess] of [
      [many, 'more than 20000 values'],
      [{ ...smallWorkflow, deep }, 'more than 40 levels of nesting'],
      [{ ...smallWorkflow, long }, 'more than 1048576 bytes'],
    ] as const) {
      const answer = await refused('', { name: 'a', workflow_definition: definition });
      const message = `Value error, is too large: ${excess}`;
      expect(answer).toEqual([422, [at('workflow_definition'), message]]);
    }
    const { id } = await create();
    const context = { text: 'x'.repeat(65_536) };
    for (const field of ['template_context_variables', 'workflow_configurations']) {
      expect(await refused(`/workflow/${id}`, { [field]: context })).toEqual([
        422,
        [at(field), 'Value error, is too large: more than 65536 bytes'],
      ]);
    }
    const fits = { ...smallWorkflow, more: Array.from({ length: 19_000 }, () => 1) };
    expect((await create(fits)).workflow_definition.more).toHaveLength(19_000);
  });

  it('gives triggers a path, and refuses one that another agent has', async () => {
    const first = await create(triggered());
    const path = first.workflow_definition.nodes[2].data.trigger_path;
    expect(path).toMatch(UUID);
    const { apiKey: key } = await served.stranger();
    const body = { name: 'b', workflow_definition: triggered(path) };
    const taken = await refusal('POST', '/workflow/create/definition', { body, key });
    const message = `Trigger path ${path} is already in use by another agent`;
    const error = { kind: 'node', id: 't', field: 'data.trigger_path', message };
    expect(taken).toEqual([
      409,
      { is_valid: false, errors: [error] },
      expect.stringContaining(message),
    ]);
  });

  it('refuses a path of a wrong form, two start nodes, and one transition name twice', async () => {
    const [start, end] = smallWorkflow.nodes;
    const [edge] = smallWorkflow.edges;
    for (const [definition, fault] of [
      [triggered('a b'), { kind: 'node', id: 't', field: 'data.trigger_path' }],
      [
        { nodes: [start, { ...start, id: '3' }], edges: [] },
        { kind: 'workflow', id: null, field: null },
      ],
      [
        { nodes: [start, end], edges: [edge, { ...edge, id: 'again' }] },
        { kind: 'edge', id: 'again', field: 'data.label' },
      ],
    ]) {
      const body = { name: 'a', workflow_definition: definition };
      const [status, detail, message] = await refusal('POST', '/workflow/create/definition', {
        body,
      });
      expect(status).toBe(422);
      expect(detail).toEqual({
        is_valid: false,
        errors: [{ ...(fault as object), message: expect.any(String) }],
      });
      expect(message).toContain(detail.errors[0].message);
    }
  });
});

describe('workflows', () => {
  it('are listed as a bare array, by status', async () => {
    const kept = await create();
    const gone = await create(smallWorkflow, 'old');
    const archived = await ok('PUT', `/workflow/${gone.id}/status`, { status: 'archived' });
    expect(archived).toEqual({ ...gone, status: 'archived' });
    expect(await ok('GET', '/workflow/fetch?status=active')).toEqual([
      {
        id: kept.id,
        name: 'agent',
        status: 'active',
        created_at: moment,
        total_runs: 0,
        folder_id: null,
        published_version: 1,
        has_draft: false,
        workflow_uuid: kept.workflow_uuid,
      },
    ]);
    await ok('POST', `/workflow/${kept.id}/create-draft`, {});
    expect(await ok('GET', '/workflow/fetch?status=active')).toMatchObject([
      { id: kept.id, published_version: 1, has_draft: true },
    ]);
    const ids = async (query: string) =>
      (await ok('GET', `/workflow/fetch${query}`)).map((each: { id: string }) => each.id).sort();
    expect(await ids('?status=archived')).toEqual([gone.id]);
    expect(await ids('?status=active,archived')).toEqual([kept.id, gone.id].sort());
    expect(await ids('')).toEqual([kept.id, gone.id].sort());
    expect(await ok('GET', '/workflow/count')).toEqual({ total: 2, active: 1, archived: 1 });
    expect(await ok('GET', '/workflow/summary?status=archived')).toEqual([
      { id: gone.id, name: 'old' },
    ]);
  });

  it('show the dispositions that their calls have come to', async () => {
    const { id } = await create();
    for (const code of ['booked', 'busy', 'booked']) {
      await served.test.store.workflows.addDisposition(id, code);
    }
    expect((await ok('GET', `/workflow/fetch/${id}`)).call_disposition_codes).toEqual({
      disposition_codes: ['booked', 'busy'],
    });
  });

  it('have no other status', async () => {
    for (const path of ['fetch', 'summary']) {
      expect(await refusal('GET', `/workflow/${path}?status=active,gone`)).toEqual([
        422,
        "Invalid status 'gone'. Allowed: active, archived",
        undefined,
      ]);
    }
  });

  it('of another organization are not found', async () => {
    const { id } = await create();
    const { apiKey: key } = await served.stranger();
    expect((await call('GET', '/api/v1/workflow/fetch', { key })).body).toEqual([]);
    for (const [method, path, body] of [
      ['GET', `/workflow/fetch/${id}`, undefined],
      ['PUT', `/workflow/${id}`, { name: 'x' }],
      ['PUT', `/workflow/${id}/status`, { status: 'archived' }],
      ['GET', `/workflow/${id}/versions`, undefined],
      ['POST', `/workflow/${id}/validate`, undefined],
      ['POST', `/workflow/${id}/create-draft`, undefined],
      ['POST', `/workflow/${id}/publish`, undefined],
      ['GET', `/workflow/${id}/runs`, undefined],
    ] as const) {
      expect((await refusal(method, path, { key, body })).slice(0, 2)).toEqual([
        404,
        `Workflow with id ${id} not found`,
      ]);
    }
  });

  it('show the keys of their nodes and settings masked, and keep them', async () => {
    const node = { id: 'q', type: 'qa', data: { name: 'Q', qa_api_key: 'sk-0123456789' } };
    const definition = { ...smallWorkflow, nodes: [...smallWorkflow.nodes, node] };
    const created = await create(definition);
    expect(created.workflow_definition.nodes[2].data.qa_api_key).toBe('*********6789');
    const settings = { voicemail_detection: { enabled: true, api_key: 'sk-9876543210' } };
    const first = await ok('PUT', `/workflow/${created.id}`, { workflow_configurations: settings });
    expect(first.workflow_configurations.voicemail_detection.api_key).toBe('*********3210');
    await ok('PUT', `/workflow/${created.id}`, {
      workflow_definition: created.workflow_definition,
      workflow_configurations: first.workflow_configurations,
    });
    const draft = await served.test.store.workflows.draft(created.id);
    expect(draft?.definition.nodes[2]?.data['qa_api_key']).toBe('sk-0123456789');
    expect(draft?.configurations).toEqual(settings);
  });
});

describe('updating a workflow', () => {
  it('renames it at once, without a draft', async () => {
    const created = await create();
    const renamed = await ok('PUT', `/workflow/${created.id}`, { name: 'new' });
    expect(renamed).toEqual({ ...created, name: 'new' });
  });

  it('puts other changes into a draft, in place', async () => {
    const { id } = await create();
    const first = await ok('PUT', `/workflow/${id}`, { template_context_variables: { a: 'b' } });
    expect(first).toMatchObject({
      version_number: 2,
      version_status: 'draft',
      template_context_variables: { a: 'b' },
      workflow_definition: smallWorkflow,
    });
    const second = await ok('PUT', `/workflow/${id}`, {
      workflow_configurations: { max_call_duration: 60, dictionary: null, own: { a: 1 } },
    });
    expect(second).toMatchObject({
      current_definition_id: first.current_definition_id,
      version_number: 2,
      template_context_variables: { a: 'b' },
      workflow_configurations: { max_call_duration: 60, own: { a: 1 } },
    });
    expect(second.workflow_configurations).not.toHaveProperty('dictionary');
  });

  it('removes unknown keys of nodes and edges', async () => {
    const { id } = await create();
    const [start, end] = smallWorkflow.nodes;
    const nodes = [{ ...start, data: { ...start?.data, invalid: true } }, end];
    const changed = await ok('PUT', `/workflow/${id}`, {
      workflow_definition: { ...smallWorkflow, nodes },
    });
    expect(changed.workflow_definition).toEqual(smallWorkflow);
  });

  it('takes calls of a day, and refuses settings out of bounds', async () => {
    const { id } = await create();
    const day = { workflow_configurations: { max_call_duration: 86_400 } };
    expect(await ok('PUT', `/workflow/${id}`, day)).toMatchObject(day);
    const body = { workflow_configurations: { max_call_duration: 86_401 } };
    const [status, detail] = await refusal('PUT', `/workflow/${id}`, { body });
    expect([status, detail[0]]).toEqual([
      422,
      {
        type: 'less_than_equal',
        loc: ['body', 'workflow_configurations', 'max_call_duration'],
        msg: 'Input should be less than or equal to 86400',
        input: 86_401,
        ctx: { le: 86_400 },
      },
    ]);
  });

  it('conflicts when the definition contradicts itself, and is invalid for a wrong path', async () => {
    const { id } = await create();
    const [edge] = smallWorkflow.edges;
    const twice = { ...smallWorkflow, edges: [edge, { ...edge, id: 'again' }] };
    const put = (definition: object) =>
      refusal('PUT', `/workflow/${id}`, { body: { workflow_definition: definition } });
    expect((await put(twice))[0]).toBe(409);
    expect((await put(triggered('a b')))[0]).toBe(422);
    await create(triggered('mine'));
    expect((await put(triggered('mine')))[0]).toBe(409);
  });
});

describe('versions of a workflow', () => {
  it('are drafted, checked and published', async () => {
    const { id, current_definition_id: first } = await create();
    expect(await refusal('POST', `/workflow/${id}/publish`)).toEqual([
      400,
      'No draft to publish',
      undefined,
    ]);
    const draft = await ok('POST', `/workflow/${id}/create-draft`);
    expect(draft).toEqual({
      id: expect.stringMatching(/^\d+$/),
      version_number: 2,
      status: 'draft',
      created_at: moment,
      published_at: null,
      workflow_json: smallWorkflow,
      workflow_configurations: {},
      template_context_variables: {},
    });
    expect(await ok('POST', `/workflow/${id}/create-draft`)).toEqual(draft);
    expect(await ok('POST', `/workflow/${id}/validate`)).toMatchObject({
      is_valid: true,
      errors: [],
    });
    expect(await ok('POST', `/workflow/${id}/publish`)).toEqual({
      id: draft.id,
      version_number: 2,
      status: 'published',
      published_at: moment,
    });
    const versions = await ok('GET', `/workflow/${id}/versions`);
    const seen = versions.map((each: Record<string, unknown>) => [
      each['id'],
      each['version_number'],
      each['status'],
    ]);
    expect(seen).toEqual([
      [draft.id, 2, 'published'],
      [first, 1, 'archived'],
    ]);
    expect(await ok('GET', `/workflow/${id}/versions?limit=1&offset=1`)).toEqual([versions[1]]);
  });

  it('that need a language model are valid, with a warning on a gateway without one', async () => {
    const { id } = await create(smallWorkflow);
    const answer = await ok('POST', `/workflow/${id}/validate`);
    expect(answer.is_valid).toBe(true);
    expect(answer.warnings).toContainEqual({
      kind: 'node',
      id: '2',
      field: expect.any(String),
      message: expect.stringMatching(/language model/),
    });
  });

  it('with misspelt keys keep them, and validate names the keys that were meant', async () => {
    const { id } = await create();
    const [start, end] = smallWorkflow.nodes;
    const definition = {
      ...smallWorkflow,
      nodes: [{ ...start, data: { ...start?.data, tool_uids: ['t'] } }, end],
    };
    const settings = { max_call_duraton: 60, sst: {} };
    const body = { workflow_definition: definition, workflow_configurations: settings };
    const updated = await ok('PUT', `/workflow/${id}`, body);
    expect(updated.workflow_configurations).toEqual(settings);
    const { warnings } = await ok('POST', `/workflow/${id}/validate`);
    expect(warnings).toEqual(
      expect.arrayContaining([
        {
          kind: 'node',
          id: '1',
          field: 'data.tool_uids',
          message: 'Unknown key tool_uids has no effect: did you mean tool_uuids?',
        },
        {
          kind: 'workflow',
          id: null,
          field: 'workflow_configurations.max_call_duraton',
          message: 'Unknown key max_call_duraton has no effect: did you mean max_call_duration?',
        },
        {
          kind: 'workflow',
          id: null,
          field: 'workflow_configurations.sst',
          message: 'Unknown key sst has no effect: did you mean model_overrides.stt?',
        },
      ]),
    );
  });

  it.each(['POST', 'PUT'])(
    'with a webhook that a misspelt key leaves without effect are not valid: %s',
    async (method) => {
      const webhook = {
        id: 'w',
        type: 'webhook',
        position: { x: 0, y: 0 },
        data: { name: 'CRM', url: 'https://crm.example.com' },
      };
      const definition = { ...smallWorkflow, nodes: [...smallWorkflow.nodes, webhook] };
      const { id } = await create(method === 'POST' ? definition : smallWorkflow);
      if (method === 'PUT') await ok('PUT', `/workflow/${id}`, { workflow_definition: definition });
      else await ok('POST', `/workflow/${id}/create-draft`);
      for (const path of ['validate', 'publish']) {
        const [status, detail] = await refusal('POST', `/workflow/${id}/${path}`);
        const message =
          'Webhook without endpoint_url sends nothing: did you mean endpoint_url by url?';
        const errors = [{ kind: 'node', id: 'w', field: 'data.endpoint_url', message }];
        expect([status, detail]).toEqual([422, { is_valid: false, errors }]);
      }
    },
  );

  it('that are incomplete are not valid and not published (A.3)', async () => {
    const { id } = await create({});
    await ok('POST', `/workflow/${id}/create-draft`);
    for (const path of ['validate', 'publish']) {
      const [status, detail, message] = await refusal('POST', `/workflow/${id}/${path}`);
      expect([status, detail]).toEqual([
        422,
        {
          is_valid: false,
          errors: [
            {
              kind: 'workflow',
              id: null,
              field: null,
              message: 'Workflow must have at least one Start Call',
            },
          ],
        },
      ]);
      expect(message).toContain('Workflow must have at least one Start Call');
    }
  });
});
