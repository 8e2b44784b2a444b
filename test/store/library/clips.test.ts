// The library of clips on both engines. Source: contract §10.3.

import { describe, expect, it } from 'vitest';
import type { NewClip } from '../../../src/store/library/clips.ts';
import { engines } from '../databases.ts';
import { withStore } from '../engines.ts';

const PAGE = { limit: 10, offset: 0 };

function clip(name: string, more: Partial<NewClip> = {}): NewClip {
  return {
    name,
    transcript: `This is ${name}.`,
    storageKey: `recordings/1/${name}/a.wav`,
    workflowId: null,
    ttsProvider: null,
    ttsModel: null,
    ttsVoiceId: null,
    metadata: {},
    ...more,
  };
}

describe.each(engines())('clips on %s', (engine) => {
  const at = withStore(engine);
  const organization = () => at.owner.organizationId;

  async function stranger(): Promise<{ organizationId: string; userId: string }> {
    const [row] = await at.sql(
      "insert into organizations (name, created_at) values ('Others', now()) returning id",
    );
    const organizationId = String(row?.['id']);
    const [user] = await at.sql(
      "insert into users (organization_id, name, created_at) values ($1, 'Other', now()) returning id",
      [organizationId],
    );
    return { organizationId, userId: String(user?.['id']) };
  }

  async function workflow(owner = at.owner): Promise<string> {
    const { workflow: made } = await at.store.workflows.create(owner, {
      name: 'agent',
      definition: { nodes: [], edges: [] },
      configurations: {},
      templateContextVariables: {},
      triggerPaths: [],
    });
    return made.id;
  }

  it('are kept with everything that was said of them', async () => {
    const more = { ttsProvider: 'p', ttsModel: 'm', ttsVoiceId: 'v', metadata: { a: [1] } };
    const [made] = await at.store.clips.create(at.owner, [clip('hello', more)]);
    expect(made).toEqual({
      ...clip('hello', more),
      id: expect.stringMatching(/^\d+$/),
      organizationId: organization(),
      userId: at.owner.userId,
      isActive: true,
      createdAt: new Date(at.clock.now()),
    });
    const { clips, total } = await at.store.clips.list(organization(), {}, PAGE);
    expect([clips, total]).toEqual([[made], 1]);
  });

  it('are listed newest first, in pages, by what is asked for', async () => {
    const { clips } = at.store;
    const workflowId = await workflow();
    await clips.create(at.owner, [clip('a', { ttsProvider: 'p' }), clip('b', { workflowId })]);
    at.clock.advance(1_000);
    await clips.create(at.owner, [clip('c', { ttsProvider: 'p', ttsVoiceId: 'v', ttsModel: 'm' })]);
    const names = async (filter: object, page = PAGE) => {
      const found = await clips.list(organization(), filter, page);
      return [found.clips.map(({ name }) => name), found.total];
    };
    expect(await names({})).toEqual([['c', 'b', 'a'], 3]);
    expect(await names({}, { limit: 1, offset: 1 })).toEqual([['b'], 3]);
    expect(await names({ ttsProvider: 'p' })).toEqual([['c', 'a'], 2]);
    expect(await names({ ttsProvider: 'p', ttsModel: 'm', ttsVoiceId: 'v' })).toEqual([['c'], 1]);
    expect(await names({ workflowId })).toEqual([['c', 'b', 'a'], 3]);
    expect(await names({ workflowId: await workflow() })).toEqual([['c', 'a'], 2]);
    expect(await names({ workflowId: 'x' })).toEqual([[], 0]);
  });

  it('have a name of their own; a batch with one that is taken makes none', async () => {
    const { clips } = at.store;
    await clips.create(at.owner, [clip('a')]);
    for (const batch of [
      [clip('b'), clip('a')],
      [clip('b'), clip('b')],
    ]) {
      await expect(clips.create(at.owner, batch)).rejects.toMatchObject({
        code: 'CLIP_NAME_TAKEN',
      });
    }
    expect((await clips.list(organization(), {}, PAGE)).total).toBe(1);
    await clips.create(await stranger(), [clip('a')]);
  });

  it('of one agent name an agent of the organization', async () => {
    const foreign = await workflow(await stranger());
    for (const workflowId of [foreign, '999999', 'x']) {
      await expect(
        at.store.clips.create(at.owner, [clip('a', { workflowId })]),
      ).rejects.toMatchObject({ code: 'WORKFLOW_NOT_FOUND' });
    }
  });

  it('are found by id and by name, by those of the organization', async () => {
    const { clips } = at.store;
    const [a, b] = await clips.create(at.owner, [clip('a'), clip('b'), clip('c')]);
    const refs = [
      { by: 'id', value: a?.id ?? '' },
      { by: 'name', value: 'b' },
      { by: 'name', value: a?.id ?? '' },
      { by: 'id', value: 'no id' },
    ] as const;
    const found = await clips.find(organization(), refs);
    expect(found.map(({ name }) => name).sort()).toEqual(['a', 'b']);
    expect(await clips.find((await stranger()).organizationId, refs)).toEqual([]);
    expect(await clips.find(organization(), [])).toEqual([]);
    expect(await clips.find(organization(), [{ by: 'name', value: 'a\0' }])).toHaveLength(1);
    expect(b?.name).toBe('b');
  });

  it('can be renamed to a name that is free', async () => {
    const { clips } = at.store;
    const [a] = await clips.create(at.owner, [clip('a'), clip('b')]);
    const id = a?.id ?? '';
    expect(await clips.rename(organization(), id, 'z')).toEqual({ ...a, name: 'z' });
    await expect(clips.rename(organization(), id, 'b')).rejects.toMatchObject({
      code: 'CLIP_NAME_TAKEN',
    });
    expect(await clips.rename((await stranger()).organizationId, id, 'x')).toBeUndefined();
    expect(await clips.rename(organization(), 'x', 'x')).toBeUndefined();
  });

  it('that are deleted are not found, and free their name', async () => {
    const { clips } = at.store;
    const [a] = await clips.create(at.owner, [clip('a')]);
    expect(await clips.remove((await stranger()).organizationId, 'a')).toBe(false);
    expect(await clips.remove(organization(), 'a')).toBe(true);
    expect(await clips.remove(organization(), 'a')).toBe(false);
    expect(await clips.rename(organization(), a?.id ?? '', 'b')).toBeUndefined();
    expect(await clips.find(organization(), [{ by: 'id', value: a?.id ?? '' }])).toEqual([]);
    expect((await clips.list(organization(), {}, PAGE)).total).toBe(0);
    await clips.create(at.owner, [clip('a')]);
  });
});
