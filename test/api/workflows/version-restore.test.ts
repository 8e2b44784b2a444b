import { describe, expect, it } from 'vitest';
import { smallWorkflow, withApi } from '../served.ts';

const served = withApi();

describe('a version of an agent', () => {
  it('is read by its id, restored as the draft, and published again', async () => {
    const { id, current_definition_id: first } = await served.ok(
      'POST',
      '/workflow/create/definition',
      { name: 'agent', workflow_definition: smallWorkflow },
    );
    const [start, ...others] = smallWorkflow.nodes;
    const changed = { ...start, data: { ...start?.data, greeting: 'Good day.' } };
    const definition = { ...smallWorkflow, nodes: [changed, ...others] };
    await served.ok('PUT', `/workflow/${id}`, { workflow_definition: definition });
    await served.ok('POST', `/workflow/${id}/publish`);
    const greetingOf = (version: { workflow_json: { nodes: { data: { greeting: string } }[] } }) =>
      version.workflow_json.nodes[0]?.data.greeting;
    const old = await served.ok('GET', `/workflow/${id}/versions/${first}`);
    expect(greetingOf(old)).toBe('Hello.');
    const draft = await served.ok('POST', `/workflow/${id}/versions/${first}/restore`);
    expect([greetingOf(draft), draft.status]).toEqual(['Hello.', 'draft']);
    await served.ok('POST', `/workflow/${id}/publish`);
    const [newest] = await served.ok('GET', `/workflow/${id}/versions`);
    expect([greetingOf(newest), newest.status]).toEqual(['Hello.', 'published']);
  });

  it('is that of its agent alone', async () => {
    const make = async () =>
      served.ok('POST', '/workflow/create/definition', {
        name: 'agent',
        workflow_definition: smallWorkflow,
      });
    const [one, other] = [await make(), await make()];
    const path = `/api/v1/workflow/${one.id}/versions/${other.current_definition_id}`;
    const read = await served.call('GET', path);
    expect([read.status, read.body.code]).toEqual([404, 'WORKFLOW_VERSION_NOT_FOUND']);
    expect((await served.call('POST', `${path}/restore`)).status).toBe(404);
  });
});
