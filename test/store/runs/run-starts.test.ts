// Runs that clients begin, on both engines: keys of requests, and runs without a call. Source: contract
// §6.1 and §13.1 item 8.

import { Client } from 'pg';
import { describe, expect, it, vi } from 'vitest';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import type { NewRun } from '../../../src/store/runs/new-run.ts';
import type { CallOfRun } from '../../../src/store/runs/run-starts.ts';
import type { StartKey } from '../../../src/store/runs/start-batch.ts';
import { engines } from '../databases.ts';
import { type TestStore, withStore } from '../engines.ts';
import { type RunMaker, runMaker } from './run-rows.ts';

const DAY_MS = 86_400_000;
const KEY: StartKey = { key: 'order-7', requestHash: 'a' };

function newRun(at: TestStore, { workflowId, definitionId, configurationId }: RunMaker): NewRun {
  return {
    organizationId: at.owner.organizationId,
    workflowId,
    definitionId,
    configurationId,
    name: 'WR-API-1',
    mode: 'twilio',
    callType: 'outbound',
    providerCallId: null,
    initialContext: { a: 1 },
    gatheredContext: {},
    logs: {},
  };
}

describe.each(engines())('starts on %s', (engine) => {
  const at = withStore(engine);
  const starts = () => at.store.starts;

  it('with one key begin one run, however many come at the same moment', async () => {
    const input = newRun(at, await runMaker(at));
    const all = await Promise.all(Array.from({ length: 8 }, () => starts().start(input, 100, KEY)));
    expect(new Set(all.map(({ run }) => run.id)).size).toBe(1);
    expect(all.filter(({ isNew }) => isNew)).toHaveLength(1);
    const known = await starts().startedBy(input.organizationId, KEY);
    expect(known?.id).toBe(all[0]?.run.id);
  });

  it('without a key begin a run each', async () => {
    const input = newRun(at, await runMaker(at));
    const one = await starts().start(input, 100, undefined);
    const other = await starts().start(input, 100, undefined);
    expect([one.isNew, other.isNew, one.run.id === other.run.id]).toEqual([true, true, false]);
  });

  it.each([
    { limit: 100, sent: 'a transaction', statements: ['begin', 'select', 'insert', 'commit'] },
    { limit: undefined, sent: 'one statement', statements: ['with'] },
  ])('that come together share $sent and each gets its own run', async (each) => {
    const input = newRun(at, await runMaker(at));
    await at.sql('update organizations set concurrent_call_limit = 100');
    const statements: string[] = [];
    const query = Client.prototype.query;
    const spy = vi.spyOn(Client.prototype, 'query').mockImplementation(function (
      this: Client,
      ...from
    ) {
      const [text] = from as unknown[];
      statements.push(String(text).trim().split(/\s/, 1)[0] ?? '');
      return Reflect.apply(query, this, from);
    });
    const names = Array.from({ length: 20 }, (_each, nth) => `WR-API-${nth}`);
    const started = await Promise.all(
      names.map((name) => starts().start({ ...input, name }, each.limit, undefined)),
    ).finally(() => spy.mockRestore());
    expect(started.map(({ run }) => run.name)).toEqual(names);
    expect(started.every(({ isNew }) => isNew)).toBe(true);
    expect(new Set(started.map(({ run }) => run.id)).size).toBe(20);
    expect(statements).toEqual([...each.statements, ...each.statements]);
  });

  it('store the same run in one statement as in a transaction', async () => {
    const input = {
      ...newRun(at, await runMaker(at)),
      initialContext: { nested: { list: [1, null, 'é'] }, lone: '\ud800', nul: 'a\0b' },
      gatheredContext: { call_tags: ['vip'] },
      logs: { at: 7 },
    };
    const { run: one } = await starts().start(input, undefined, undefined);
    const { run: other } = await starts().start(input, 100, undefined);
    expect({ ...one, id: other.id }).toEqual(other);
    expect(one.initialContext).toEqual({
      nested: { list: [1, null, 'é'] },
      lone: '\uFFFD',
      nul: 'ab',
    });
    const [first, second] = await at.sql("select to_jsonb(runs) - 'id' as row from runs");
    expect(first).toEqual(second);
  });

  it('that come together begin as long as there is room', async () => {
    const input = newRun(at, await runMaker(at));
    const all = await Promise.allSettled(
      Array.from({ length: 12 }, () => starts().start(input, 7, undefined)),
    );
    const refused = all.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
    expect(refused.map(codeOf)).toEqual(Array(5).fill('CALL_LIMIT_REACHED'));
    expect(refused[0]).toMatchObject({ facts: { limit: 7 } });
    expect(await at.sql('select id from runs')).toHaveLength(7);
  });

  it('keep to the limit of their organization where none is given', async () => {
    const input = newRun(at, await runMaker(at));
    await at.sql('update organizations set concurrent_call_limit = 1');
    expect((await starts().start(input, undefined, undefined)).isNew).toBe(true);
    await expect(starts().start(input, undefined, undefined)).rejects.toMatchObject({
      code: 'CALL_LIMIT_REACHED',
      facts: { limit: 1 },
    });
  });

  it('that come together begin as long as their organization has room, the first first', async () => {
    const input = newRun(at, await runMaker(at));
    await at.sql('update organizations set concurrent_call_limit = 5');
    await starts().start(input, undefined, undefined);
    const all = await Promise.allSettled(
      Array.from({ length: 9 }, () => starts().start(input, undefined, undefined)),
    );
    const refused = all.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
    expect(all.map(({ status }) => status === 'fulfilled')).toEqual(
      all.map((_each, nth) => nth < 4),
    );
    expect(refused.map(codeOf)).toEqual(Array(5).fill('CALL_LIMIT_REACHED'));
    expect(refused[0]).toMatchObject({ facts: { limit: 5 } });
  });

  it('of an organization that is gone are refused', async () => {
    const input = { ...newRun(at, await runMaker(at)), organizationId: '999999' };
    await expect(starts().start(input, undefined, undefined)).rejects.toMatchObject({
      code: 'CALL_LIMIT_REACHED',
      facts: { limit: 0 },
    });
  });

  it.runIf(engine === 'server')(
    'count the calls of another node that begin meanwhile',
    async () => {
      const input = newRun(at, await runMaker(at));
      await at.sql('update organizations set concurrent_call_limit = 1');
      const { run } = await starts().start(input, undefined, undefined);
      await at.store.runs.patch(run.id, { state: 'completed' });
      await at.sql('begin');
      await at.sql('select from organizations for no key update');
      await at.sql("update runs set state = 'initialized' where id = $1", [run.id]);
      const started = starts()
        .start(input, undefined, undefined)
        .catch((error: unknown) => codeOf(error));
      await vi.waitFor(async () =>
        expect(await at.sql('select from pg_locks where not granted')).toHaveLength(1),
      );
      await at.sql('commit');
      expect(await started).toBe('CALL_LIMIT_REACHED');
    },
  );

  it('that come together with one key for two requests begin one run', async () => {
    const input = newRun(at, await runMaker(at));
    const other = { ...KEY, requestHash: 'b' };
    const all = await Promise.allSettled(
      [KEY, KEY, other, KEY].map((key) => starts().start(input, 100, key)),
    );
    expect(all.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    expect(await at.sql('select id from runs')).toHaveLength(1);
  });

  it('are not refused because of another that cannot be stored', async () => {
    const input = newRun(at, await runMaker(at));
    const bad = { ...input, workflowId: '999999' };
    const all = await Promise.allSettled(
      [input, input, bad, input].map((each) => starts().start(each, 100, undefined)),
    );
    expect(all.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
  });

  it('refuse a key that was used for another request, and leave no run', async () => {
    const input = newRun(at, await runMaker(at));
    await starts().start(input, 100, KEY);
    const other = { ...KEY, requestHash: 'b' };
    await expect(starts().start(input, 100, other)).rejects.toMatchObject({
      code: 'START_KEY_REUSED',
    });
    await expect(starts().startedBy(input.organizationId, other)).rejects.toMatchObject({
      code: 'START_KEY_REUSED',
    });
    expect(await at.sql('select id from runs')).toHaveLength(1);
  });

  it('remove a key after a day, and delete what has lapsed', async () => {
    const input = newRun(at, await runMaker(at));
    const first = await starts().start(input, 100, KEY);
    await starts().start(input, 100, { key: 'another', requestHash: 'x' });
    at.clock.advance(DAY_MS);
    expect(await starts().startedBy(input.organizationId, KEY)).toBeUndefined();
    const again = await starts().start(input, 100, { ...KEY, requestHash: 'b' });
    expect(again.isNew).toBe(true);
    expect(again.run.id).not.toBe(first.run.id);
    expect(await at.sql('select key from start_keys')).toEqual([{ key: KEY.key }]);
  });

  it('keep the keys of organizations apart', async () => {
    const input = newRun(at, await runMaker(at));
    await starts().start(input, 100, KEY);
    const foreign = { ...KEY, requestHash: 'b' };
    expect(await starts().startedBy('999999', foreign)).toBeUndefined();
    expect(await starts().startedBy('x', KEY)).toBeUndefined();
  });

  it('that are over the limit keep no key', async () => {
    const input = newRun(at, await runMaker(at));
    const refused = await starts()
      .start(input, 0, KEY)
      .catch((error: unknown) => codeOf(error));
    expect(refused).toBe('CALL_LIMIT_REACHED');
    expect((await starts().start(input, 1, KEY)).isNew).toBe(true);
    // It has its place already.
    expect((await starts().start(input, 1, KEY)).isNew).toBe(false);
  });
});

describe.each(engines())('a run without a call on %s', (engine) => {
  const at = withStore(engine);
  const starts = () => at.store.starts;

  const callOf = (made: RunMaker, runId: string, more: Partial<CallOfRun> = {}): CallOfRun => ({
    organizationId: at.owner.organizationId,
    workflowId: made.workflowId,
    runId,
    mode: 'ari',
    configurationId: made.configurationId,
    initialContext: { b: 2 },
    gatheredContext: { provider: 'ari' },
    ...more,
  });

  it('takes no place and is not closed by recovery, until it is started', async () => {
    const made = await runMaker(at);
    const { organizationId } = at.owner;
    const idle = await starts().createIdle({
      ...newRun(at, made),
      mode: 'smallwebrtc',
      configurationId: null,
    });
    expect(idle).toMatchObject({ state: 'initialized', configurationId: null });
    expect(await at.store.runs.countOpen()).toBe(0);
    expect(await at.store.runs.openRuns()).toEqual([]);
    await made.make();
    const { run, isNew } = await starts().startIdle(callOf(made, idle.id), 2, undefined);
    expect([run.id, isNew]).toEqual([idle.id, true]);
    expect(run).toMatchObject({
      mode: 'ari',
      callType: 'outbound',
      configurationId: made.configurationId,
      initialContext: { a: 1, b: 2 },
      gatheredContext: { provider: 'ari' },
    });
    expect(await at.store.runs.countOpen()).toBe(2);
    const page = {
      filter: {},
      sortBy: 'created_at',
      descending: true,
      limit: 9,
      offset: 0,
    } as const;
    expect((await at.store.runs.list({ organizationId }, page)).total).toBe(2);
  });

  it('is started once, by its own agent, within the limit', async () => {
    const made = await runMaker(at);
    const idle = await starts().createIdle(newRun(at, made));
    const refused = (more: Partial<CallOfRun>, limit = 10) =>
      starts()
        .startIdle(callOf(made, idle.id, more), limit, undefined)
        .then(
          () => 'started',
          (error: unknown) => codeOf(error),
        );
    expect(await refused({ runId: '999999' })).toBe('RUN_NOT_FOUND');
    expect(await refused({ runId: 'x' })).toBe('RUN_NOT_FOUND');
    expect(await refused({ organizationId: '999999' })).toBe('RUN_NOT_FOUND');
    expect(await refused({ workflowId: '999999' })).toBe('RUN_OF_OTHER_WORKFLOW');
    expect(await refused({}, 0)).toBe('CALL_LIMIT_REACHED');
    const both = await Promise.all([refused({}), refused({})]);
    expect(both.sort()).toEqual(['RUN_HAS_CALL', 'started']);
    expect(await refused({ workflowId: '999999' })).toBe('RUN_HAS_CALL');
  });

  it('gets no call once it is closed, or if it is a text chat', async () => {
    const made = await runMaker(at);
    for (const state of ['completed', 'running'] as const) {
      const { id } = await starts().createIdle(newRun(at, made));
      await at.store.runs.patch(id, { state });
      const started = starts().startIdle(callOf(made, id), 10, undefined);
      expect(codeOf(await started.catch((error: unknown) => error))).toBe('RUN_HAS_CALL');
    }
  });

  it('is known by the key of the request that started it', async () => {
    const made = await runMaker(at);
    const idle = await starts().createIdle(newRun(at, made));
    await starts().startIdle(callOf(made, idle.id), 10, KEY);
    const again = await starts().startIdle(callOf(made, idle.id), 10, KEY);
    expect([again.run.id, again.isNew]).toEqual([idle.id, false]);
  });
});
