// What the store knows of the gateways on one database, on both engines.

import { afterEach, describe, expect, it } from 'vitest';
import type { GatewayCondition } from '../../src/model/gateway-condition.ts';
import { engines } from './databases.ts';
import { withStore } from './engines.ts';
import { ground, openRun } from './runs/completed-runs.ts';

const CONDITION: GatewayCondition = {
  version: '1.2.3',
  not_ready: [],
  workers: 1,
  workers_wanted: 1,
  clock_skew_seconds: null,
  redis: 'ok',
  s3: 'unused',
  spool_bytes: null,
  spool_oldest_seconds: null,
};

describe.each(engines())('the status of gateways on %s', (engine) => {
  const at = withStore(engine);
  const read = () => at.store.clusterStatus.read(['ari', 'twilio']);
  /** Another process, whose last heartbeat is so old. */
  const enter = (name: string, epoch: number, secondsAgo: number) =>
    at.sql('insert into nodes (name, epoch, started_at, seen_at) values ($1, $2, $3, $4)', [
      name,
      epoch,
      new Date(at.clock.now() - 60_000),
      new Date(at.clock.now() - secondsAgo * 1_000),
    ]);

  afterEach(() => at.sql("delete from nodes where name like 'gw2%'"));

  it('has each gateway with its processes, their heartbeats and open calls', async () => {
    await enter('gw2', 7, 1);
    await enter('gw2#api', 8, 3);
    await enter('gw2#1', 9, 2);
    const on = await ground(at);
    for (let nth = 0; nth < 3; nth++) await openRun(at, on);
    await at.sql("update runs set owner_node = 'gw2#1', owner_epoch = 9");
    await openRun(at, on);
    const { gateways, calls, calls_without_owner: without } = await read();
    const other = gateways.find(({ name }) => name === 'gw2');
    expect(other).toMatchObject({
      calls: 3,
      heartbeat_seconds: 3,
      url: null,
      condition: null,
      since: new Date(at.clock.now() - 60_000).toISOString(),
      processes: [
        { name: 'supervisor', calls: 0, heartbeat_seconds: 1 },
        { name: '1', calls: 3, heartbeat_seconds: 2 },
        { name: 'api', calls: 0, heartbeat_seconds: 3 },
      ],
    });
    expect([gateways.length, calls, without]).toEqual([2, 4, 0]);
  });

  it('has the open calls of processes that are gone, or were replaced', async () => {
    await enter('gw2#1', 9, 0);
    const on = await ground(at);
    const [gone, replaced, own] = [
      await openRun(at, on),
      await openRun(at, on),
      await openRun(at, on),
    ];
    await at.sql("update runs set owner_node = 'gw3#1', owner_epoch = 1 where id = $1", [gone.id]);
    await at.sql("update runs set owner_node = 'gw2#1', owner_epoch = 8 where id = $1", [
      replaced.id,
    ]);
    expect(await read()).toMatchObject({ calls: 3, calls_without_owner: 2 });
    await at.store.runs.patch(own.id, { state: 'completed' });
    expect(await read()).toMatchObject({ calls: 2, calls_without_owner: 2 });
  });

  it('keeps what a gateway says of itself, with its age', async () => {
    expect(await at.store.clusterStatus.report(CONDITION)).toBe(at.clock.now());
    at.clock.advance(4_000);
    const { gateways, now } = await read();
    expect(now).toBe(new Date(at.clock.now()).toISOString());
    expect(gateways).toMatchObject([{ condition: CONDITION, condition_seconds: 4 }]);
  });

  it('does not show what a gateway of another version says in a form of its own', async () => {
    await at.sql(`update nodes set condition = '{"version": "9", "mood": "good"}'`);
    expect((await read()).gateways).toMatchObject([{ condition: null }]);
    await at.sql('update nodes set condition = null');
  });

  it('has who connects to the configurations of those providers', async () => {
    const on = await ground(at);
    const other = await ground(at);
    await at.sql(
      "insert into configuration_leases (configuration_id, node, lease_until) values ($1, 'gw2#1', $2)",
      [on.configurationId, new Date(at.clock.now() + 5_000)],
    );
    const [held, free] = (await read()).pbx_leases;
    expect(held).toEqual({
      configuration_id: on.configurationId,
      name: `Main ${on.workflowId}`,
      organization_id: on.organizationId,
      node: 'gw2#1',
      seconds_left: 5,
      inactive_reason: null,
    });
    expect(free).toMatchObject({
      configuration_id: other.configurationId,
      node: null,
      seconds_left: null,
    });
    expect((await at.store.clusterStatus.read([])).pbx_leases).toEqual([]);
  });
});
