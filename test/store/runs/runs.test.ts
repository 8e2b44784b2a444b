// Runs, lists and logs on both engines. Source: contract §6, §6.4 and §7.6, §13.1 item 9.

import { describe, expect, it } from 'vitest';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import type { CallEvent } from '../../../src/model/call-event.ts';
import type { Run } from '../../../src/model/run.ts';
import type { RunPage, RunScope } from '../../../src/store/runs/run-filters.ts';
import type { NewRun } from '../../../src/store/runs/run-insertion.ts';
import { TAKEN_MAX } from '../../../src/store/runs/run-owners.ts';
import type { RunPatch } from '../../../src/store/runs/runs.ts';
import { engines } from '../databases.ts';
import { type TestStore, withStore } from '../engines.ts';
import { loseAnswer, statementsSent } from '../sent-statements.ts';

const PAGE: RunPage = {
  filter: {},
  sortBy: 'created_at',
  descending: true,
  limit: 50,
  offset: 0,
};

interface Bench {
  workflowId: string;
  definitionId: string;
  configurationId: string;
}

async function bench(at: TestStore, account = 'Main'): Promise<Bench> {
  const { workflow, version } = await at.store.workflows.create(at.owner, {
    name: 'Desk',
    triggerPaths: [],
    definition: { nodes: [], edges: [] },
    configurations: {},
    templateContextVariables: {},
  });
  const configuration = await at.store.telephony.createConfiguration(at.owner.organizationId, {
    name: account,
    provider: 'twilio',
    isDefaultOutbound: true,
    credentials: {},
    accountId: `AC ${account}`,
    secretFields: [],
  });
  return { workflowId: workflow.id, definitionId: version.id, configurationId: configuration.id };
}

function scope(at: TestStore, { workflowId }: Bench): RunScope {
  return { organizationId: at.owner.organizationId, workflowId };
}

async function start(
  at: TestStore,
  on: Bench,
  limit = 100,
  callId: string | null = null,
  more: Partial<NewRun> = {},
): Promise<Run> {
  return (
    await at.store.runs.create(
      {
        ...on,
        organizationId: at.owner.organizationId,
        name: 'WR-API-1234',
        mode: 'twilio',
        callType: 'outbound',
        providerCallId: callId,
        initialContext: { phone_number: '+1', nested: { a: 1 } },
        gatheredContext: {},
        logs: {},
        ...more,
      },
      limit,
    )
  ).run;
}

function newCall(on: Bench, providerCallId: string | null): Omit<NewRun, 'organizationId'> {
  const contexts = { initialContext: {}, gatheredContext: {}, logs: {} };
  return {
    ...on,
    ...contexts,
    name: 'Inbound',
    mode: 'twilio',
    callType: 'inbound',
    providerCallId,
  };
}

function event(runId: string, seq: number, digit = '1'): CallEvent {
  return {
    runId,
    seq,
    at: 1_768_467_600_123 + seq,
    mediaMs: seq * 20.5,
    body: { type: 'dtmf', digit },
  };
}

describe.each(engines())('runs on %s', (engine) => {
  const at = withStore(engine);

  it('counts those that are not completed', async () => {
    const on = await bench(at);
    expect(await at.store.runs.countOpen()).toBe(0);
    const run = await start(at, on);
    await start(at, on);
    expect(await at.store.runs.countOpen()).toBe(2);
    await at.store.runs.patch(run.id, { state: 'completed' });
    expect(await at.store.runs.countOpen()).toBe(1);
  });

  it('gives back what was stored', async () => {
    const on = await bench(at);
    const run = await start(at, on, 100, 'CA1');
    expect(run).toMatchObject({ state: 'initialized', callType: 'outbound', disposition: null });
    expect(run.initialContext).toEqual({ phone_number: '+1', nested: { a: 1 } });
    expect(await at.store.runs.get(at.owner.organizationId, run.id)).toEqual(run);
    expect(await at.store.runs.find(run.id)).toEqual(run);
    expect(await at.store.runs.findByProviderCall(on.configurationId, 'CA1')).toEqual(run);
    expect(await at.store.runs.findByProviderCall(on.configurationId, 'CA2')).toBeUndefined();
  });

  it('gives one run to a provider call whose webhook comes twice at the same time', async () => {
    const on = await bench(at);
    const [one, other] = await Promise.all([start(at, on, 100, 'CA1'), start(at, on, 100, 'CA1')]);
    expect(other.id).toBe(one.id);
  });

  it('gives one run to a provider call, in one statement, though its answer is lost', async () => {
    const on = await bench(at);
    const call = { ...newCall(on, 'CA1'), organizationId: at.owner.organizationId };
    const sent = statementsSent();
    const { run } = await at.store.runs.create(call).finally(() => sent.stop());
    expect(sent.verbs).toEqual(['with']);
    const lost = loseAnswer(/insert into runs/);
    const other = await at.store.runs
      .create({ ...call, providerCallId: 'CA2' })
      .finally(() => lost.stop());
    const ids = [{ id: run.id }, { id: other.run.id }];
    expect(await at.sql('select id from runs order by id')).toEqual(ids);
  });

  it('never passes the limit, however many start at the same moment', async () => {
    const on = await bench(at);
    const tries = await Promise.all(
      Array.from({ length: 20 }, () =>
        start(at, on, 3).then(
          () => 'started',
          (error: unknown) => codeOf(error),
        ),
      ),
    );
    expect(tries.filter((each) => each === 'started')).toHaveLength(3);
    expect(tries.filter((each) => each === 'CALL_LIMIT_REACHED')).toHaveLength(17);
  });

  it("reports whether a provider's call is new", async () => {
    const on = await bench(at);
    const organizationId = at.owner.organizationId;
    const call = { ...newCall(on, 'CA1'), organizationId };
    const first = await at.store.runs.create(call);
    expect(first.isNew).toBe(true);
    expect(await at.store.runs.create(call, 1)).toEqual({ ...first, isNew: false });
    expect((await at.store.runs.create({ ...call, providerCallId: 'CA2' })).isNew).toBe(true);
  });

  it("keeps to the organization's own limit where none is given", async () => {
    const on = await bench(at);
    const call = { ...newCall(on, null), organizationId: at.owner.organizationId };
    await at.sql('update organizations set concurrent_call_limit = 1');
    await at.store.runs.create(call);
    const second = at.store.runs.create(call);
    await expect(second).rejects.toMatchObject({ code: 'CALL_LIMIT_REACHED', facts: { limit: 1 } });
    const nobodys = at.store.runs.create({ ...call, organizationId: '999999' });
    await expect(nobodys).rejects.toMatchObject({ code: 'CALL_LIMIT_REACHED' });
  });

  it('patches a run that is initialized, and no other', async () => {
    const on = await bench(at);
    const { id } = await start(at, on);
    const { runs } = at.store;
    const begin = () =>
      runs.patchInitialized(id, { state: 'running', initialContext: { added: true } });
    expect(await Promise.all([begin(), begin()])).toEqual(expect.arrayContaining([true, false]));
    const begun = { state: 'running', initialContext: { phone_number: '+1', added: true } };
    expect(await runs.find(id)).toMatchObject(begun);
    await runs.patch(id, { state: 'completed' });
    expect(await begin()).toBe(false);
    expect(await runs.patchInitialized('999999', { state: 'running' })).toBe(false);
    expect(await runs.patchInitialized('none', { state: 'running' })).toBe(false);
  });

  it('has room again when a run completes', async () => {
    const on = await bench(at);
    const run = await start(at, on, 1);
    await expect(start(at, on, 1)).rejects.toMatchObject({ code: 'CALL_LIMIT_REACHED' });
    await at.store.runs.patch(run.id, { state: 'completed' });
    await start(at, on, 1);
  });

  it('merges objects by top-level key and replaces the rest', async () => {
    const run = await start(at, await bench(at));
    await at.store.runs.patch(run.id, {
      gatheredContext: { a: { x: 1 }, b: 1 },
      usageInfo: { a: 1 },
    });
    const after = await at.store.runs.patch(run.id, {
      gatheredContext: { a: { y: 2 } },
      initialContext: { extra: true },
      usageInfo: { b: 2 },
      recordingKey: 'recordings/1.wav',
      startedAt: new Date(at.clock.now()),
    });
    expect(after?.gatheredContext).toEqual({ a: { y: 2 }, b: 1 });
    expect(after?.initialContext).toEqual({ phone_number: '+1', nested: { a: 1 }, extra: true });
    expect(after?.usageInfo).toEqual({ b: 2 });
    expect(after).toMatchObject({ recordingKey: 'recordings/1.wav' });
    expect(after?.startedAt).toEqual(new Date(at.clock.now()));
  });

  it("loses none of many writers' keys", async () => {
    const run = await start(at, await bench(at));
    const keys = Array.from({ length: 30 }, (_, i) => `k${i}`);
    await Promise.all(
      keys.map((key) => at.store.runs.patch(run.id, { gatheredContext: { [key]: 1 } })),
    );
    const after = await at.store.runs.find(run.id);
    expect(Object.keys(after?.gatheredContext ?? {}).sort()).toEqual([...keys].sort());
  });

  it('moves forward only, and keeps the end of a completed run', async () => {
    const run = await start(at, await bench(at));
    const { runs } = at.store;
    const endedAt = new Date(at.clock.now());
    expect((await runs.patch(run.id, { state: 'running' }))?.state).toBe('running');
    expect((await runs.patch(run.id, { state: 'initialized' }))?.state).toBe('running');
    await runs.patch(run.id, { state: 'completed', disposition: 'sold', durationS: 12.5, endedAt });
    const after = await runs.patch(run.id, {
      state: 'running',
      disposition: 'busy',
      durationS: 99,
      endedAt: new Date(0),
      annotations: { tags: ['late'] },
    });
    expect(after).toMatchObject({
      state: 'completed',
      disposition: 'sold',
      durationS: 12.5,
      endedAt,
    });
    expect(after?.annotations).toEqual({ tags: ['late'] });
  });

  // A clock that was set back gave an end before the start.
  it('ends after its start by its length where the wall clock was set back', async () => {
    const run = await start(at, await bench(at));
    const { runs } = at.store;
    const startedAt = new Date(at.clock.now());
    const endedAt = new Date(at.clock.now() - 3_600_000);
    await runs.patch(run.id, { state: 'running', startedAt });
    const after = await runs.patch(run.id, { state: 'completed', durationS: 12.5, endedAt });
    expect(after?.endedAt).toEqual(new Date(startedAt.getTime() + 12_500));
  });

  it('changes nothing for an empty patch, and finds no run of another organization', async () => {
    const run = await start(at, await bench(at));
    const { runs } = at.store;
    expect(await runs.patch(run.id, {})).toEqual(run);
    expect(await runs.get('999999', run.id)).toBeUndefined();
    expect(await runs.get(at.owner.organizationId, 'abc')).toBeUndefined();
    expect(await runs.find('999999')).toBeUndefined();
    expect(await runs.patch('999999', { state: 'completed' })).toBeUndefined();
    expect(await runs.findByToken('nobody')).toBeUndefined();
  });

  it('appends a callback once, with any number of concurrent requests', async () => {
    const run = await start(at, await bench(at));
    const { runs } = at.store;
    const deliver = (key: string) => runs.appendCallback(run.id, key, { status: key });
    const first = await Promise.all([1, 2, 3].map(() => deliver('ringing')));
    expect(first.sort()).toEqual([false, false, true]);
    const many = Array.from({ length: 20 }, (_, i) => `s${i}`);
    await Promise.all(many.map(deliver));
    expect(await deliver('ringing')).toBe(false);
    const stored = (await runs.find(run.id))?.logs['telephony_status_callbacks'];
    expect(stored).toHaveLength(21);
    expect(await runs.appendCallback('999999', 'x', {})).toBe(false);
  });

  it('keeps the first five hundred callbacks of a run', async () => {
    const run = await start(at, await bench(at));
    const entries = Array.from({ length: 499 }, (_, i) => ({ i }));
    await at.store.runs.patch(run.id, { logs: { telephony_status_callbacks: entries } });
    expect(await at.store.runs.appendCallback(run.id, 'a', { i: 'a' })).toBe(true);
    expect(await at.store.runs.appendCallback(run.id, 'b', { i: 'b' })).toBe(true);
    const after = await at.store.runs.find(run.id);
    expect(after?.logs['telephony_status_callbacks']).toHaveLength(500);
  });

  it('mints one public token, with any number of concurrent requests', async () => {
    const run = await start(at, await bench(at));
    const tokens = await Promise.all([1, 2, 3].map(() => at.store.runs.publicToken(run.id)));
    expect(new Set(tokens).size).toBe(1);
    expect((await at.store.runs.findByToken(tokens[0] ?? ''))?.id).toBe(run.id);
    await expect(at.store.runs.publicToken('999999')).rejects.toMatchObject({
      code: 'RUN_NOT_FOUND',
    });
  });

  it('lists by age and by length, runs without a length last in both', async () => {
    const on = await bench(at);
    const lengths = [30, null, 10, 20];
    const ids: string[] = [];
    for (const durationS of lengths) {
      const run = await start(at, on);
      ids.push(run.id);
      if (durationS !== null) await at.store.runs.patch(run.id, { state: 'completed', durationS });
      at.clock.advance(1_000);
    }
    const order = async (page: Partial<RunPage>): Promise<number[]> => {
      const { runs, total } = await at.store.runs.list(scope(at, on), { ...PAGE, ...page });
      expect(total).toBe(4);
      return runs.map(({ id }) => ids.indexOf(id));
    };
    expect(await order({})).toEqual([3, 2, 1, 0]);
    expect(await order({ descending: false })).toEqual([0, 1, 2, 3]);
    expect(await order({ sortBy: 'duration' })).toEqual([0, 3, 2, 1]);
    expect(await order({ sortBy: 'duration', descending: false })).toEqual([2, 3, 0, 1]);
    expect(await order({ limit: 2, offset: 1 })).toEqual([2, 1]);
    expect((await at.store.runs.list({ ...scope(at, on), workflowId: '999999' }, PAGE)).total).toBe(
      0,
    );
  });

  it('filters by time, disposition, length and state', async () => {
    const on = await bench(at);
    const at0 = at.clock.now();
    const ends = [
      { disposition: 'sold', durationS: 10 },
      { disposition: 'busy', durationS: 20 },
      undefined,
    ];
    for (const end of ends) {
      const run = await start(at, on);
      if (end !== undefined) await at.store.runs.patch(run.id, { state: 'completed', ...end });
      at.clock.advance(60_000);
    }
    const count = async (filter: RunPage['filter']): Promise<number> =>
      (await at.store.runs.list(scope(at, on), { ...PAGE, filter })).total;
    expect(await count({})).toBe(3);
    expect(await count({ completed: true })).toBe(2);
    expect(await count({ completed: false })).toBe(1);
    expect(await count({ dispositions: ['sold', 'other'] })).toBe(1);
    expect(await count({ dispositions: [] })).toBe(0);
    expect(await count({ durationMinS: 15 })).toBe(1);
    expect(await count({ durationMaxS: 15 })).toBe(1);
    expect(await count({ createdFrom: new Date(at0 + 60_000) })).toBe(2);
    expect(await count({ createdTo: new Date(at0 + 60_000) })).toBe(2);
    expect(await count({ completed: true, dispositions: ['busy'], durationMinS: 20 })).toBe(1);
  });

  it('filters by ids, direction, mode, tags, tokens and parts of numbers', async () => {
    const on = await bench(at);
    const one = await start(at, on, 100, null, {
      callType: 'inbound',
      initialContext: { caller_number: '+4722334455', called_number: '+14155550101' },
    });
    const two = await start(at, on, 100, null, { mode: 'ari' });
    const { runs } = at.store;
    await runs.patch(one.id, {
      gatheredContext: { call_tags: ['busy', 'retry'] },
      costInfo: { dograh_token_usage: 120 },
    });
    await runs.patch(two.id, { gatheredContext: { call_tags: 'none' }, costInfo: {} });
    const { organizationId } = at.owner;
    const found = async (filter: RunPage['filter']): Promise<string[]> => {
      const { runs: some, total } = await runs.list({ organizationId }, { ...PAGE, filter });
      expect(total).toBe(some.length);
      return some.map(({ id }) => id);
    };
    expect(await found({})).toEqual([two.id, one.id]);
    expect(await found({ id: one.id })).toEqual([one.id]);
    expect(await found({ id: 'abc' })).toEqual([]);
    expect(await found({ workflowId: on.workflowId })).toHaveLength(2);
    expect(await found({ workflowId: '999999' })).toEqual([]);
    expect(await found({ campaignId: '999999' })).toEqual([]);
    expect(await found({ direction: 'inbound' })).toEqual([one.id]);
    expect(await found({ modes: ['ari', 'plivo'] })).toEqual([two.id]);
    expect(await found({ tags: ['busy'] })).toEqual([one.id]);
    expect(await found({ tags: ['busy', 'retry'] })).toEqual([one.id]);
    expect(await found({ tags: ['busy', 'sold'] })).toEqual([]);
    expect(await found({ callerNumber: '233' })).toEqual([one.id]);
    expect(await found({ callerNumber: '%' })).toEqual([]);
    expect(await found({ calledNumber: '5550101' })).toEqual([one.id]);
    expect(await found({ tokensMin: 100, tokensMax: 200 })).toEqual([one.id]);
    expect(await found({ tokensMax: 119 })).toEqual([]);
  });

  it('lists the runs of one organization and one campaign alone', async () => {
    const on = await bench(at);
    const { organizationId } = at.owner;
    const [campaign] = await at.sql(
      `insert into campaigns (organization_id, workflow_id, name, state, source_id, source_sync,
        retry, rate_per_second, created_at)
       values ($1, $2, 'c', 'running', 'k', 'completed', '{}', 1, now()) returning id`,
      [organizationId, on.workflowId],
    );
    const campaignId = String(campaign?.['id']);
    const dialled = await start(at, on, 100, null, { campaignId });
    await start(at, on);
    const { runs } = at.store;
    const count = async (by: RunScope): Promise<number> => (await runs.list(by, PAGE)).total;
    expect(await count({ organizationId })).toBe(2);
    expect(await count({ organizationId, campaignId })).toBe(1);
    expect(await count({ organizationId: '999999', campaignId })).toBe(0);
    expect(await count({ organizationId: '999999', workflowId: on.workflowId })).toBe(0);
    const page = await runs.list({ organizationId }, { ...PAGE, filter: { campaignId } });
    expect(page.runs).toEqual([dialled]);
    const past = await runs.list(
      { organizationId, workflowId: on.workflowId },
      { ...PAGE, offset: 5 },
    );
    expect(past).toEqual({ runs: [], total: 2 });
  });

  it('leaves the log of a completed run out of lists', async () => {
    const on = await bench(at);
    const run = await start(at, on);
    await at.store.runs.patch(run.id, { logs: { a: 1 } });
    const listed = async () => (await at.store.runs.list(scope(at, on), PAGE)).runs[0]?.logs;
    expect(await listed()).toEqual({ a: 1 });
    await at.store.runs.patch(run.id, { state: 'completed' });
    expect(await listed()).toEqual({});
  });

  it('counts the runs of a workflow', async () => {
    const on = await bench(at);
    await start(at, on);
    await start(at, on);
    const { organizationId } = at.owner;
    const { workflows } = at.store;
    expect(await workflows.getCounted(organizationId, on.workflowId)).toMatchObject({
      id: on.workflowId,
      totalRuns: 2,
    });
    expect(await workflows.getShown(organizationId, on.workflowId)).toMatchObject({
      workflow: { id: on.workflowId },
      version: { status: 'published' },
      totalRuns: 2,
    });
    for (const [owner, id] of [
      ['999999', on.workflowId],
      [organizationId, '999999'],
    ] as const) {
      expect(await workflows.getCounted(owner, id)).toBeUndefined();
      expect(await workflows.getShown(owner, id)).toBeUndefined();
    }
    const { workflowId: unused } = await bench(at, 'Second');
    const listed = await workflows.list(organizationId, ['active']);
    expect(listed.map(({ id, totalRuns }) => [id, totalRuns])).toEqual([
      [on.workflowId, 2],
      [unused, 0],
    ]);
  });

  it('keeps the run when its configuration goes', async () => {
    const on = await bench(at);
    const run = await start(at, on);
    await at.store.telephony.deleteConfiguration(at.owner.organizationId, on.configurationId);
    expect((await at.store.runs.find(run.id))?.configurationId).toBe(on.configurationId);
  });

  it('stores events in order and a repeated batch once', async () => {
    const run = await start(at, await bench(at));
    const { runs } = at.store;
    const events = Array.from({ length: 2_500 }, (_, i) => event(run.id, i + 1));
    await runs.appendEvents(events.slice(0, 1_500));
    await runs.appendEvents([]);
    await Promise.all([runs.appendEvents(events), runs.appendEvents(events.slice(1_000))]);
    expect(await runs.events(run.id)).toEqual(events);
    // The log is append-only: what is there stays as it is.
    await runs.appendEvents([event(run.id, 1, '9')]);
    expect((await runs.events(run.id))[0]).toEqual(events[0]);
    expect(await runs.events('abc')).toEqual([]);
  });

  it('stores events of several runs in one batch, with anything that was said', async () => {
    const on = await bench(at);
    const [one, two] = [await start(at, on), await start(at, on)];
    const said: CallEvent = {
      runId: two.id,
      seq: 1,
      at: 1,
      mediaMs: 0,
      body: { type: 'user.backchannel', text: `quotes ' " \\ {a,b} NULL \u{1F600} line\nend` },
    };
    await at.store.runs.appendEvents([event(one.id, 1), said]);
    expect(await at.store.runs.events(two.id)).toEqual([said]);
  });

  it('finds the runs of processes without a row and of former processes, not of running ones', async () => {
    const on = await bench(at);
    const { node, epoch } = at.store;
    for (const [name, itsEpoch] of [['living', 5] as const, ['living-former', null] as const]) {
      const seen = new Date(at.clock.now());
      await at.sql('insert into nodes values ($1, $2, $2, $3)', [name, seen, itsEpoch]);
    }
    const runOf = async (owner: string, itsEpoch: string | null): Promise<string> => {
      const { id } = await start(at, on);
      await at.sql('update runs set owner_node = $1, owner_epoch = $2 where id = $3', [
        ...[owner, itsEpoch, id],
      ]);
      return id;
    };
    const own = await start(at, on);
    const done = await start(at, on);
    await at.store.runs.patch(done.id, { state: 'completed' });
    await runOf('living', '5');
    // Of the version that knows no epochs: it takes over runs and leaves the epochs of others in them.
    await runOf('living-former', null);
    await runOf('living-former', '3');
    const left = [
      await runOf('gone', '5'),
      await runOf('living', '4'),
      await runOf('living', null),
      await runOf(node, '4'),
      await runOf(node, null),
    ];
    expect((await at.store.runs.takeOrphaned()).map(({ id }) => id)).toEqual(left);
    // They are ours now: nobody finds them while we live.
    expect(await at.store.runs.takeOrphaned()).toEqual([]);
    const owners = await at.sql(
      'select distinct owner_node, owner_epoch from runs where id = any($1)',
      [[own.id, ...left]],
    );
    expect(owners).toEqual([{ owner_node: node, owner_epoch: epoch }]);
    await at.sql('delete from nodes where name <> $1', [node]);
  });

  it('are taken in batches, and only of replaced processes where the others may enter again', async () => {
    const on = await bench(at);
    const runs = [await start(at, on), await start(at, on)];
    const [replaced = '', gone = ''] = runs.map(({ id }) => id);
    await at.sql('update runs set owner_epoch = 1 where id = $1', [replaced]);
    await at.sql("update runs set owner_node = 'gone' where id = $1", [gone]);
    const taken = async (onlyReplaced: boolean) =>
      (await at.store.runs.takeOrphaned({ onlyReplaced })).map(({ id }) => id);
    expect(await taken(true)).toEqual([replaced]);
    expect(await taken(true)).toEqual([]);
    expect(await taken(false)).toEqual([gone]);
    await at.sql(
      `insert into runs (organization_id, workflow_id, definition_id, name, mode, call_type, state,
         initial_context, gathered_context, logs, annotations, created_at, owner_node, owner_epoch)
       select organization_id, workflow_id, definition_id, name, mode, call_type, 'initialized',
         '{}', '{}', '{}', '{}', created_at, 'gone', 1
       from runs, generate_series(1, $2) where id = $1`,
      [gone, TAKEN_MAX + 1],
    );
    expect(await taken(false)).toHaveLength(TAKEN_MAX);
    expect(await taken(false)).toHaveLength(1);
  });

  it('belong to the node that has their media, whichever placed them', async () => {
    const run = await start(at, await bench(at));
    await at.sql("update runs set owner_node = 'placed-it' where id = $1", [run.id]);
    const ownerAfter = async (patch: RunPatch): Promise<unknown> => {
      await at.store.runs.patch(run.id, patch);
      const [row] = await at.sql('select owner_node from runs where id = $1', [run.id]);
      return row?.['owner_node'];
    };
    expect(await ownerAfter({ providerCallId: 'CA1' })).toBe('placed-it');
    expect(await ownerAfter({ state: 'running' })).toBe(at.store.node);
    await at.sql("update runs set owner_node = 'runs-it' where id = $1", [run.id]);
    expect(await ownerAfter({ state: 'running' })).toBe('runs-it');
    expect(await ownerAfter({ state: 'completed' })).toBe('runs-it');
  });

  it('belong to the node that is about to answer them, until they have begun', async () => {
    const run = await start(at, await bench(at));
    await at.sql("update runs set owner_node = 'placed-it' where id = $1", [run.id]);
    expect(await at.store.runs.owner(run.id)).toEqual({ node: 'placed-it', isOwn: false });
    await at.store.runs.adopt(run.id);
    expect(await at.store.runs.owner(run.id)).toEqual({ node: at.store.node, isOwn: true });
    await at.sql("update runs set owner_node = 'runs-it', state = 'running' where id = $1", [
      run.id,
    ]);
    await at.store.runs.adopt(run.id);
    expect(await at.store.runs.owner(run.id)).toEqual({ node: 'runs-it', isOwn: false });
    expect(await at.store.runs.owner('999999')).toBeUndefined();
    await at.store.runs.adopt('none');
  });
});
