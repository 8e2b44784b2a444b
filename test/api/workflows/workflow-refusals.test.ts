// Agents that are not there, and definitions that contradict themselves. What is incomplete in one is in
// test/workflow/graph/validate.test.ts. Source: contract §5.1 to §5.3.

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
const withNodes = (...nodes: object[]) => ({ nodes: [start, end, ...nodes], edges: [edge] });
const trigger = (id: string, path: string) => node(id, 'trigger', { trigger_path: path });

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
