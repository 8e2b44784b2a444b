// Webhooks on their way, on both engines. Source: contract §8.10, appendix B.

import { describe, expect, it } from 'vitest';
import type { Delivery } from '../../../src/store/deliveries/webhook-deliveries.ts';
import { engines } from '../databases.ts';
import { withStore } from '../engines.ts';
import { completedRun, ground, otherOrganization, webhook } from '../runs/completed-runs.ts';

const CLAIM = { limit: 10, except: [], leaseMs: 60_000, attemptsMax: 5 };
const PAGE = { limit: 50, offset: 0 };
const FAILED = {
  state: 'pending',
  retryMs: 30_000,
  responseStatus: 503,
  responseExcerpt: 'busy',
  error: 'HTTP 503',
} as const;
const DELIVERED = { state: 'delivered', responseStatus: 200, responseExcerpt: 'ok' } as const;

describe.each(engines())('deliveries on %s', (engine) => {
  const at = withStore(engine);

  async function made(more = {}): Promise<string> {
    const run = await completedRun(at, await ground(at));
    await at.store.afterworks.finish(run.id, [webhook(more)]);
    const { deliveries } = await at.store.deliveries.list(at.owner.organizationId, PAGE);
    return deliveries[0]?.id ?? '';
  }

  function stored(id: string): Promise<Delivery | undefined> {
    return at.store.deliveries.get(at.owner.organizationId, id);
  }

  // A count of all of them took seconds for an organization with millions.
  it('are counted up to ten thousand behind the begin of their page, so that all pages are found', async () => {
    await made();
    await at.sql(
      `insert into deliveries (organization_id, workflow_id, run_id, node_id, node_name, method, url,
         headers, state, created_at)
       select organization_id, workflow_id, run_id, node_id || nth, node_name, method, url,
         headers, 'delivered', created_at
       from deliveries, generate_series(1, 10059) as nth`,
    );
    const total = async (more: object) =>
      (await at.store.deliveries.list(at.owner.organizationId, { ...PAGE, ...more })).total;
    expect(await total({})).toBe(10_000);
    expect(await total({ offset: 50 })).toBe(10_050);
    expect(await total({ offset: 100 })).toBe(10_060);
    expect(await total({ offset: 20_000 })).toBe(10_060);
    expect(await total({ state: 'delivered' })).toBe(10_000);
    expect(await total({ state: 'delivered', offset: 100 })).toBe(10_059);
    expect(await total({ state: 'pending' })).toBe(1);
    const { deliveries } = await at.store.deliveries.list(at.owner.organizationId, {
      limit: 50,
      offset: 10_050,
    });
    expect(deliveries).toHaveLength(10);
  });

  it('are taken up once while the lease lasts', async () => {
    const id = await made();
    const [claimed, again] = await Promise.all([
      at.store.deliveries.claim(CLAIM),
      at.store.deliveries.claim(CLAIM),
    ]);
    expect([...claimed, ...again]).toMatchObject([
      { id, state: 'sending', attempts: 1, claims: 1, isFollowed: false },
    ]);
    expect(await at.store.deliveries.oldestWaiting()).toEqual(new Date(at.clock.now()));
  });

  it('are taken up one of each organization, which says whether another is due', async () => {
    await made();
    await made();
    expect(await at.store.deliveries.claim(CLAIM)).toMatchObject([{ isFollowed: true }]);
    expect(await at.store.deliveries.claim(CLAIM)).toMatchObject([{ isFollowed: false }]);
  });

  it('are over when they are delivered', async () => {
    const id = await made();
    await at.store.deliveries.claim(CLAIM);
    await at.store.deliveries.report(id, 1, DELIVERED);
    expect(await stored(id)).toMatchObject({
      state: 'delivered',
      dueAt: null,
      responseStatus: 200,
      responseExcerpt: 'ok',
      error: null,
      finishedAt: new Date(at.clock.now()),
    });
    at.clock.advance(1_000_000);
    expect(await at.store.deliveries.claim(CLAIM)).toEqual([]);
    expect(await at.store.deliveries.oldestWaiting()).toBeUndefined();
  });

  it('wait for their time after a failure', async () => {
    const id = await made();
    await at.store.deliveries.claim(CLAIM);
    await at.store.deliveries.report(id, 1, FAILED);
    at.clock.advance(29_999);
    expect(await at.store.deliveries.claim(CLAIM)).toEqual([]);
    at.clock.advance(1);
    expect(await at.store.deliveries.claim(CLAIM)).toMatchObject([{ id, attempts: 2 }]);
  });

  it('whose process was killed come back after the lease; the attempt has counted', async () => {
    const id = await made();
    await at.store.deliveries.claim(CLAIM);
    at.clock.advance(60_000);
    expect(await at.store.deliveries.claim(CLAIM)).toMatchObject([{ id, attempts: 2, claims: 2 }]);
  });

  it('whose last attempt was interrupted become dead letters', async () => {
    const id = await made();
    for (let attempt = 1; attempt <= 5; attempt++) {
      expect(await at.store.deliveries.claim(CLAIM)).toMatchObject([{ attempts: attempt }]);
      at.clock.advance(60_000);
    }
    const [over] = await at.store.deliveries.claim(CLAIM);
    expect(over).toMatchObject({ state: 'dead_letter', attempts: 5, dueAt: null });
    expect(over?.error).toContain('stopped during the last attempt');
    expect(await at.store.deliveries.claim(CLAIM)).toEqual([]);
    expect(await stored(id)).toMatchObject({ state: 'dead_letter' });
  });

  it('take a late success from a process that lost its lease, but no late failure', async () => {
    const id = await made();
    await at.store.deliveries.claim(CLAIM);
    at.clock.advance(60_000);
    await at.store.deliveries.claim(CLAIM);
    await at.store.deliveries.report(id, 1, FAILED);
    expect(await stored(id)).toMatchObject({ state: 'sending', claims: 2 });
    await at.store.deliveries.report(id, 1, DELIVERED);
    await at.store.deliveries.report(id, 2, { ...FAILED, state: 'dead_letter' });
    expect(await stored(id)).toMatchObject({ state: 'delivered' });
  });

  it('that were not sent after all have had no attempt', async () => {
    const id = await made();
    await at.store.deliveries.claim(CLAIM);
    await at.store.deliveries.release(id, 1);
    expect(await stored(id)).toMatchObject({ state: 'pending', attempts: 0 });
    expect(await at.store.deliveries.claim(CLAIM)).toMatchObject([{ attempts: 1, claims: 2 }]);
    await at.store.deliveries.release(id, 1);
    expect(await stored(id)).toMatchObject({ state: 'sending', attempts: 1 });
  });

  it('are sent once more by hand as if they were new, unless they are under way', async () => {
    const id = await made();
    const { organizationId } = at.owner;
    await at.store.deliveries.claim(CLAIM);
    const { state } = (await at.store.deliveries.redeliver(organizationId, id)) ?? {};
    expect(state).toBe('sending');
    await at.store.deliveries.report(id, 1, { ...FAILED, state: 'dead_letter' });
    expect(await at.store.deliveries.redeliver(organizationId, id)).toMatchObject({
      state: 'pending',
      attempts: 0,
      finishedAt: null,
    });
    expect(await at.store.deliveries.claim(CLAIM)).toMatchObject([{ attempts: 1, claims: 2 }]);
  });

  it('are listed newest first, by state and by run, in pages', async () => {
    const { organizationId } = at.owner;
    const on = await ground(at);
    const runs = [await completedRun(at, on), await completedRun(at, on)];
    for (const run of runs) {
      await at.store.afterworks.finish(run.id, [webhook(), webhook({ nodeId: 'b' })]);
    }
    const all = await at.store.deliveries.list(organizationId, PAGE);
    const ids = all.deliveries.map(({ id }) => Number(id));
    expect(ids).toEqual([...ids].sort((one, other) => other - one));
    expect(all.total).toBe(4);
    const page = { limit: 1, offset: 1 };
    const second = await at.store.deliveries.list(organizationId, { ...page, runId: runs[0]?.id });
    expect(second).toMatchObject({ total: 2, deliveries: [{ runId: runs[0]?.id }] });
    await at.store.deliveries.claim(CLAIM);
    const sending = await at.store.deliveries.list(organizationId, { ...PAGE, state: 'sending' });
    expect(sending.total).toBe(1);
    const odd = await at.store.deliveries.list(organizationId, { ...PAGE, runId: 'x' });
    expect(odd).toEqual({ deliveries: [], total: 0 });
  });

  it('are private to their organization', async () => {
    const id = await made();
    const foreign = await otherOrganization(at);
    const { deliveries } = at.store;
    expect(await deliveries.get(foreign, id)).toBeUndefined();
    expect(await deliveries.redeliver(foreign, id)).toBeUndefined();
    expect(await deliveries.list(foreign, PAGE)).toEqual({ deliveries: [], total: 0 });
    expect(await deliveries.get('0', 'abc')).toBeUndefined();
  });

  it('of many organizations are taken up in turns', async () => {
    const owners = [at.owner.organizationId];
    for (let i = 0; i < 3; i++) owners.push(await otherOrganization(at));
    for (const owner of owners) {
      const on = await ground(at, owner);
      for (let i = 0; i < 3; i++) {
        const run = await completedRun(at, on);
        await at.store.afterworks.finish(run.id, [webhook()]);
      }
    }
    const first = await at.store.deliveries.claim(CLAIM);
    expect(first.map(({ organizationId }) => organizationId).sort()).toEqual([...owners].sort());
    const except = owners.slice(0, 3);
    const second = await at.store.deliveries.claim({ ...CLAIM, except });
    expect(second.map(({ organizationId }) => organizationId)).toEqual(owners.slice(3));
  });
});

describe.each(engines())('signing secrets on %s', (engine) => {
  const at = withStore(engine);
  const DayMs = 86_400_000;

  it('are made when one is needed, and shown by their begin', async () => {
    const { signingSecrets } = at.store;
    const { organizationId } = at.owner;
    expect(await signingSecrets.get(organizationId)).toBeUndefined();
    const [secret, none] = await signingSecrets.inForce(organizationId);
    expect(none).toBeUndefined();
    expect(secret).toMatch(/^whsec_[\w-]{43}$/);
    expect(await signingSecrets.inForce(organizationId)).toEqual([secret]);
    const record = await signingSecrets.get(organizationId);
    expect(record).toMatchObject({ prefix: secret?.slice(0, 10), formerUntil: null });
  });

  it('sign beside the new one for a while when they are replaced', async () => {
    const { signingSecrets } = at.store;
    const { organizationId } = at.owner;
    const [first] = await signingSecrets.inForce(organizationId);
    const { secret, record } = await signingSecrets.rotate(organizationId, DayMs);
    expect(record.formerUntil).toEqual(new Date(at.clock.now() + DayMs));
    expect(await signingSecrets.inForce(organizationId)).toEqual([secret, first]);
    at.clock.advance(DayMs);
    expect(await signingSecrets.inForce(organizationId)).toEqual([secret]);
    expect((await signingSecrets.get(organizationId))?.formerUntil).toBeNull();
  });

  it('are sealed in the database', async () => {
    const { organizationId } = at.owner;
    const [first] = await at.store.signingSecrets.inForce(organizationId);
    await at.store.signingSecrets.rotate(organizationId, DayMs);
    const text = JSON.stringify(await at.sql('select * from signing_secrets'));
    expect(text).not.toContain(first);
    expect(text.match(/sealed:/g)).toHaveLength(2);
  });

  it('are nothing to an organization that is not there', async () => {
    expect(await at.store.signingSecrets.inForce('x')).toEqual([]);
    expect(await at.store.signingSecrets.get('x')).toBeUndefined();
  });
});
