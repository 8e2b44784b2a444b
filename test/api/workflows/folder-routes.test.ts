// Folders of agents over HTTP. Source: contract §5.1, §10.3.

import { describe, expect, it } from 'vitest';
import { smallWorkflow, withApi } from '../served.ts';

const served = withApi();
const { call, ok } = served;
const agent = () =>
  ok('POST', '/workflow/create/definition', { name: 'agent', workflow_definition: smallWorkflow });
const refusal = async (...request: Parameters<typeof call>) => {
  const [method, path, options] = request;
  const { status, body } = await call(method, `/api/v1${path}`, options);
  return [status, body.detail];
};

describe('folders', () => {
  it('are made, listed by name, renamed and deleted', async () => {
    const made = await ok('POST', '/folder/', { name: 'Sales' });
    expect(made).toEqual({
      id: expect.stringMatching(/^\d+$/),
      name: 'Sales',
      created_at: expect.stringMatching(/Z$/),
    });
    const care = await ok('POST', '/folder', { name: 'Care' });
    expect(await ok('GET', '/folder/')).toEqual([care, made]);
    const renamed = await ok('PUT', `/folder/${made.id}`, { name: 'Best sales' });
    expect(renamed).toEqual({ ...made, name: 'Best sales' });
    expect(await ok('DELETE', `/folder/${made.id}`)).toEqual({ success: true });
    expect(await ok('GET', '/folder')).toEqual([care]);
  });

  it('conflict where the name is taken', async () => {
    const first = await ok('POST', '/folder/', { name: 'Sales' });
    const second = await ok('POST', '/folder/', { name: 'Care' });
    const taken = [409, "A folder named 'Sales' already exists in this organization"];
    const body = { name: first.name };
    expect(await refusal('POST', '/folder/', { body })).toEqual(taken);
    expect(await refusal('PUT', `/folder/${second.id}`, { body })).toEqual(taken);
  });

  it('of another organization are not found', async () => {
    const { id } = await ok('POST', '/folder/', { name: 'Sales' });
    const { apiKey: key } = await served.stranger();
    const missing = [404, 'Folder not found'];
    expect(await refusal('PUT', `/folder/${id}`, { key, body: { name: 'x' } })).toEqual(missing);
    expect(await refusal('DELETE', `/folder/${id}`, { key })).toEqual(missing);
    expect((await call('GET', '/api/v1/folder/', { key })).body).toEqual([]);
  });

  it('hold agents, which lose their folder when it is deleted', async () => {
    const { id, name, status, created_at, workflow_uuid } = await agent();
    const folder = await ok('POST', '/folder/', { name: 'Sales' });
    const shown = { id, name, status, created_at, workflow_uuid };
    const item = { ...shown, total_runs: 0, published_version: 1, has_draft: false };
    const filed = await ok('PUT', `/workflow/${id}/folder`, { folder_id: Number(folder.id) });
    expect(filed).toEqual({ ...item, folder_id: folder.id });
    expect(await ok('GET', '/workflow/fetch')).toEqual([filed]);
    expect(await ok('PUT', `/workflow/${id}/folder`, { folder_id: null })).toEqual({
      ...item,
      folder_id: null,
    });
    await ok('PUT', `/workflow/${id}/folder`, { folder_id: folder.id });
    await ok('DELETE', `/folder/${folder.id}`);
    expect(await ok('GET', '/workflow/fetch')).toEqual([{ ...item, folder_id: null }]);
  });

  it('are named by their ids: anything else is 422 in a body and 404 in a path', async () => {
    const { id } = await agent();
    const body = { folder_id: 'x' };
    const [status, detail] = await refusal('PUT', `/workflow/${id}/folder`, { body });
    expect([status, detail[0].type, detail[0].loc]).toEqual([
      422,
      'int_parsing',
      ['body', 'folder_id'],
    ]);
    for (const method of ['PUT', 'DELETE'] as const) {
      const options = method === 'PUT' ? { body: { name: 'y' } } : {};
      expect(await refusal(method, '/folder/x', options)).toEqual([404, 'Folder not found']);
      expect(await refusal(method, '/folder/999999', options)).toEqual([404, 'Folder not found']);
    }
  });

  it('take no agent of another organization, and are no place for one', async () => {
    const { id } = await agent();
    const folder = await ok('POST', '/folder/', { name: 'Sales' });
    const { apiKey: key } = await served.stranger();
    const body = { folder_id: folder.id };
    expect(await refusal('PUT', `/workflow/${id}/folder`, { key, body })).toEqual([
      404,
      `Workflow with id ${id} not found`,
    ]);
    const theirs = await call('POST', '/api/v1/folder/', { key, body: { name: 'Theirs' } });
    for (const folderId of [theirs.body.id, '999999', '0']) {
      expect(
        await refusal('PUT', `/workflow/${id}/folder`, { body: { folder_id: folderId } }),
      ).toEqual([404, 'Folder not found']);
    }
  });
});
