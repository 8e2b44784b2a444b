// What happens to a run that a living process takes from another while its call waits for media.

import { describe, expect, it } from 'vitest';
import { engines } from '../databases.ts';
import { withStore } from '../engines.ts';
import { runMaker } from './run-rows.ts';

describe.each(engines())('a run of another process, on the %s engine', (engine) => {
  const at = withStore(engine);

  /** A run of `elsewhere`, whose epoch is 7. */
  async function foreign(state = 'initialized') {
    const { id } = await (await runMaker(at)).make();
    return moved(id, state);
  }

  async function moved(id: string, state: string) {
    await at.sql(
      "update runs set owner_node = 'elsewhere', owner_epoch = 7, state = $1 where id = $2",
      [state, id],
    );
    return id;
  }

  it('is taken over while it is initialized, once', async () => {
    const id = await foreign();
    const [one, two] = await Promise.all([at.store.runs.takeOver(id), at.store.runs.takeOver(id)]);
    expect([one, two].filter((taken) => taken?.from === 'elsewhere')).toHaveLength(1);
    expect(await at.store.runs.owner(id)).toEqual({ node: at.store.node, isOwn: true });
    expect(await at.store.runs.takeOver(id)).toBeUndefined();
    expect(await at.store.runs.takeOver('none')).toBeUndefined();
    expect(await at.sql('select adopted_epochs from runs where id = $1', [id])).toEqual([
      { adopted_epochs: ['7'] },
    ]);
  });

  it.each(['running', 'completed'])('is left alone when it is %s', async (state) => {
    const id = await foreign(state);
    expect(await at.store.runs.takeOver(id)).toBeUndefined();
    expect(await at.store.runs.owner(id)).toEqual({ node: 'elsewhere', isOwn: false });
  });

  it('takes no writes of its former owner until it is completed', async () => {
    const { id } = await (await runMaker(at)).make();
    const { epoch, runs } = at.store;
    await at.sql(
      "update runs set owner_node = 'elsewhere', owner_epoch = 7, adopted_epochs = array[$1::bigint] where id = $2",
      [epoch, id],
    );
    const body = { type: 'call.answered-by', answeredBy: 'human' } as const;
    expect(await runs.appendEvents([{ runId: id, seq: 1, at: 0, mediaMs: 0, body }])).toEqual([id]);
    expect(await runs.events(id)).toEqual([]);
    expect(await runs.patch(id, { state: 'completed' })).toBeUndefined();
    expect(await runs.patchInitialized(id, { state: 'running' })).toBe(false);
    expect(await runs.taken([id])).toEqual([id]);
    // What the provider reported is true for every owner of the call.
    const gatheredContext = { provider_status: 'queued' };
    expect(await runs.dialled({ runId: id, callId: 'CA1', gatheredContext })).toMatchObject({
      providerCallId: 'CA1',
    });
    await runs.appendCallback(id, 'k', {}, { status: 'ringing', notAfter: [] });
    expect((await runs.find(id))?.gatheredContext).toEqual({ provider_status: 'ringing' });
    // Its review of the call is stored.
    await at.sql("update runs set state = 'completed' where id = $1", [id]);
    expect(await runs.patch(id, { annotations: { good: true } })).toMatchObject({
      annotations: { good: true },
    });
  });

  it('does not wait here, nor does one that is over; one that talked may wait for media again', async () => {
    const maker = await runMaker(at);
    const [own, resumed, over] = [await maker.make(), await maker.make(), await maker.make()];
    const others = [
      await moved((await maker.make()).id, 'initialized'),
      await moved((await maker.make()).id, 'running'),
    ];
    await at.sql("update runs set state = 'running' where id = $1", [resumed.id]);
    await at.sql("update runs set state = 'completed' where id = $1", [over.id]);
    const not = [...others, over.id, '999999999'];
    const ids = [own.id, resumed.id, ...not, 'none'];
    expect((await at.store.runs.notHeld(ids)).toSorted()).toEqual(not.toSorted());
    expect(await at.store.runs.notHeld([])).toEqual([]);
  });

  it('gets the variables that its former owner has fetched', async () => {
    const id = await foreign();
    const result = { status: 'ok' } as const;
    const noted = await at.store.runs.noteFetched(id, { result, variables: { name: 'Ana' } });
    expect(noted).toEqual({ state: 'initialized', isOwn: false });
    const run = await at.store.runs.find(id);
    expect(run?.initialContext).toMatchObject({ name: 'Ana' });
    expect(run?.logs).toMatchObject({ pre_call_fetch: { status: 'ok' } });
    expect(await at.store.runs.noteFetched('999999', { result, variables: {} })).toBeUndefined();
  });

  const alive = (name: string, epoch: number) =>
    at.sql('insert into nodes (name, epoch, started_at, seen_at) values ($1, $2, now(), now())', [
      name,
      epoch,
    ]);

  // Its PBX has the channel, and no process of this gateway has the call.
  it('that talks over a PBX is taken from a dead owner, whose writes are refused', async () => {
    const id = await foreign('running');
    expect(await at.store.runs.takeLeft(id)).toMatchObject({ id, state: 'running' });
    expect(await at.store.runs.owner(id)).toMatchObject({ isOwn: true });
    const [row] = await at.sql('select fenced_epochs from runs where id = $1', [id]);
    expect(row).toEqual({ fenced_epochs: ['7'] });
    // Again: by crash recovery of the same process before.
    expect(await at.store.runs.takeLeft(id)).toMatchObject({ id });
    expect(await at.sql('select fenced_epochs from runs where id = $1', [id])).toEqual([row]);
  });

  it('that talks over a PBX is taken from a process of the own gateway, and from no living other', async () => {
    const maker = await runMaker(at);
    const own = await moved((await maker.make()).id, 'running');
    const other = await moved((await maker.make()).id, 'running');
    const api = `${at.store.node}#api`;
    await at.sql('update runs set owner_node = $1 where id = $2', [api, own]);
    await alive(api, 7);
    await alive('elsewhere', 7);
    expect(await at.store.runs.takeLeft(other)).toBeUndefined();
    expect(await at.store.runs.takeLeft(own)).toMatchObject({ id: own });
    await at.sql('delete from nodes where name = any($1)', [[api, 'elsewhere']]);
    expect(await at.store.runs.takeLeft(other)).toMatchObject({ id: other });
  });

  it.each(['initialized', 'completed'])(
    'that is %s is not taken as one that talks',
    async (state) => {
      const id = await foreign(state);
      expect(await at.store.runs.takeLeft(id)).toBeUndefined();
      expect(await at.store.runs.takeLeft('none')).toBeUndefined();
    },
  );

  it('whose PBX another gateway holds is left to that one while it talks', async () => {
    const id = await foreign('running');
    const { organizationId } = at.owner;
    const { id: configurationId } = await at.store.telephony.createConfiguration(organizationId, {
      name: 'PBX',
      provider: 'ari',
      isDefaultOutbound: false,
      credentials: { provider: 'ari' },
      accountId: null,
      secretFields: [],
    });
    await at.sql('update runs set configuration_id = $1 where id = $2', [configurationId, id]);
    const until = new Date(at.clock.now() + 5_000);
    await at.sql(
      'insert into configuration_leases (configuration_id, node, lease_until) values ($1, $2, $3)',
      [configurationId, 'other#1', until],
    );
    const orphans = async () => (await at.store.runs.takeOrphaned()).map((run) => run.id);
    expect(await orphans()).not.toContain(id);
    at.clock.advance(5_001);
    expect(await orphans()).toContain(id);
    // The own gateway's other processes hold PBXs for it.
    await at.sql("update runs set owner_node = 'elsewhere', owner_epoch = 7 where id = $1", [id]);
    await at.sql('update configuration_leases set node = $1, lease_until = $2', [
      `${at.store.node}#1`,
      new Date(at.clock.now() + 5_000),
    ]);
    expect(await orphans()).toContain(id);
  });
});
