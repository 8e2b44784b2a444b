// Model configurations on both engines: sealed as a whole, read for calls, gone with their organization. Source:
// contract §10.4.

import { describe, expect, it } from 'vitest';
import { engines } from '../databases.ts';
import { withStore } from '../engines.ts';

const SECRET = 'the-key-of-the-service';

function configuration(model: string) {
  return {
    version: 2,
    byok: { pipeline: { llm: { provider: 'openai', model, api_key: SECRET } } },
  };
}

describe.each(engines())('model configurations on %s', (engine) => {
  const at = withStore(engine);
  const own = () => ({ organizationId: at.owner.organizationId, userId: null });
  const models = () => at.store.modelConfigurations;

  it('are there after they were saved, with the time when their keys were accepted', async () => {
    expect(await models().get(own())).toBeUndefined();
    expect(await models().sourceOf(at.owner.organizationId)).toBeUndefined();
    await models().save(own(), configuration('first'));
    expect(await models().get(own())).toEqual({
      configuration: configuration('first'),
      validatedAt: new Date(at.clock.now()),
    });
    expect(await models().sourceOf(at.owner.organizationId)).toBe('organization');
    at.clock.advance(60_000);
    await models().noteValidated(own());
    expect((await models().get(own()))?.validatedAt).toEqual(new Date(at.clock.now()));
  });

  it('are sealed in the database, each for its owner', async () => {
    await models().save(own(), configuration('first'));
    await models().save(at.owner, configuration('second'));
    expect(JSON.stringify(await at.sql('select * from model_configurations'))).not.toContain(
      SECRET,
    );
    await at.sql(`update model_configurations set sealed =
      (select sealed from model_configurations where user_id is null)`);
    await expect(models().get(at.owner)).rejects.toMatchObject({ code: 'SECRET_UNREADABLE' });
  });

  it('are of one organization alone', async () => {
    await models().save(own(), configuration('first'));
    const [row] = await at.sql(
      "insert into organizations (name, created_at) values ('Others', now()) returning id",
    );
    const stranger = String(row?.['id']);
    expect(await models().get({ organizationId: stranger, userId: null })).toBeUndefined();
    expect(await models().forCalls(stranger)).toBeUndefined();
    expect(await models().forCalls('no id')).toBeUndefined();
  });

  it("are for calls the organization's, else those that a user saved last", async () => {
    expect(await models().forCalls(at.owner.organizationId)).toBeUndefined();
    await models().save(at.owner, configuration('of the user'));
    expect(await models().forCalls(at.owner.organizationId)).toEqual({
      legacyUser: configuration('of the user'),
    });
    await models().save(own(), configuration('of all'));
    expect(await models().forCalls(at.owner.organizationId)).toEqual({
      organization: configuration('of all'),
    });
  });

  it('stay opened between calls until they change, also by another process', async () => {
    await models().save(own(), configuration('first'));
    const first = await models().forCalls(at.owner.organizationId);
    expect(await models().forCalls(at.owner.organizationId)).toEqual(first);
    // What is opened is not read again: this text would not open.
    await at.sql("update model_configurations set sealed = 'sealed:broken'");
    expect(await models().forCalls(at.owner.organizationId)).toEqual(first);
    await at.sql('update model_configurations set revision = gen_random_uuid()');
    await expect(models().forCalls(at.owner.organizationId)).rejects.toMatchObject({
      code: 'SECRET_UNREADABLE',
    });
    await models().save(own(), configuration('second'));
    expect(await models().forCalls(at.owner.organizationId)).toEqual({
      organization: configuration('second'),
    });
    await at.sql('delete from model_configurations');
    expect(await models().forCalls(at.owner.organizationId)).toBeUndefined();
  });

  it('are those that were saved last, also within a millisecond', async () => {
    const { organizationId } = at.owner;
    const [other] = await at.sql(
      "insert into users (organization_id, name, created_at) values ($1, 'u', now()) returning id::text",
      [organizationId],
    );
    await models().save(at.owner, configuration('first'));
    await models().save({ organizationId, userId: String(other?.['id']) }, configuration('second'));
    await models().save(at.owner, configuration('third'));
    const legacyUser = configuration('third');
    expect(await models().forCalls(organizationId)).toEqual({ legacyUser });
  });

  // Two clients that changed a section each at the same moment read the same configuration, and one change was lost.
  it.each([
    { whose: 'the organization', isOfAll: true },
    { whose: 'single users', isOfAll: false },
  ])('of $whose keep each change of clients that change them at once', async ({ isOfAll }) => {
    const { organizationId } = at.owner;
    const others = await at.sql(
      `insert into users (organization_id, name, created_at)
       select $1, 'u', now() from generate_series(1, 3) returning id::text`,
      [organizationId],
    );
    const users = [at.owner.userId, ...others.map(({ id }) => String(id))];
    if (isOfAll) await models().save(own(), {});
    // From the newest user to the oldest: the time alone says who was last.
    const changes = users.toReversed().map((userId, nth) =>
      models().change(organizationId, async (used) => ({
        owner: isOfAll ? own() : { organizationId, userId },
        configuration: { ...Object.values(used ?? {})[0], [nth]: userId },
      })),
    );
    await Promise.all(changes);
    const configuration = { ...users.toReversed() };
    expect(await models().forCalls(organizationId)).toEqual(
      isOfAll ? { organization: configuration } : { legacyUser: configuration },
    );
  });

  // Each that another one had overtaken began anew, ten times at most: of more than ten at once some failed.
  it('of an organization take fifty changes at once, one after the other', async () => {
    const { organizationId } = at.owner;
    let underWay = 0;
    const changes = Array.from({ length: 50 }, (_, nth) =>
      models().change(organizationId, async (used) => {
        underWay += 1;
        expect(underWay).toBe(1);
        await new Promise((resolve) => setImmediate(resolve));
        underWay -= 1;
        return { owner: own(), configuration: { ...Object.values(used ?? {})[0], [nth]: true } };
      }),
    );
    await Promise.all(changes);
    expect(Object.keys((await models().get(own()))?.configuration ?? {})).toHaveLength(50);
  });

  it('of an organization are refused where a hundred changes wait, and no others are', async () => {
    const { organizationId } = at.owner;
    const [row] = await at.sql(
      "insert into organizations (name, created_at) values ('Others', now()) returning id::text",
    );
    const other = String(row?.['id']);
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const change = () =>
      models().change(organizationId, async () => {
        await released;
        return { owner: own(), configuration: {} };
      });
    const changes = Array.from({ length: 101 }, change);
    await expect(change()).rejects.toMatchObject({ code: 'QUEUE_FULL' });
    const theirs = { owner: { organizationId: other, userId: null }, configuration: { a: 1 } };
    await models().change(other, () => Promise.resolve(theirs));
    release();
    await Promise.all(changes);
    await change();
  });

  it('are changed once more where they are replaced meanwhile, and not for ever', async () => {
    const { organizationId } = at.owner;
    const seen: unknown[] = [];
    const change = (others: number) =>
      models().change(organizationId, async (used) => {
        seen.push(used);
        if (seen.length <= others) await models().save(own(), { by: seen.length });
        return { owner: own(), configuration: { ...Object.values(used ?? {})[0], own: true } };
      });
    await change(2);
    expect(seen).toEqual([undefined, { organization: { by: 1 } }, { organization: { by: 2 } }]);
    expect((await models().get(own()))?.configuration).toEqual({ by: 2, own: true });
    await expect(change(100)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect((await models().get(own()))?.configuration).not.toHaveProperty('own');
  });

  it('go with their organization', async () => {
    await models().save(own(), configuration('first'));
    await models().save(at.owner, configuration('second'));
    await at.sql('delete from organizations');
    expect(await at.sql('select 1 from model_configurations')).toEqual([]);
  });
});
