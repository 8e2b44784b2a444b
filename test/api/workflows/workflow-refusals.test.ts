// What agents say to input that does not fit, row by row. Source: contract §5.1 to §5.3.

import { describe, expect, it } from 'vitest';
import { smallWorkflow, withApi } from '../served.ts';

const served = withApi();
const { call, ok } = served;
const CREATE = '/workflow/create/definition';
const [start, end] = smallWorkflow.nodes;
const [edge] = smallWorkflow.edges;

const create = (definition: object = smallWorkflow) =>
  ok('POST', CREATE, { name: 'agent', workflow_definition: definition });
const refusal = async (...request: Parameters<typeof call>) => {
  const [method, path, options] = request;
  const { status, body } = await call(method, `/api/v1${path}`, options);
  return [status, body.detail, body.message];
};
const node = (id: string, type: string, data: object = {}) => ({
  id,
  type,
  position: { x: 0, y: 0 },
  data: { name: id, ...data },
});
const link = (source: string, target: string, data: object = {}) => ({
  id: `${source}-${target}`,
  source,
  target,
  data: { label: `to ${target}`, condition: 'Then.', ...data },
});
const withNodes = (...nodes: object[]) => ({ nodes: [start, end, ...nodes], edges: [edge] });
const withEdges = (nodes: object[], ...edges: object[]) => ({
  nodes: [start, end, ...nodes],
  edges: [edge, ...edges],
});
const trigger = (id: string, path: string) => node(id, 'trigger', { trigger_path: path });
const agent = (id: string, data: object = {}) => node(id, 'agentNode', { prompt: 'Ask.', ...data });

describe('a body that is no agent', () => {
  it.each<[object, string, (string | number)[]]>([
    [{ name: null, workflow_definition: {} }, 'string_type', ['name']],
    [{ name: 5, workflow_definition: {} }, 'string_type', ['name']],
    [{ name: '', workflow_definition: {} }, 'string_too_short', ['name']],
    [{ name: 'x'.repeat(256), workflow_definition: {} }, 'string_too_long', ['name']],
    [{ name: 'a', workflow_definition: 'x' }, 'model_attributes_type', ['workflow_definition']],
    [
      { name: 'a', workflow_definition: { nodes: {} } },
      'list_type',
      ['workflow_definition', 'nodes'],
    ],
    [
      { name: 'a', workflow_definition: { nodes: [{ type: 'startCall' }] } },
      'missing',
      ['workflow_definition', 'nodes', 0, 'id'],
    ],
    [
      { name: 'a', workflow_definition: { edges: [{ id: 'e', source: '1' }] } },
      'missing',
      ['workflow_definition', 'edges', 0, 'target'],
    ],
  ])('is 422 when it is made and when it is changed: %j', async (body, type, place) => {
    const loc = ['body', ...place];
    const made = await refusal('POST', CREATE, { body });
    expect([made[0], made[1][0].type, made[1][0].loc]).toEqual([422, type, loc]);
    if ('name' in body && body.name === null) return; // In a change: the name stays.
    const { id } = await create();
    const changed = await refusal('PUT', `/workflow/${id}`, { body });
    expect([changed[0], changed[1][0].type, changed[1][0].loc]).toEqual([422, type, loc]);
  });

  it.each<[object, string, string[]]>([
    [{}, 'missing', ['status']],
    [{ status: 'gone' }, 'literal_error', ['status']],
    [{ status: null }, 'literal_error', ['status']],
  ])('is 422 for a status: %j', async (body, type, place) => {
    const { id } = await create();
    const [status, detail] = await refusal('PUT', `/workflow/${id}/status`, { body });
    expect([status, detail[0].type, detail[0].loc]).toEqual([422, type, ['body', ...place]]);
  });
});

describe('an agent that is not there', () => {
  it.each([
    ['GET', 'fetch/999999', undefined],
    ['PUT', '999999', { name: 'x' }],
    ['PUT', '999999/status', { status: 'archived' }],
    ['PUT', '999999/folder', { folder_id: null }],
    ['GET', '999999/versions', undefined],
    ['POST', '999999/validate', undefined],
    ['POST', '999999/create-draft', undefined],
    ['POST', '999999/publish', undefined],
    ['POST', '999999/duplicate', undefined],
    ['GET', '999999/report', undefined],
  ] as const)('is 404 for %s %s', async (method, path, body) => {
    const options = body === undefined ? {} : { body };
    expect(await refusal(method, `/workflow/${path}`, options)).toEqual([
      404,
      'Workflow with id 999999 not found',
      undefined,
    ]);
  });

  it('cannot be made so: agents and drafts are not deleted', async () => {
    const { id } = await create();
    for (const path of [`/workflow/${id}`, `/workflow/${id}/create-draft`]) {
      expect(await refusal('DELETE', path)).toEqual([405, 'Method Not Allowed', undefined]);
    }
  });
});

describe('a definition that contradicts itself', () => {
  const twoStarts = { nodes: [start, { ...start, id: '3' }], edges: [] };
  const twoGlobals = withNodes(
    node('g', 'globalNode', { prompt: 'Be short.' }),
    node('h', 'globalNode', { prompt: 'Be kind.' }),
  );
  const twoTriggers = withNodes(trigger('t', 'one'), trigger('u', 'two'));
  const sameNames = { nodes: [start, end], edges: [edge, { ...edge, id: 'again' }] };

  it.each<[string, object, object]>([
    ['two start nodes', twoStarts, { kind: 'workflow', id: null, field: null }],
    ['two global nodes', twoGlobals, { kind: 'workflow', id: null, field: null }],
    ['two triggers', twoTriggers, { kind: 'workflow', id: null, field: null }],
    ['one transition name twice', sameNames, { kind: 'edge', id: 'again', field: 'data.label' }],
  ])('by %s is 422 when it is made, 409 when it is changed', async (_what, definition, fault) => {
    const problems = { is_valid: false, errors: [{ ...fault, message: expect.any(String) }] };
    const body = { name: 'a', workflow_definition: definition };
    const text = expect.any(String);
    expect(await refusal('POST', CREATE, { body })).toEqual([422, problems, text]);
    const { id } = await create();
    expect(await refusal('PUT', `/workflow/${id}`, { body })).toEqual([409, problems, text]);
    expect(await ok('GET', `/workflow/fetch/${id}`)).toMatchObject({
      name: 'agent',
      version_status: 'published',
    });
  });

  it.each([
    ['a b', /letters/],
    ['x'.repeat(37), /too long/],
    ['caf\u00e9', /letters/],
  ])('by the trigger path %j is 422 either way', async (path, message) => {
    const body = { name: 'a', workflow_definition: withNodes(trigger('t', path)) };
    const fault = {
      kind: 'node',
      id: 't',
      field: 'data.trigger_path',
      message: expect.stringMatching(message),
    };
    const { id } = await create();
    const expected = [422, { is_valid: false, errors: [fault] }, expect.stringMatching(message)];
    expect(await refusal('POST', CREATE, { body })).toEqual(expected);
    expect(await refusal('PUT', `/workflow/${id}`, { body })).toEqual(expected);
  });

  it('by a trigger path of its own twice is 422 either way', async () => {
    const body = {
      name: 'a',
      workflow_definition: withNodes(trigger('t', 'one'), trigger('u', 'one')),
    };
    const { id } = await create();
    for (const [method, path] of [
      ['POST', CREATE],
      ['PUT', `/workflow/${id}`],
    ] as const) {
      const [status, detail] = await refusal(method, path, { body });
      expect(status).toBe(422);
      expect(detail.errors).toContainEqual({
        kind: 'node',
        id: 'u',
        field: 'data.trigger_path',
        message: expect.stringContaining('duplicated'),
      });
    }
  });

  it("by another agent's trigger path is 409 when changed, 422 when checked or published", async () => {
    const other = await create(withNodes(trigger('t', 'theirs')));
    const { id } = await create();
    const errors = ['theirs', 'lost'].map((path) => ({
      kind: 'node',
      id: 't',
      field: 'data.trigger_path',
      message: `Trigger path ${path} is already in use by another agent`,
    }));
    const put = (path: string) => ({ workflow_definition: withNodes(trigger('t', path)) });
    const [status, detail] = await refusal('PUT', `/workflow/${id}`, { body: put('theirs') });
    expect([status, detail.errors]).toEqual([409, [errors[0]]]);
    await ok('PUT', `/workflow/${id}`, put('lost'));
    await served.test.sql("update workflow_triggers set workflow_id = $1 where path = 'lost'", [
      other.id,
    ]);
    for (const path of ['validate', 'publish']) {
      const answer = await refusal('POST', `/workflow/${id}/${path}`);
      expect([path, answer[0], answer[1].errors]).toEqual([path, 422, [errors[1]]]);
    }
  });
});

describe('a definition that is incomplete', () => {
  const webhook = node('w', 'webhook');
  const qa = node('q', 'qa');
  const global = node('g', 'globalNode', { prompt: 'Be short.' });
  const reached = (data: object = {}) => withEdges([agent('a', data)], link('1', 'a'));

  it.each<[string, object, string, string | null, string | null, RegExp]>([
    ['no start', { nodes: [], edges: [] }, 'workflow', null, null, /at least one Start Call/],
    ['a node without a name', reached({ name: '' }), 'node', 'a', 'data.name', /./],
    ['a node without a prompt', reached({ prompt: '' }), 'node', 'a', 'data.prompt', /prompt/],
    [
      'a flag that is none',
      reached({ allow_interrupt: 'x' }),
      'node',
      'a',
      'data.allow_interrupt',
      /./,
    ],
    [
      'a variable of no type',
      reached({ extraction_variables: [{ name: 'v', type: 'date' }] }),
      'node',
      'a',
      'data.extraction_variables.0.type',
      /./,
    ],
    [
      'a variable without a name',
      reached({ extraction_variables: [{ name: '', type: 'string' }] }),
      'node',
      'a',
      'data.extraction_variables.0.name',
      /./,
    ],
    ['a type that nobody knows', withNodes(node('n', 'noveum')), 'node', 'n', 'type', /noveum/],
    [
      'an edge without a label',
      { nodes: [start, end], edges: [link('1', '2', { label: '' })] },
      'edge',
      '1-2',
      'data.label',
      /./,
    ],
    [
      'an edge without a condition',
      { nodes: [start, end], edges: [link('1', '2', { condition: undefined })] },
      'edge',
      '1-2',
      'data.condition',
      /./,
    ],
    [
      'speech of an edge in no kind',
      { nodes: [start, end], edges: [link('1', '2', { transition_speech_type: 'song' })] },
      'edge',
      '1-2',
      'data.transition_speech_type',
      /./,
    ],
    ['an edge from nowhere', withEdges([], link('9', '2')), 'edge', '9-2', 'source', /9/],
    ['an edge to nowhere', withEdges([], link('1', '9')), 'edge', '1-9', 'target', /9/],
    [
      'an edge into the start',
      withEdges([agent('a')], link('1', 'a'), link('a', '1')),
      'node',
      '1',
      null,
      /Start Call cannot have incoming edges/,
    ],
    [
      'an agent that nothing leads to',
      withNodes(agent('a')),
      'node',
      'a',
      null,
      /at least 1 incoming/,
    ],
    [
      'an end that nothing leads to',
      withNodes(node('e', 'endCall', { prompt: 'Bye.' })),
      'node',
      'e',
      null,
      /at least 1 incoming/,
    ],
    [
      'an edge out of the end',
      withEdges([agent('a')], link('1', 'a'), link('2', 'a')),
      'node',
      '2',
      null,
      /End Call cannot have outgoing edges/,
    ],
    [
      'an edge into a global node',
      withEdges([global], link('1', 'g')),
      'node',
      'g',
      null,
      /cannot have incoming/,
    ],
    [
      'an edge out of a global node',
      withEdges([global], link('g', '2')),
      'node',
      'g',
      null,
      /cannot have outgoing/,
    ],
    [
      'an edge into a trigger',
      withEdges([trigger('t', 'mine')], link('1', 't')),
      'node',
      't',
      null,
      /cannot have incoming/,
    ],
    [
      'an edge into a webhook',
      withEdges([webhook], link('1', 'w')),
      'node',
      'w',
      null,
      /cannot have incoming/,
    ],
    [
      'an edge out of a webhook',
      withEdges([webhook], link('w', '2')),
      'node',
      'w',
      null,
      /cannot have outgoing/,
    ],
    [
      'an edge into a review',
      withEdges([qa], link('1', 'q')),
      'node',
      'q',
      null,
      /cannot have incoming/,
    ],
    [
      'an edge out of a review',
      withEdges([qa], link('q', '2')),
      'node',
      'q',
      null,
      /cannot have outgoing/,
    ],
    [
      'a method that is none',
      withNodes(node('w', 'webhook', { http_method: 'TRACE' })),
      'node',
      'w',
      'data.http_method',
      /./,
    ],
    [
      'a share out of bounds',
      withNodes(node('q', 'qa', { qa_sample_rate: 101 })),
      'node',
      'q',
      'data.qa_sample_rate',
      /./,
    ],
    [
      'a delay out of bounds',
      {
        ...smallWorkflow,
        nodes: [{ ...start, data: { ...start?.data, delayed_start_duration: 11 } }, end],
      },
      'node',
      '1',
      'data.delayed_start_duration',
      /./,
    ],
  ])(
    'by %s is kept as a draft, 422 when checked or published',
    async (_what, definition, kind, id, field, message) => {
      const made = await create();
      await ok('PUT', `/workflow/${made.id}`, { workflow_definition: definition });
      const fault = { kind, id, field, message: expect.stringMatching(message) };
      for (const path of ['validate', 'publish']) {
        const [status, detail, text] = await refusal('POST', `/workflow/${made.id}/${path}`);
        expect([path, status, detail]).toEqual([path, 422, { is_valid: false, errors: [fault] }]);
        expect(text).toContain(detail.errors[0].message);
      }
    },
  );
});
