// Folders on both engines. Source: contract §10.3.

import { describe, expect, it } from 'vitest';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import { engines } from '../databases.ts';
import { withStore } from '../engines.ts';

const codeFrom = (work: Promise<unknown>) => work.then(() => undefined, codeOf);

describe.each(engines())('folders on %s', (engine) => {
  const at = withStore(engine);
  const own = () => at.owner.organizationId;
  const stranger = async () => {
    const [row] = await at.sql(
      "insert into organizations (name, created_at) values ('Others', now()) returning id",
    );
    return String(row?.['id']);
  };

  it('are listed by name, of their organization alone', async () => {
    const { folders } = at.store;
    expect(await folders.list(own())).toEqual([]);
    const z = await folders.create(own(), 'z');
    const a = await folders.create(own(), 'a');
    expect(z).toEqual({ id: expect.any(String), name: 'z', createdAt: new Date(at.clock.now()) });
    expect(await folders.list(own())).toEqual([a, z]);
    expect(await folders.list(await stranger())).toEqual([]);
  });

  it('have names that occur once in an organization', async () => {
    const { folders } = at.store;
    const first = await folders.create(own(), 'Sales');
    const second = await folders.create(own(), 'Care');
    expect(await codeFrom(folders.create(own(), 'Sales'))).toBe('FOLDER_NAME_TAKEN');
    expect(await codeFrom(folders.rename(own(), second.id, 'Sales'))).toBe('FOLDER_NAME_TAKEN');
    expect(await folders.rename(own(), first.id, 'Sales')).toEqual(first);
    expect((await folders.create(await stranger(), 'Sales')).name).toBe('Sales');
  });

  it('cannot be renamed or deleted by another organization', async () => {
    const { folders } = at.store;
    const { id } = await folders.create(own(), 'Sales');
    const other = await stranger();
    expect(await folders.rename(other, id, 'x')).toBeUndefined();
    expect(await folders.delete(other, id)).toBe(false);
    expect(await folders.delete(own(), '0')).toBe(false);
    expect(await folders.delete(own(), id)).toBe(true);
    expect(await folders.delete(own(), id)).toBe(false);
  });

  it('hold no agent of another organization', async () => {
    const { folders, workflows } = at.store;
    const foreign = await folders.create(await stranger(), 'Theirs');
    const content = { definition: { nodes: [], edges: [] }, configurations: {} };
    const input = { name: 'a', triggerPaths: [], templateContextVariables: {}, ...content };
    const { workflow } = await workflows.create(at.owner, input);
    const moving = workflows.moveToFolder(own(), workflow.id, foreign.id);
    expect(await codeFrom(moving)).toBe('FOLDER_NOT_FOUND');
    const making = workflows.create(at.owner, { ...input, folderId: foreign.id });
    expect(await codeFrom(making)).toBe('FOLDER_NOT_FOUND');
  });

  it('are at most 500, with any number of concurrent requests', async () => {
    const { folders } = at.store;
    await at.sql(
      `insert into workflow_folders (organization_id, name, created_at)
       select $1, 'f' || n, now() from generate_series(1, 499) n`,
      [own()],
    );
    const made = ['x', 'y', 'z'].map((name) => codeFrom(folders.create(own(), name)));
    const codes = await Promise.all(made);
    expect(codes.filter((code) => code === 'FOLDERS_FULL')).toHaveLength(2);
    expect(await folders.list(own())).toHaveLength(500);
  });
});
