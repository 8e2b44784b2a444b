// Users on both engines. Source: contract §3.2 and §3.3.

import { describe, expect, it } from 'vitest';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import { engines } from '../databases.ts';
import { withStore } from '../engines.ts';

const logIn = (email = 'Ada@Example.com') => ({ email, passwordHash: 'hash' });
const codeFrom = (work: Promise<unknown>) => work.then(() => undefined, codeOf);

describe.each(engines())('users on %s', (engine) => {
  const at = withStore(engine);

  it('who sign up get an organization of their own', async () => {
    const { users, organizations } = at.store;
    const user = await users.signUp(logIn(), 'Ada');
    expect(user).toMatchObject({ name: 'Ada', email: 'ada@example.com' });
    expect(user.organizationId).not.toBe(at.owner.organizationId);
    expect(await organizations.preferences(user.organizationId)).toBeDefined();
    expect(await users.get(user.id)).toEqual(user);
    expect((await users.signUp(logIn('b@example.com'), null)).name).toBeNull();
  });

  it('have one email each, upper and lower case alike; a refusal leaves nothing behind', async () => {
    const { users } = at.store;
    await users.signUp(logIn(), null);
    expect(await codeFrom(users.signUp(logIn('ADA@example.COM'), null))).toBe('EMAIL_TAKEN');
    expect(await codeFrom(users.giveLogIn(at.owner.userId, logIn()))).toBe('EMAIL_TAKEN');
    expect(await at.sql('select count(*)::int as n from organizations')).toEqual([{ n: 2 }]);
  });

  it('of many who sign up with one email at once, one does', async () => {
    const all = await Promise.all(
      [1, 2, 3, 4].map(() => codeFrom(at.store.users.signUp(logIn(), null))),
    );
    expect(all.filter((code) => code === undefined)).toHaveLength(1);
    expect(all.filter((code) => code === 'EMAIL_TAKEN')).toHaveLength(3);
  });

  it('are found by email, with their hash', async () => {
    const { users } = at.store;
    const user = await users.signUp(logIn(), null);
    expect(await users.findLogIn(' aDa@example.com')).toEqual({ user, passwordHash: 'hash' });
    for (const none of ['', 'b@example.com', '\0', 'ada']) {
      expect(await users.findLogIn(none)).toBeUndefined();
    }
  });

  it('who only have keys can get a log-in, once', async () => {
    const { users } = at.store;
    const { userId, organizationId } = at.owner;
    expect(await users.get(userId)).toMatchObject({ email: null, name: 'First user' });
    const given = await users.giveLogIn(userId, logIn());
    expect(given).toMatchObject({ id: userId, organizationId, email: 'ada@example.com' });
    expect(await users.giveLogIn(userId, logIn('b@example.com'))).toBeUndefined();
    expect(await users.findLogIn('b@example.com')).toBeUndefined();
  });

  it('that do not exist are not found', async () => {
    const { users } = at.store;
    for (const id of ['999999', 'abc', '']) {
      expect(await users.get(id)).toBeUndefined();
      expect(await users.giveLogIn(id, logIn())).toBeUndefined();
      expect(await users.onboarding(id)).toEqual({});
      expect(await users.setOnboarding(id, { a: 1 })).toEqual({});
    }
  });

  it('keep what the user interface notes about them, key by key', async () => {
    const { users } = at.store;
    const { userId } = at.owner;
    expect(await users.onboarding(userId)).toEqual({});
    await users.setOnboarding(userId, { skipped: true, seen: ['a\0b'] });
    expect(await users.setOnboarding(userId, { seen: ['c'] })).toEqual({
      skipped: true,
      seen: ['c'],
    });
    expect(await users.onboarding(userId)).toEqual({ skipped: true, seen: ['c'] });
  });
});
