// Accounts on both engines. Source: contract §3.2 and §3.4.

import { describe, expect, it, vi } from 'vitest';
import { engines } from '../databases.ts';
import { withStore } from '../engines.ts';

describe.each(engines())('accounts on %s', (engine) => {
  const at = withStore(engine);

  it('makes one organization, user and key on an empty database, and never again', async () => {
    expect(at.apiKey).toMatch(/^pbk_[A-Za-z0-9_-]{43}$/);
    expect(await at.store.accounts.ensureFirst()).toBeUndefined();
    expect(await at.sql('select count(*)::int as n from users')).toEqual([{ n: 1 }]);
  });

  it('makes one organization when several nodes start at once', async () => {
    await at.sql('delete from organizations');
    const made = await Promise.all([1, 2, 3, 4].map(() => at.store.accounts.ensureFirst()));
    expect(made.filter((each) => each !== undefined)).toHaveLength(1);
    expect(await at.sql('select count(*)::int as n from organizations')).toEqual([{ n: 1 }]);
  });

  it('stores the hash and the first eight characters of a key, not the key', async () => {
    const { record, apiKey } = await at.store.accounts.createApiKey(at.owner, 'ci');
    expect(record).toMatchObject({ name: 'ci', prefix: apiKey.slice(0, 8), isActive: true });
    const [row] = await at.sql('select api_keys::text as text from api_keys where name = $1', [
      'ci',
    ]);
    expect(row?.['text']).not.toContain(apiKey.slice(8));
  });

  it('finds the owner of a key', async () => {
    const { record, apiKey } = await at.store.accounts.createApiKey(at.owner, 'ci');
    expect(await at.store.accounts.authenticate(apiKey)).toEqual({
      ...at.owner,
      apiKeyId: record.id,
    });
  });

  it.each(['', 'pbk_', 'pbk_unknown', 'x'.repeat(10_000), '\0'])(
    'refuses the key %j',
    async (key) => {
      expect(await at.store.accounts.authenticate(key)).toBeUndefined();
    },
  );

  it('refuses an archived key at once, and takes it again when reactivated', async () => {
    const { accounts } = at.store;
    const { record, apiKey } = await accounts.createApiKey(at.owner, 'ci');
    expect(await accounts.authenticate(apiKey)).toBeDefined();
    expect(await accounts.archiveApiKey(at.owner.organizationId, record.id)).toBe(true);
    expect(await accounts.authenticate(apiKey)).toBeUndefined();
    expect(await accounts.listApiKeys(at.owner.organizationId, false)).toHaveLength(1);
    expect(await accounts.listApiKeys(at.owner.organizationId, true)).toHaveLength(2);
    expect(await accounts.reactivateApiKey(at.owner.organizationId, record.id)).toBe(true);
    expect(await accounts.authenticate(apiKey)).toBeDefined();
  });

  it('reads a key once a second, and refuses soon what another process has archived', async () => {
    const { accounts } = at.store;
    const { record, apiKey } = await accounts.createApiKey(at.owner, 'ci');
    expect(await accounts.authenticate(apiKey)).toBeDefined();
    await at.sql('update api_keys set is_active = false where id = $1', [record.id]);
    await vi.waitFor(async () => expect(await accounts.authenticate(apiKey)).toBeUndefined());
  });

  it('writes the time of use at most once a minute', async () => {
    const { accounts } = at.store;
    const { record, apiKey } = await accounts.createApiKey(at.owner, 'ci');
    const used = async (): Promise<Date | null | undefined> =>
      (await accounts.listApiKeys(at.owner.organizationId, true)).find(({ id }) => id === record.id)
        ?.lastUsedAt;
    const first = new Date(at.clock.now());
    await accounts.authenticate(apiKey);
    at.clock.advance(59_000);
    await accounts.authenticate(apiKey);
    expect(await used()).toEqual(first);
    at.clock.advance(2_000);
    await accounts.authenticate(apiKey);
    expect(await used()).toEqual(new Date(first.getTime() + 61_000));
  });

  it("does not touch another organization's key", async () => {
    const { accounts } = at.store;
    const { record } = await accounts.createApiKey(at.owner, 'ci');
    expect(await accounts.archiveApiKey('999999', record.id)).toBe(false);
    expect(await accounts.archiveApiKey(at.owner.organizationId, 'abc')).toBe(false);
    expect(await accounts.reactivateApiKey(at.owner.organizationId, '999999')).toBe(false);
    expect(await accounts.listApiKeys('999999', true)).toEqual([]);
  });

  it('allows ten calls at once unless the organization says otherwise', async () => {
    const { accounts } = at.store;
    expect(await accounts.concurrentCallLimit(at.owner.organizationId)).toBe(10);
    expect(await accounts.concurrentCallLimit('999999')).toBe(0);
  });
});
