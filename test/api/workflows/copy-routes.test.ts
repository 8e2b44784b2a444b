// Agents made from other agents and from templates. Source: contract §5.1.

import { describe, expect, it } from 'vitest';
import { smallWorkflow, withApi } from '../served.ts';

const served = withApi();
const { call, ok } = served;
const trigger = { id: 't', type: 'trigger', data: { name: 'T', trigger_path: 'mine' } };
const qa = { id: 'q', type: 'qa', data: { name: 'Q', qa_api_key: 'sk-0123456789' } };
const definition = { ...smallWorkflow, nodes: [...smallWorkflow.nodes, trigger, qa] };
const create = (name = 'agent') =>
  ok('POST', '/workflow/create/definition', { name, workflow_definition: definition });

describe('the duplicate of an agent', () => {
  it('is a new agent, published, with a trigger path of its own and the same secrets', async () => {
    const source = await create();
    const folder = await ok('POST', '/folder/', { name: 'Sales' });
    await ok('PUT', `/workflow/${source.id}/folder`, { folder_id: folder.id });
    await served.test.store.workflows.addDisposition(source.id, 'booked');
    const copy = await ok('POST', `/workflow/${source.id}/duplicate`);
    expect(copy).toMatchObject({
      name: 'agent - Duplicate',
      status: 'active',
      version_number: 1,
      version_status: 'published',
      total_runs: 0,
      call_disposition_codes: { disposition_codes: [] },
    });
    expect([copy.id, copy.workflow_uuid]).not.toContain(source.id);
    expect(copy.workflow_uuid).not.toBe(source.workflow_uuid);
    const path = copy.workflow_definition.nodes[2].data.trigger_path;
    expect(path).toMatch(/^[0-9a-f-]{36}$/);
    expect(copy.workflow_definition).toEqual({
      ...source.workflow_definition,
      nodes: source.workflow_definition.nodes.map((node: { id: string; data: object }) =>
        node.id === 't' ? { ...node, data: { ...node.data, trigger_path: path } } : node,
      ),
    });
    const stored = await served.test.store.workflows.published(copy.id);
    expect(stored?.definition.nodes[3]?.data['qa_api_key']).toBe('sk-0123456789');
    const listed = await ok('GET', '/workflow/fetch');
    expect(listed.map((each: { folder_id: string }) => each.folder_id)).toEqual([
      folder.id,
      folder.id,
    ]);
  });

  it('has the draft, if there is one, with its settings and variables', async () => {
    const { id } = await create();
    await ok('PUT', `/workflow/${id}`, {
      workflow_configurations: { max_call_duration: 60 },
      template_context_variables: { a: 'b' },
    });
    await ok('PUT', `/workflow/${id}/status`, { status: 'archived' });
    expect(await ok('POST', `/workflow/${id}/duplicate`)).toMatchObject({
      status: 'active',
      workflow_configurations: { max_call_duration: 60 },
      template_context_variables: { a: 'b' },
      version_number: 1,
      version_status: 'published',
    });
  });

  it('has a copy of the file of its ambient noise', async () => {
    const { id } = await create();
    const { organizationId } = served.test.owner;
    const key = `ambient_noise/${organizationId}/${id}/cafe.wav`;
    await served.deps.files.write(key, Buffer.from('RIFF'));
    const noise = (storageKey: string) => ({
      ambient_noise_configuration: { enabled: true, volume: 0.2, storage_key: storageKey },
    });
    const duplicated = async (storageKey: string): Promise<string> => {
      await ok('PUT', `/workflow/${id}`, { workflow_configurations: noise(storageKey) });
      const copy = await ok('POST', `/workflow/${id}/duplicate`);
      const found = copy.workflow_configurations.ambient_noise_configuration;
      expect(found).toMatchObject({ enabled: true, volume: 0.2 });
      return found.storage_key;
    };
    const copy = await duplicated(key);
    expect(copy).toMatch(
      new RegExp(`^ambient_noise/${organizationId}/${id}/[0-9a-f-]{36}-cafe.wav$`),
    );
    expect((await served.deps.files.readAll(copy)).toString()).toBe('RIFF');
    for (const other of ['ambient_noise/999/1/cafe.wav', `${key}.gone`, '../x']) {
      expect(await duplicated(other)).toBe(other);
    }
  });

  it('fits the longest name', async () => {
    const { id } = await create('x'.repeat(255));
    const { name } = await ok('POST', `/workflow/${id}/duplicate`);
    expect(name).toBe(`${'x'.repeat(243)} - Duplicate`);
  });

  it('of an agent that is not there is not found', async () => {
    const { id } = await create();
    const { apiKey: key } = await served.stranger();
    const { status, body } = await call('POST', `/api/v1/workflow/${id}/duplicate`, { key });
    expect([status, body.detail]).toEqual([404, `Workflow with id ${id} not found`]);
  });
});

describe('templates', () => {
  it('are shown to everybody', async () => {
    const { status, body } = await call('GET', '/api/v1/workflow/templates', { key: null });
    expect(status).toBe(200);
    expect(body.length).toBeGreaterThanOrEqual(3);
    for (const template of body) {
      expect(template).toEqual({
        id: expect.stringMatching(/^\d+$/),
        template_name: expect.any(String),
        template_description: expect.any(String),
        template_json: expect.objectContaining({ nodes: expect.any(Array) }),
        created_at: expect.stringMatching(/Z$/),
      });
    }
  });

  it('are listed without their graphs for those who ask for summaries', async () => {
    const whole = await ok('GET', '/workflow/templates');
    const summaries = await ok('GET', '/workflow/templates?summary=true');
    expect(summaries).toEqual(
      whole.map(({ template_json: _, ...summary }: { template_json: unknown }) => summary),
    );
    expect(await ok('GET', '/workflow/templates?summary=false')).toEqual(whole);
    const asked = await call('GET', '/api/v1/workflow/templates?summary=perhaps', { key: null });
    expect(asked.status).toBe(422);
  });

  it('become agents, as often as one likes, each valid and with a path of its own', async () => {
    const paths: string[] = [];
    for (const { id: templateId } of await ok('GET', '/workflow/templates')) {
      for (const workflowName of ['first', 'second']) {
        const made = await ok('POST', '/workflow/templates/duplicate', {
          template_id: templateId,
          workflow_name: workflowName,
        });
        expect(made).toMatchObject({ name: workflowName, version_status: 'published' });
        const checked = await ok('POST', `/workflow/${made.id}/validate`);
        expect(checked).toEqual({ is_valid: true, errors: [], warnings: [] });
        for (const { data } of made.workflow_definition.nodes) {
          if (data.trigger_path !== undefined) paths.push(data.trigger_path);
        }
      }
    }
    expect(paths.length).toBeGreaterThan(1);
    expect(new Set(paths).size).toBe(paths.length);
  });

  it('take a number for an id, and are not found by others', async () => {
    const from = (templateId: unknown) =>
      call('POST', '/api/v1/workflow/templates/duplicate', {
        body: { template_id: templateId, workflow_name: 'x' },
      });
    expect((await from(1)).status).toBe(200);
    const { status, body } = await from(999);
    expect([status, body.detail]).toEqual([404, 'Workflow template with id 999 not found']);
  });
});
