// Tools on both engines. Source: contract §10.1.

import { describe, expect, it } from 'vitest';
import type { NewTool } from '../../../src/store/library/tools.ts';
import { engines } from '../databases.ts';
import { withStore } from '../engines.ts';

const ALL = { statuses: ['active', 'archived', 'draft'], category: null } as const;

function tool(name: string, more: Partial<NewTool> = {}): NewTool {
  return {
    name,
    description: null,
    category: 'calculator',
    icon: 'globe',
    iconColor: '#3B82F6',
    definition: { schema_version: 1, type: 'calculator' },
    ...more,
  };
}

describe.each(engines())('tools on %s', (engine) => {
  const at = withStore(engine);
  const organization = () => at.owner.organizationId;

  it('are kept with everything that was said of them', async () => {
    const made = await at.store.tools.create(at.owner, tool('Sums', { description: 'Adds.' }));
    expect(made).toEqual({
      ...tool('Sums', { description: 'Adds.' }),
      id: expect.stringMatching(/^\d+$/),
      uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      organizationId: organization(),
      userId: at.owner.userId,
      status: 'active',
      createdAt: new Date(at.clock.now()),
      updatedAt: null,
    });
    expect(await at.store.tools.get(organization(), made.uuid)).toEqual(made);
  });

  it('are listed by name, by status and by category', async () => {
    const { tools } = at.store;
    const b = await tools.create(at.owner, tool('b'));
    await tools.create(at.owner, tool('a', { category: 'end_call' }));
    await tools.update(organization(), b.uuid, { status: 'archived' });
    const names = async (filter: Parameters<typeof tools.list>[1]) =>
      (await tools.list(organization(), filter)).map(({ name }) => name);
    expect(await names(ALL)).toEqual(['a', 'b']);
    expect(await names({ ...ALL, statuses: ['active', 'draft'] })).toEqual(['a']);
    expect(await names({ ...ALL, category: 'calculator' })).toEqual(['b']);
    expect(await names({ ...ALL, statuses: [] })).toEqual([]);
  });

  it('are found many at a time, whatever their status', async () => {
    const { tools } = at.store;
    const a = await tools.create(at.owner, tool('a'));
    const b = await tools.create(at.owner, tool('b'));
    await tools.update(organization(), b.uuid, { status: 'archived' });
    const found = await tools.find(organization(), [a.uuid, b.uuid, 'none']);
    expect(found.map(({ name }) => name).sort()).toEqual(['a', 'b']);
    expect(await tools.find(organization(), [])).toEqual([]);
  });

  it('change by what is given', async () => {
    const { tools } = at.store;
    const made = await tools.create(at.owner, tool('a'));
    at.clock.advance(1_000);
    const patch = { name: 'A', icon: null, definition: { type: 'calculator', n: 1 } };
    expect(await tools.update(organization(), made.uuid, patch)).toEqual({
      ...made,
      ...patch,
      updatedAt: new Date(at.clock.now()),
    });
  });

  it('have the values of their headers sealed, and nothing of them in clear', async () => {
    const { tools } = at.store;
    const definition = (secret: string) => ({
      type: 'transfer_call',
      config: {
        headers: { 'X-Key': `${secret} of the tool` },
        resolver: { url: 'https://a.example', headers: { 'X-Key': `${secret} of the resolver` } },
      },
    });
    const made = await tools.create(at.owner, tool('a', { definition: definition('first') }));
    expect(made.definition).toEqual(definition('first'));
    const again = await tools.update(organization(), made.uuid, {
      definition: definition('second'),
    });
    expect(again?.definition).toEqual(definition('second'));
    expect(await tools.find(organization(), [made.uuid])).toEqual([again]);
    expect((await tools.update(organization(), made.uuid, { name: 'b' }))?.definition).toEqual(
      definition('second'),
    );
    const [row] = await at.sql('select * from tools');
    expect(JSON.stringify(row)).not.toMatch(/of the (tool|resolver)/);
    await tools.update(organization(), made.uuid, { definition: { type: 'transfer_call' } });
    expect((await at.sql('select sealed_headers from tools'))[0]).toEqual({ sealed_headers: null });
  });

  it('of others are not there', async () => {
    const { tools } = at.store;
    const { uuid } = await tools.create(at.owner, tool('a'));
    for (const other of ['999999', 'x']) {
      expect(await tools.get(other, uuid)).toBeUndefined();
      expect(await tools.update(other, uuid, { name: 'b' })).toBeUndefined();
      expect(await tools.list(other, ALL)).toEqual([]);
    }
    expect(await tools.get(organization(), 'x\0')).toBeUndefined();
  });
});
