// Credentials on both engines: sealed, unique by name, gone when deleted. Source: contract §10.2.

import { describe, expect, it } from 'vitest';
import type { NewCredential } from '../../../src/store/library/credentials.ts';
import { engines } from '../databases.ts';
import { withStore } from '../engines.ts';

const SECRET = 'the-token-of-the-credential';
const crm: NewCredential = {
  name: 'CRM',
  description: 'Reads customers.',
  type: 'bearer_token',
  data: { token: SECRET },
};

describe.each(engines())('credentials on %s', (engine) => {
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

  it('are listed without their secret, and opened with it', async () => {
    const made = await at.store.credentials.create(at.owner, crm);
    expect(made).toEqual({
      id: expect.stringMatching(/^\d+$/),
      uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      organizationId: organization(),
      name: 'CRM',
      description: 'Reads customers.',
      type: 'bearer_token',
      createdAt: new Date(at.clock.now()),
      updatedAt: null,
    });
    expect(await at.store.credentials.get(organization(), made.uuid)).toEqual(made);
    expect(await at.store.credentials.open(organization(), made.uuid)).toEqual({
      type: 'bearer_token',
      data: { token: SECRET },
    });
  });

  it('are sealed in the database, each for itself', async () => {
    const { uuid } = await at.store.credentials.create(at.owner, crm);
    const other = await at.store.credentials.create(at.owner, { ...crm, name: 'Other' });
    const rows = await at.sql('select * from credentials');
    expect(JSON.stringify(rows)).not.toContain(SECRET);
    await at.sql(
      'update credentials set secret = (select secret from credentials where uuid = $1) where uuid = $2',
      [uuid, other.uuid],
    );
    await expect(at.store.credentials.open(organization(), other.uuid)).rejects.toMatchObject({
      code: 'SECRET_UNREADABLE',
    });
  });

  it('are listed by name', async () => {
    for (const name of ['b', 'a', 'c']) {
      await at.store.credentials.create(at.owner, { ...crm, name });
    }
    const all = await at.store.credentials.list(organization());
    expect(all.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
  });

  it('have one name each in an organization, until one is deleted', async () => {
    const { credentials } = at.store;
    const first = await credentials.create(at.owner, crm);
    const taken = { code: 'CREDENTIAL_NAME_TAKEN' };
    await expect(credentials.create(at.owner, crm)).rejects.toMatchObject(taken);
    await credentials.create(await stranger(), crm);
    const second = await credentials.create(at.owner, { ...crm, name: 'Second' });
    const rename = credentials.update(organization(), second.uuid, { name: 'CRM' });
    await expect(rename).rejects.toMatchObject(taken);
    expect(await credentials.remove(organization(), first.uuid)).toBe(true);
    expect(await credentials.update(organization(), second.uuid, { name: 'CRM' })).toBeDefined();
  });

  it('change by what is given', async () => {
    const { credentials } = at.store;
    const made = await credentials.create(at.owner, crm);
    at.clock.advance(1_000);
    const updatedAt = new Date(at.clock.now());
    expect(await credentials.update(organization(), made.uuid, { description: null })).toEqual({
      ...made,
      description: null,
      updatedAt,
    });
    expect((await credentials.open(organization(), made.uuid))?.data).toEqual({ token: SECRET });
    const secret = { type: 'api_key', data: { header_name: 'X-Key', api_key: 'k' } } as const;
    await credentials.update(organization(), made.uuid, { secret });
    expect(await credentials.open(organization(), made.uuid)).toEqual(secret);
  });

  it('that are deleted are not found, and their secret is not stored', async () => {
    const { credentials } = at.store;
    const { uuid } = await credentials.create(at.owner, crm);
    expect(await credentials.remove(organization(), uuid)).toBe(true);
    expect(await credentials.remove(organization(), uuid)).toBe(false);
    expect(await credentials.get(organization(), uuid)).toBeUndefined();
    expect(await credentials.open(organization(), uuid)).toBeUndefined();
    expect(await credentials.update(organization(), uuid, { name: 'x' })).toBeUndefined();
    expect(await credentials.list(organization())).toEqual([]);
    expect(await at.sql('select secret from credentials')).toEqual([{ secret: null }]);
  });

  it('of others are not there, nor are ids that are none', async () => {
    const { credentials } = at.store;
    const { uuid } = await credentials.create(at.owner, crm);
    const { organizationId } = await stranger();
    for (const [owner, id] of [
      [organizationId, uuid],
      ['x', uuid],
      [organization(), 'x\0'],
    ] as const) {
      expect(await credentials.get(owner, id)).toBeUndefined();
      expect(await credentials.open(owner, id)).toBeUndefined();
      expect(await credentials.update(owner, id, { name: 'x' })).toBeUndefined();
      expect(await credentials.remove(owner, id)).toBe(false);
    }
    expect(await credentials.list('x')).toEqual([]);
  });
});
