// Leases of telephony configurations on both engines: one process at a time holds the connection of each.

import { describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../src/std/clock.ts';
import { systemRandom } from '../../../src/std/random.ts';
import { openDatabase } from '../../../src/store/db/connections.ts';
import { organizationTurns } from '../../../src/store/db/organization-lock.ts';
import { SERVER_PACE } from '../../../src/store/db/presence-pace.ts';
import { SecretBox } from '../../../src/store/secrets/secret-box.ts';
import { parseSecretKeys } from '../../../src/store/secrets/secret-keys.ts';
import type { LeaseStore } from '../../../src/store/telephony/configuration-leases.ts';
import { LeaseRepository } from '../../../src/store/telephony/configuration-leases.ts';
import { engines } from '../databases.ts';
import { steeredTime, type TestStore, withStore } from '../engines.ts';
import { ground, openRun } from '../runs/completed-runs.ts';

const LEASE_MS = 8_000;
const wanted = { providers: ['ari'] as const, leaseMs: LEASE_MS, takesExpired: true, max: 10 };

async function configure(
  at: TestStore,
  name: string,
  more: { provider?: 'ari' | 'twilio'; organizationId?: string } = {},
): Promise<string> {
  const { provider = 'ari', organizationId = at.owner.organizationId } = more;
  const { id } = await at.store.telephony.createConfiguration(organizationId, {
    name,
    provider,
    isDefaultOutbound: false,
    credentials: { app_password: `secret of ${name}` },
    accountId: null,
    secretFields: ['app_password'],
  });
  return id;
}

/** The same database as another process sees it. */
async function asNode<T>(
  at: TestStore,
  node: string,
  work: (leases: LeaseStore) => Promise<T>,
  keys = Buffer.alloc(32, 7).toString('hex'),
): Promise<T> {
  const { log } = at;
  const clock: Clock = { ...systemClock, now: () => at.clock.now() };
  const db = openDatabase(at.target(), { ready: () => Promise.resolve(), clock, log });
  const [first, ...rest] = parseSecretKeys(keys);
  if (first === undefined) throw new Error('no key');
  const secrets = new SecretBox([first, ...rest], systemRandom);
  try {
    const time = steeredTime(() => at.clock);
    const identity = { node, epoch: '1' };
    const turns = { organizationTurns: organizationTurns() };
    const means = { db, ...turns, clock, time, pace: SERVER_PACE, random: systemRandom, secrets };
    return await work(new LeaseRepository({ ...identity, ...means, callLimit: 10, log }));
  } finally {
    await db.destroy();
  }
}

const idsOf = (held: readonly { id: string }[]) => held.map(({ id }) => id);

describe.each(engines())('leases of configurations on %s', (engine) => {
  const at = withStore(engine);
  const claim = async () => idsOf(await at.store.leases.claim(wanted));
  const claimAs = (node: string) =>
    asNode(at, node, async (leases) => idsOf(await leases.claim(wanted)));

  it('are taken across organizations, with the configuration in clear, inactive or not', async () => {
    const [row] = await at.sql(
      "insert into organizations (name, created_at) values ('Other', now()) returning id",
    );
    const organizationId = String(row?.['id']);
    const mine = await configure(at, 'mine');
    const theirs = await configure(at, 'theirs', { organizationId });
    await configure(at, 'hosted', { provider: 'twilio' });
    await at.store.telephony.deactivate(organizationId, theirs, 'It is down.');
    const held = await at.store.leases.claim(wanted);
    expect(held).toMatchObject([
      {
        id: mine,
        organizationId: at.owner.organizationId,
        name: 'mine',
        credentials: { app_password: 'secret of mine' },
        isReadable: true,
      },
      { id: theirs, organizationId, inactiveReason: 'It is down.' },
    ]);
    expect(await at.store.leases.claim({ ...wanted, providers: [] })).toEqual([]);
  });

  it('are renewed by their holder and kept from everybody else', async () => {
    const id = await configure(at, 'a');
    expect(await claim()).toEqual([id]);
    for (let looks = 0; looks < 5; looks++) {
      at.clock.advance(LEASE_MS - 1_000);
      expect(await claimAs('other')).toEqual([]);
      expect(await claim()).toEqual([id]);
    }
  });

  it('are taken over once their holder has stopped renewing them, which it is notified of', async () => {
    const id = await configure(at, 'a');
    await claim();
    at.clock.advance(LEASE_MS - 1);
    expect(await claimAs('other')).toEqual([]);
    at.clock.advance(1);
    expect(await claimAs('other')).toEqual([id]);
    expect(await claim()).toEqual([]);
    at.clock.advance(LEASE_MS);
    expect(await claim()).toEqual([id]);
  });

  it("are its node's at once when a killed process starts again", async () => {
    const id = await configure(at, 'a');
    expect(await claimAs('node')).toEqual([id]);
    expect(await claimAs('node')).toEqual([id]);
  });

  it('are free once they are released, and gone with their configuration', async () => {
    const id = await configure(at, 'a');
    await claim();
    await asNode(at, 'other', (leases) => leases.release());
    expect(await claimAs('other')).toEqual([]);
    await at.store.leases.release();
    expect(await claimAs('other')).toEqual([id]);
    await at.store.telephony.deleteConfiguration(at.owner.organizationId, id);
    expect(await claimAs('other')).toEqual([]);
    expect(await at.sql('select * from configuration_leases')).toEqual([]);
  });

  it('have a number that each change of the node raises, also after a release', async () => {
    const id = await configure(at, 'a');
    const facts = async (node: string) =>
      (await asNode(at, node, (leases) => leases.claim(wanted))).map(
        ({ leaseEpoch, isTakenOver }) => [leaseEpoch, isTakenOver],
      );
    expect(await facts('one')).toEqual([['1', false]]);
    expect(await facts('one')).toEqual([['1', false]]);
    at.clock.advance(LEASE_MS);
    expect(await facts('two')).toEqual([['2', true]]);
    await asNode(at, 'two', (leases) => leases.release());
    expect(await facts('one')).toEqual([['3', false]]);
    await at.store.telephony.deleteConfiguration(at.owner.organizationId, id);
  });

  it('are free without a wait when they were released while expired ones may still be renewed', async () => {
    const id = await configure(at, 'a');
    expect(await claim()).toEqual([id]);
    await at.store.leases.release();
    const careful = { ...wanted, takesExpired: false };
    const held = await asNode(at, 'other', (leases) => leases.claim(careful));
    expect(idsOf(held)).toEqual([id]);
  });

  it('show the calls that other living processes have', async () => {
    const id = await configure(at, 'a');
    const on = await ground(at);
    const runs = await Promise.all([1, 2, 3, 4].map(() => openRun(at, on)));
    const owners = ['living', 'dead', at.store.node, 'living'];
    for (const [nth, run] of runs.entries()) {
      await at.sql(
        `update runs set configuration_id = $2, provider_call_id = $3, owner_node = $4,
           owner_epoch = case when $4 = 'living' then 5 else owner_epoch end,
           state = case when $5 then 'completed' else state end
         where id = $1`,
        [run.id, id, `channel-${nth}`, owners[nth], nth === 3],
      );
    }
    await at.sql("insert into nodes values ('living', now(), now(), 5, 4)");
    const { processes, callIds } = await at.store.leases.callsElsewhere(id);
    expect(callIds).toEqual(['channel-0']);
    expect(processes).toEqual([{ node: 'living', epoch: '4' }]);
    await at.sql("delete from nodes where name = 'living'");
  });

  it('go to one of several that ask at once', async () => {
    const ids = await Promise.all(['a', 'b', 'c'].map((name) => configure(at, name)));
    const taken = await Promise.all([claim(), claim(), claimAs('x'), claimAs('y')]);
    const [own = []] = taken.slice(0, 2).sort((one, other) => other.length - one.length);
    const all = [...own, ...(taken[2] ?? []), ...(taken[3] ?? [])];
    expect(all.sort()).toEqual(ids.sort());
  });

  it('are at most as many as were asked for, those that are held first', async () => {
    const second = await configure(at, 'z').then(() => configure(at, 'y'));
    const [first] = await claimAs('other');
    await asNode(at, 'other', (leases) => leases.release());
    await at.sql(
      "update configuration_leases set node = 'other', lease_until = $2 where configuration_id = $1",
      [second, new Date(at.clock.now() + LEASE_MS)],
    );
    const held = await asNode(at, 'other', (leases) => leases.claim({ ...wanted, max: 1 }));
    expect(idsOf(held)).toEqual([second]);
    expect(await claim()).toEqual([first]);
  });

  it('are held although the secrets cannot be opened, which is said', async () => {
    const id = await configure(at, 'a');
    const stranger = Buffer.alloc(32, 9).toString('hex');
    const held = await asNode(at, 'other', (leases) => leases.claim(wanted), stranger);
    expect(held).toMatchObject([{ id, credentials: {}, isReadable: false }]);
  });
});
