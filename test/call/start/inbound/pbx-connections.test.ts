// Connections to PBXs: whose they are, how they follow configurations, what clients are shown of them.

import { describe, expect, it } from 'vitest';
import {
  pbxConnections,
  pbxLeaseTakeovers,
  pbxOutages,
  pbxReconnects,
} from '../../../../src/metrics/metrics.ts';
import type { ConfigurationSummary } from '../../../../src/store/telephony/configurations.ts';
import { type CallHarness, withCallHarness } from '../../call-harness.ts';
import { configurePbx } from './pbx-harness.ts';

const held = withCallHarness();

const linesOf = (harness: CallHarness) => harness.callControl.pbxLines;
const idsOf = (harness: CallHarness) =>
  harness.pbx.open.map(({ account }) => account.configurationId);
const stored = async (harness: CallHarness, { id }: ConfigurationSummary) => {
  const found = await harness.at.store.telephony.getConfiguration(
    harness.at.owner.organizationId,
    id,
  );
  if (found === undefined) throw new Error('no such configuration');
  return found;
};

/** Seconds pass, and what is due in them is done. */
async function passSeconds(harness: CallHarness, seconds: number): Promise<void> {
  for (let passed = 0; passed < seconds; passed++) {
    harness.clock.advance(1_000);
    await linesOf(harness).wake();
  }
}

describe('connections to PBXs', () => {
  it('are one for each configuration of a PBX, of all organizations, and for no other', async () => {
    const harness = await held.harness.prepare();
    const [row] = await harness.at.sql(
      "insert into organizations (name, created_at) values ('Other', now()) returning id",
    );
    const mine = await configurePbx(harness);
    const theirs = await configurePbx(harness, { organizationId: String(row?.['id']) });
    await linesOf(harness).start();
    expect(idsOf(harness)).toEqual([mine.id, theirs.id]);
    expect(harness.pbx.connection.account.credentials).toMatchObject({
      app_password: 'pbx-secret-4713',
    });
    await passSeconds(harness, 60);
    expect(harness.pbx.connections).toHaveLength(2);
  });

  it('follow a configuration that is made, changed or deleted within seconds', async () => {
    const harness = held.harness;
    const { telephony } = harness.at.store;
    const { organizationId } = harness.at.owner;
    await linesOf(harness).start();
    const made = await configurePbx(harness);
    harness.clock.advance(2_000);
    await harness.until(() => idsOf(harness).length === 1);
    const [first] = harness.pbx.connections;
    await telephony.updateConfiguration(organizationId, made.id, { name: 'Renamed' });
    await passSeconds(harness, 2);
    expect(harness.pbx.connections).toEqual([first]);
    const credentials = { ...made.credentials, app_password: 'rotated' };
    await telephony.updateConfiguration(organizationId, made.id, { credentials });
    harness.clock.advance(2_000);
    await harness.until(() => first?.renewals === 1);
    expect(harness.pbx.connections).toEqual([first]);
    expect(first?.account.credentials).toEqual(credentials);
    if (first !== undefined) first.isRenewable = false; // Such as with another application.
    const moved = { ...credentials, stasis_app_name: 'another' };
    await telephony.updateConfiguration(organizationId, made.id, { credentials: moved });
    harness.clock.advance(2_000);
    await harness.until(() => harness.pbx.connections.length === 2);
    expect(first?.isClosed).toBe(true);
    expect(harness.pbx.connection.account.credentials).toEqual(moved);
    await telephony.deleteConfiguration(organizationId, made.id);
    harness.clock.advance(2_000);
    await harness.until(() => harness.pbx.open.length === 0);
  });

  it('belong to one node, and are taken over within seconds after it was killed', async () => {
    const harness = held.harness;
    const { id } = await configurePbx(harness);
    const until = new Date(harness.clock.now() + 5_500);
    await harness.at.sql('insert into configuration_leases values ($1, $2, $3)', [
      id,
      'dead',
      until,
    ]);
    await linesOf(harness).start();
    await passSeconds(harness, 5);
    expect(harness.pbx.connections).toEqual([]);
    const before = (await pbxLeaseTakeovers.get()).values[0]?.value ?? 0;
    await passSeconds(harness, 2);
    expect(idsOf(harness)).toEqual([id]);
    expect((await pbxLeaseTakeovers.get()).values[0]?.value).toBe(before + 1);
  });

  it('are connected again if another node has had them meanwhile', async () => {
    const harness = held.harness;
    await configurePbx(harness);
    await linesOf(harness).start();
    const [first] = harness.pbx.connections;
    await passSeconds(harness, 3);
    expect(first?.renewals).toBe(0);
    await harness.at.sql('update configuration_leases set epoch = epoch + 2');
    await passSeconds(harness, 3);
    expect(first?.renewals).toBe(1);
  });

  describe('after the database was away for longer than a lease', () => {
    const expired = "update configuration_leases set lease_until = lease_until - interval '1 day'";

    /** Another node has the PBX. Its lease expires in the outage. */
    async function outage(harness: CallHarness): Promise<void> {
      const { id } = await configurePbx(harness);
      const until = new Date(harness.clock.now() + 86_400_000);
      const leased = 'insert into configuration_leases values ($1, $2, $3)';
      await harness.at.sql(leased, [id, 'other', until]);
      await linesOf(harness).start();
      const { leases } = harness.deps.store;
      const claim = leases.claim.bind(leases);
      leases.claim = () => Promise.reject(new Error('away'));
      await passSeconds(harness, 20);
      leases.claim = claim;
      await harness.at.sql(expired);
    }

    // The first node to ask took the PBX of the other one, and ended its calls as those of a killed process.
    it('are left to their node, which renews its lease as soon as it can', async () => {
      const harness = held.harness;
      await outage(harness);
      await passSeconds(harness, 12);
      expect(harness.pbx.connections).toEqual([]);
      const renewed = new Date(harness.clock.now() + 8_000);
      await harness.at.sql('update configuration_leases set lease_until = $1', [renewed]);
      await passSeconds(harness, 7);
      expect(harness.pbx.connections).toEqual([]);
    });

    it('are taken over from a node that does not come back', async () => {
      const harness = held.harness;
      await outage(harness);
      await passSeconds(harness, 17);
      expect(harness.pbx.connections).toHaveLength(1);
    });
  });

  it('are released when another node has them, and at the end, for others to take', async () => {
    const harness = held.harness;
    const { id } = await configurePbx(harness);
    await linesOf(harness).start();
    const [first] = harness.pbx.connections;
    await harness.at.sql("update configuration_leases set node = 'other'");
    await passSeconds(harness, 1);
    expect(first?.isClosed).toBe(true);
    await passSeconds(harness, 10);
    expect(idsOf(harness)).toEqual([id]);
    await linesOf(harness).stop();
    expect(harness.pbx.open).toEqual([]);
    expect(await harness.at.sql('select node from configuration_leases')).toEqual([{ node: null }]);
    await passSeconds(harness, 20);
    expect(harness.pbx.open).toEqual([]);
  });

  it.each(['deleted', 'changed'])(
    'that are %s are released all at once: each may take longer than a third of the lease',
    async (fate) => {
      const harness = held.harness;
      const { telephony } = harness.at.store;
      const { organizationId } = harness.at.owner;
      const made = [];
      for (const name of ['A', 'B', 'C']) made.push(await configurePbx(harness, { name }));
      await linesOf(harness).start();
      const leaving: string[] = [];
      for (const connection of harness.pbx.open) {
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
      const looking = linesOf(harness).wake();
      await harness.until(() => leaving.length === 3);
      expect(harness.pbx.connections).toHaveLength(3);
      harness.clock.advance(3_000);
      await looking;
      expect(harness.pbx.connections).toHaveLength(fate === 'deleted' ? 3 : 6);
    },
  );

  it('stay while the database is away, which is logged once', async () => {
    const harness = held.harness;
    await configurePbx(harness);
    await linesOf(harness).start();
    const { leases } = harness.deps.store;
    Object.assign(harness.deps.store, {
      leases: { ...leases, claim: () => Promise.reject(new Error('away')) },
    });
    await passSeconds(harness, 30);
    expect(harness.pbx.open).toHaveLength(1);
    expect(harness.errors).toHaveLength(1);
    Object.assign(harness.deps.store, { leases });
    await passSeconds(harness, 1);
    expect(harness.pbx.connections).toHaveLength(1);
  });
});

describe('a PBX that is out of reach', () => {
  it('is shown as out of use after a while, with what to do, and comes back by itself', async () => {
    const harness = held.harness;
    const configuration = await configurePbx(harness);
    await linesOf(harness).start();
    const { connection } = harness.pbx;
    connection.up();
    connection.down('PROVIDER_TIMEOUT');
    await passSeconds(harness, 14);
    expect(await stored(harness, configuration)).toMatchObject({ inactiveSince: null });
    connection.connecting();
    connection.down('PROVIDER_TIMEOUT');
    await passSeconds(harness, 1);
    expect(await stored(harness, configuration)).toMatchObject({
      inactiveSince: new Date(harness.clock.now()),
      inactiveReason: 'PROVIDER_TIMEOUT: ari did not answer in time',
    });
    connection.connecting();
    await passSeconds(harness, 60);
    connection.up();
    await harness.until(async () => (await stored(harness, configuration)).inactiveSince === null);
    await passSeconds(harness, 60);
    expect(await stored(harness, configuration)).toMatchObject({ inactiveReason: null });
    expect(harness.pbx.connections).toEqual([connection]);
  });

  it('is shown sooner if only people can mend it, and with the latest reason', async () => {
    const harness = held.harness;
    const configuration = await configurePbx(harness);
    await linesOf(harness).start();
    const { connection } = harness.pbx;
    connection.down('PROVIDER_AUTH', { isPermanent: true });
    await passSeconds(harness, 3);
    const refused = await stored(harness, configuration);
    expect(refused.inactiveReason).toBe('PROVIDER_AUTH: ari refused the credentials: it is off');
    connection.down('PROVIDER_TIMEOUT');
    await passSeconds(harness, 15);
    expect(await stored(harness, configuration)).toMatchObject({
      inactiveReason: 'PROVIDER_TIMEOUT: ari did not answer in time',
      inactiveSince: refused.inactiveSince,
    });
  });

  it('is not shown for a short outage', async () => {
    const harness = held.harness;
    const configuration = await configurePbx(harness);
    await linesOf(harness).start();
    const { connection } = harness.pbx;
    for (let outages = 0; outages < 5; outages++) {
      connection.down();
      await passSeconds(harness, 10);
      connection.up();
      await passSeconds(harness, 10);
      expect((await stored(harness, configuration)).inactiveSince).toBeNull();
    }
  });

  it('is tried again at once when a client takes it back into use', async () => {
    const harness = held.harness;
    const configuration = await configurePbx(harness);
    await linesOf(harness).start();
    const [first] = harness.pbx.connections;
    first?.down('PROVIDER_AUTH', { isPermanent: true });
    await passSeconds(harness, 5);
    expect((await stored(harness, configuration)).inactiveSince).not.toBeNull();
    await harness.at.store.telephony.reactivate(harness.at.owner.organizationId, configuration.id);
    await passSeconds(harness, 2);
    expect(first?.renewals).toBe(1);
    expect(harness.pbx.connections).toHaveLength(1);
    expect((await stored(harness, configuration)).inactiveSince).toBeNull();
    await passSeconds(harness, 10);
    expect(first?.renewals).toBe(1);
    harness.pbx.connection.down('PROVIDER_AUTH', { isPermanent: true });
    await passSeconds(harness, 5);
    expect((await stored(harness, configuration)).inactiveSince).not.toBeNull();
  });

  it('is back in use after a restart of the gateway, however it was shown before', async () => {
    const harness = held.harness;
    const configuration = await configurePbx(harness);
    const { organizationId } = harness.at.owner;
    await harness.at.store.telephony.deactivate(organizationId, configuration.id, 'It was off.');
    await linesOf(harness).start();
    await passSeconds(harness, 2);
    expect((await stored(harness, configuration)).inactiveReason).toBe('It was off.');
    harness.pbx.connection.up();
    await harness.until(async () => (await stored(harness, configuration)).inactiveSince === null);
  });

  it('is shown although its outcome could not be stored at first', async () => {
    const harness = held.harness;
    const configuration = await configurePbx(harness);
    await linesOf(harness).start();
    harness.pbx.connection.down('PROVIDER_AUTH', { isPermanent: true });
    const { telephony } = harness.deps.store;
    const away = { deactivate: () => Promise.reject(new Error('away')) };
    Object.assign(harness.deps.store, { telephony: { ...telephony, ...away } });
    await passSeconds(harness, 5);
    Object.assign(harness.deps.store, { telephony });
    await passSeconds(harness, 1);
    expect((await stored(harness, configuration)).inactiveSince).not.toBeNull();
  });

  it('that cannot be connected at all is shown too, and keeps no other from being connected', async () => {
    const harness = held.harness;
    let attempts = 0;
    harness.pbx.onConnect = () => {
      attempts += 1;
      if (attempts === 1) throw new Error('no such address');
    };
    const broken = await configurePbx(harness, { name: 'Broken' });
    const well = await configurePbx(harness, { name: 'Well' });
    await linesOf(harness).start();
    expect(idsOf(harness)).toEqual([well.id]);
    await passSeconds(harness, 10);
    expect(attempts).toBe(2);
    expect((await stored(harness, broken)).inactiveReason).toMatch(/^PROVIDER_FAILED: unexpected/);
    expect((await stored(harness, well)).inactiveReason).toBeNull();
    expect(JSON.stringify(harness.lines)).not.toContain('pbx-secret-4713');
  });

  it('is counted', async () => {
    const harness = held.harness;
    const states = async () =>
      Object.fromEntries(
        (await pbxConnections.get()).values.map(({ labels, value }) => [labels.state, value]),
      );
    const totals = async () =>
      Promise.all([pbxReconnects.get(), pbxOutages.get()]).then((all) =>
        all.map(({ values }) => values.reduce((sum, { value }) => sum + value, 0)),
      );
    const [reconnects = 0, outages = 0] = await totals();
    await configurePbx(harness);
    await linesOf(harness).start();
    expect(await states()).toMatchObject({ connecting: 1 });
    harness.pbx.connection.up();
    expect(await states()).toMatchObject({ connecting: 0, up: 1 });
    expect(await totals()).toEqual([reconnects, outages]);
    harness.pbx.connection.down();
    harness.pbx.connection.connecting();
    harness.pbx.connection.down();
    expect(await states()).toMatchObject({ up: 0, down: 1 });
    harness.pbx.connection.up();
    expect(await totals()).toEqual([reconnects + 1, outages + 1]);
    await linesOf(harness).stop();
    expect(await states()).toMatchObject({ connecting: 0, up: 0, down: 0 });
  });
});
