// Connections to PBXs: whose they are, how they follow configurations, what clients are shown of them.

import { describe, expect, it } from 'vitest';
import { pbxConnections, pbxOutages, pbxReconnects } from '../../../src/metrics/metrics.ts';
import type { ConfigurationSummary } from '../../../src/store/telephony/configurations.ts';
import { type CallRoom, withCallRoom } from '../call-harness.ts';
import { configurePbx } from './pbx-harness.ts';

const held = withCallRoom();

const linesOf = (room: CallRoom) => room.switchboard.pbxLines;
const idsOf = (room: CallRoom) => room.pbx.open.map(({ account }) => account.configurationId);
const stored = async (room: CallRoom, { id }: ConfigurationSummary) => {
  const found = await room.at.store.telephony.getConfiguration(room.at.owner.organizationId, id);
  if (found === undefined) throw new Error('no such configuration');
  return found;
};

/** Seconds pass, and what is due in them is done. */
async function passSeconds(room: CallRoom, seconds: number): Promise<void> {
  for (let passed = 0; passed < seconds; passed++) {
    room.clock.advance(1_000);
    await linesOf(room).wake();
  }
}

describe('connections to PBXs', () => {
  it('are one for each configuration of a PBX, of all organizations, and for no other', async () => {
    const room = await held.room.prepare();
    const [row] = await room.at.sql(
      "insert into organizations (name, created_at) values ('Other', now()) returning id",
    );
    const mine = await configurePbx(room);
    const theirs = await configurePbx(room, { organizationId: String(row?.['id']) });
    await linesOf(room).start();
    expect(idsOf(room)).toEqual([mine.id, theirs.id]);
    expect(room.pbx.connection.account.credentials).toMatchObject({
      app_password: 'pbx-secret-4713',
    });
    await passSeconds(room, 60);
    expect(room.pbx.connections).toHaveLength(2);
  });

  it('follow a configuration that is made, changed or deleted within seconds', async () => {
    const room = held.room;
    const { telephony } = room.at.store;
    const { organizationId } = room.at.owner;
    await linesOf(room).start();
    const made = await configurePbx(room);
    room.clock.advance(2_000);
    await room.until(() => idsOf(room).length === 1);
    const [first] = room.pbx.connections;
    await telephony.updateConfiguration(organizationId, made.id, { name: 'Renamed' });
    await passSeconds(room, 2);
    expect(room.pbx.connections).toEqual([first]);
    const credentials = { ...made.credentials, app_password: 'rotated' };
    await telephony.updateConfiguration(organizationId, made.id, { credentials });
    room.clock.advance(2_000);
    await room.until(() => first?.renewals === 1);
    expect(room.pbx.connections).toEqual([first]);
    expect(first?.account.credentials).toEqual(credentials);
    if (first !== undefined) first.isRenewable = false; // Such as with another application.
    const moved = { ...credentials, stasis_app_name: 'another' };
    await telephony.updateConfiguration(organizationId, made.id, { credentials: moved });
    room.clock.advance(2_000);
    await room.until(() => room.pbx.connections.length === 2);
    expect(first?.isClosed).toBe(true);
    expect(room.pbx.connection.account.credentials).toEqual(moved);
    await telephony.deleteConfiguration(organizationId, made.id);
    room.clock.advance(2_000);
    await room.until(() => room.pbx.open.length === 0);
  });

  it('belong to one node, and are taken over within seconds after it was killed', async () => {
    const room = held.room;
    const { id } = await configurePbx(room);
    const until = new Date(room.clock.now() + 8_000);
    await room.at.sql('insert into configuration_leases values ($1, $2, $3)', [id, 'dead', until]);
    await linesOf(room).start();
    await passSeconds(room, 7);
    expect(room.pbx.connections).toEqual([]);
    await passSeconds(room, 1);
    expect(idsOf(room)).toEqual([id]);
  });

  it('are let go of when another node has them, and at the end, for others to take', async () => {
    const room = held.room;
    const { id } = await configurePbx(room);
    await linesOf(room).start();
    const [first] = room.pbx.connections;
    await room.at.sql("update configuration_leases set node = 'other'");
    await passSeconds(room, 1);
    expect(first?.isClosed).toBe(true);
    await passSeconds(room, 10);
    expect(idsOf(room)).toEqual([id]);
    await linesOf(room).stop();
    expect(room.pbx.open).toEqual([]);
    expect(await room.at.sql('select * from configuration_leases')).toEqual([]);
    await passSeconds(room, 20);
    expect(room.pbx.open).toEqual([]);
  });

  it.each(['deleted', 'changed'])(
    'that are %s are let go of all at once: each may take longer than a third of the lease',
    async (fate) => {
      const room = held.room;
      const { telephony } = room.at.store;
      const { organizationId } = room.at.owner;
      const made = [];
      for (const name of ['A', 'B', 'C']) made.push(await configurePbx(room, { name }));
      await linesOf(room).start();
      const leaving: string[] = [];
      for (const connection of room.pbx.open) {
        connection.isRenewable = false;
        connection.close = () => {
          leaving.push(connection.account.configurationId);
          return new Promise(() => undefined);
        };
      }
      for (const { id, credentials } of made) {
        if (fate === 'deleted') await telephony.deleteConfiguration(organizationId, id);
        else {
          const moved = { ...credentials, stasis_app_name: 'another' };
          await telephony.updateConfiguration(organizationId, id, { credentials: moved });
        }
      }
      const looking = linesOf(room).wake();
      await room.until(() => leaving.length === 3);
      expect(room.pbx.connections).toHaveLength(3);
      room.clock.advance(3_000);
      await looking;
      expect(room.pbx.connections).toHaveLength(fate === 'deleted' ? 3 : 6);
    },
  );

  it('stay while the database is away, which is logged once', async () => {
    const room = held.room;
    await configurePbx(room);
    await linesOf(room).start();
    const { leases } = room.deps.store;
    Object.assign(room.deps.store, {
      leases: { ...leases, claim: () => Promise.reject(new Error('away')) },
    });
    await passSeconds(room, 30);
    expect(room.pbx.open).toHaveLength(1);
    expect(room.errors).toHaveLength(1);
    Object.assign(room.deps.store, { leases });
    await passSeconds(room, 1);
    expect(room.pbx.connections).toHaveLength(1);
  });
});

describe('a PBX that is out of reach', () => {
  it('is shown as out of use after a while, with what to do, and comes back by itself', async () => {
    const room = held.room;
    const configuration = await configurePbx(room);
    await linesOf(room).start();
    const { connection } = room.pbx;
    connection.up();
    connection.down('PROVIDER_TIMEOUT');
    await passSeconds(room, 14);
    expect(await stored(room, configuration)).toMatchObject({ inactiveSince: null });
    connection.connecting();
    connection.down('PROVIDER_TIMEOUT');
    await passSeconds(room, 1);
    expect(await stored(room, configuration)).toMatchObject({
      inactiveSince: new Date(room.clock.now()),
      inactiveReason: 'PROVIDER_TIMEOUT: ari did not answer in time',
    });
    connection.connecting();
    await passSeconds(room, 60);
    connection.up();
    await room.until(async () => (await stored(room, configuration)).inactiveSince === null);
    await passSeconds(room, 60);
    expect(await stored(room, configuration)).toMatchObject({ inactiveReason: null });
    expect(room.pbx.connections).toEqual([connection]);
  });

  it('is shown sooner if only people can mend it, and with the latest reason', async () => {
    const room = held.room;
    const configuration = await configurePbx(room);
    await linesOf(room).start();
    const { connection } = room.pbx;
    connection.down('PROVIDER_AUTH', { isPermanent: true });
    await passSeconds(room, 3);
    const refused = await stored(room, configuration);
    expect(refused.inactiveReason).toBe('PROVIDER_AUTH: ari refused the credentials');
    connection.down('PROVIDER_TIMEOUT');
    await passSeconds(room, 15);
    expect(await stored(room, configuration)).toMatchObject({
      inactiveReason: 'PROVIDER_TIMEOUT: ari did not answer in time',
      inactiveSince: refused.inactiveSince,
    });
  });

  it('is not shown for a short outage', async () => {
    const room = held.room;
    const configuration = await configurePbx(room);
    await linesOf(room).start();
    const { connection } = room.pbx;
    for (let outages = 0; outages < 5; outages++) {
      connection.down();
      await passSeconds(room, 10);
      connection.up();
      await passSeconds(room, 10);
      expect((await stored(room, configuration)).inactiveSince).toBeNull();
    }
  });

  it('is tried again at once when a client takes it back into use', async () => {
    const room = held.room;
    const configuration = await configurePbx(room);
    await linesOf(room).start();
    const [first] = room.pbx.connections;
    first?.down('PROVIDER_AUTH', { isPermanent: true });
    await passSeconds(room, 5);
    expect((await stored(room, configuration)).inactiveSince).not.toBeNull();
    await room.at.store.telephony.reactivate(room.at.owner.organizationId, configuration.id);
    await passSeconds(room, 2);
    expect(first?.renewals).toBe(1);
    expect(room.pbx.connections).toHaveLength(1);
    expect((await stored(room, configuration)).inactiveSince).toBeNull();
    await passSeconds(room, 10);
    expect(first?.renewals).toBe(1);
    room.pbx.connection.down('PROVIDER_AUTH', { isPermanent: true });
    await passSeconds(room, 5);
    expect((await stored(room, configuration)).inactiveSince).not.toBeNull();
  });

  it('is back in use after a restart of the gateway, however it was shown before', async () => {
    const room = held.room;
    const configuration = await configurePbx(room);
    const { organizationId } = room.at.owner;
    await room.at.store.telephony.deactivate(organizationId, configuration.id, 'It was off.');
    await linesOf(room).start();
    await passSeconds(room, 2);
    expect((await stored(room, configuration)).inactiveReason).toBe('It was off.');
    room.pbx.connection.up();
    await room.until(async () => (await stored(room, configuration)).inactiveSince === null);
  });

  it('is shown although its outcome could not be stored at first', async () => {
    const room = held.room;
    const configuration = await configurePbx(room);
    await linesOf(room).start();
    room.pbx.connection.down('PROVIDER_AUTH', { isPermanent: true });
    const { telephony } = room.deps.store;
    const away = { deactivate: () => Promise.reject(new Error('away')) };
    Object.assign(room.deps.store, { telephony: { ...telephony, ...away } });
    await passSeconds(room, 5);
    Object.assign(room.deps.store, { telephony });
    await passSeconds(room, 1);
    expect((await stored(room, configuration)).inactiveSince).not.toBeNull();
  });

  it('that cannot be connected at all is shown too, and keeps no other from being connected', async () => {
    const room = held.room;
    let attempts = 0;
    room.pbx.onConnect = () => {
      attempts += 1;
      if (attempts === 1) throw new Error('no such address');
    };
    const broken = await configurePbx(room, { name: 'Broken' });
    const well = await configurePbx(room, { name: 'Well' });
    await linesOf(room).start();
    expect(idsOf(room)).toEqual([well.id]);
    await passSeconds(room, 10);
    expect(attempts).toBe(2);
    expect((await stored(room, broken)).inactiveReason).toMatch(/^PROVIDER_FAILED: unexpected/);
    expect((await stored(room, well)).inactiveReason).toBeNull();
    expect(JSON.stringify(room.lines)).not.toContain('pbx-secret-4713');
  });

  it('is counted', async () => {
    const room = held.room;
    const states = async () =>
      Object.fromEntries(
        (await pbxConnections.get()).values.map(({ labels, value }) => [labels.state, value]),
      );
    const totals = async () =>
      Promise.all([pbxReconnects.get(), pbxOutages.get()]).then((all) =>
        all.map(({ values }) => values.reduce((sum, { value }) => sum + value, 0)),
      );
    const [reconnects = 0, outages = 0] = await totals();
    await configurePbx(room);
    await linesOf(room).start();
    expect(await states()).toMatchObject({ connecting: 1 });
    room.pbx.connection.up();
    expect(await states()).toMatchObject({ connecting: 0, up: 1 });
    expect(await totals()).toEqual([reconnects, outages]);
    room.pbx.connection.down();
    room.pbx.connection.connecting();
    room.pbx.connection.down();
    expect(await states()).toMatchObject({ up: 0, down: 1 });
    room.pbx.connection.up();
    expect(await totals()).toEqual([reconnects + 1, outages + 1]);
    await linesOf(room).stop();
    expect(await states()).toMatchObject({ connecting: 0, up: 0, down: 0 });
  });
});
