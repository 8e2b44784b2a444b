// Runs that clients begin, on both engines: keys of requests, and runs without a call. Source: contract
// §6.1 and §13.1 item 8.

import { describe, expect, it, vi } from 'vitest';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import { systemClock } from '../../../src/std/clock.ts';
import { systemRandom } from '../../../src/std/random.ts';
import { openDatabase } from '../../../src/store/db/connections.ts';
import { organizationTurns } from '../../../src/store/db/organization-lock.ts';
import { SERVER_PACE } from '../../../src/store/db/presence-pace.ts';
import type { NewRun } from '../../../src/store/runs/run-insertion.ts';
import { type CallOfRun, IdempotentRunStarts } from '../../../src/store/runs/run-starts.ts';
import type { StartKey } from '../../../src/store/runs/start-batch.ts';
import { engines } from '../databases.ts';
import { steeredTime, type TestStore, withStore } from '../engines.ts';
import { before, loseAnswer, statementsSent } from '../sent-statements.ts';
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

/** Starts of another process at the same database. */
function otherProcess(at: TestStore): { starts: IdempotentRunStarts; close: () => Promise<void> } {
  const { clock, log } = at;
  const ready = (): Promise<void> => Promise.resolve();
  const db = openDatabase(at.target(), { ready, clock: systemClock, log });
  const starts = new IdempotentRunStarts({
    db,
    clock,
    log,
    time: steeredTime(() => clock),
    random: systemRandom,
    pace: SERVER_PACE,
    callLimit: 10,

    node: 'other',
    epoch: '99',
    secrets: {} as never, // It opens none.
    organizationTurns: organizationTurns(),
  });
  return { starts, close: () => db.destroy() };
}

describe.each(engines())('starts on %s', (engine) => {
  const at = withStore(engine);
  const starts = () => at.store.starts;

  it('with one key begin one run, however many come at the same moment', async () => {
    const input = newRun(at, await runMaker(at));
    const all = await Promise.all(Array.from({ length: 8 }, () => starts().start(input, KEY)));
    expect(new Set(all.map(({ run }) => run.id)).size).toBe(1);
    expect(all.filter(({ isNew }) => isNew)).toHaveLength(1);
    const known = await starts().startedBy(input.organizationId, KEY);
    expect(known?.id).toBe(all[0]?.run.id);
  });

  it('without a key begin a run each', async () => {
    const input = newRun(at, await runMaker(at));
    const one = await starts().start(input, undefined);
    const other = await starts().start(input, undefined);
    expect([one.isNew, other.isNew, one.run.id === other.run.id]).toEqual([true, true, false]);
  });

  it.each([
    { what: 'without keys', keyOf: () => undefined },
    {
      what: 'with a key each',
      keyOf: (nth: number) => ({ key: `order-${nth}`, requestHash: 'a' }),
    },
  ])('$what that come together share a statement, and each gets its own run', async ({ keyOf }) => {
    const input = newRun(at, await runMaker(at));
    await at.sql('update organizations set concurrent_call_limit = 100');
    const names = Array.from({ length: 20 }, (_each, nth) => `WR-API-${nth}`);
    const sent = statementsSent();
    const started = await Promise.all(
      names.map((name, nth) => starts().start({ ...input, name }, keyOf(nth))),
    ).finally(() => sent.stop());
    expect(started.map(({ run }) => run.name)).toEqual(names);
    expect(started.every(({ isNew }) => isNew)).toBe(true);
    expect(new Set(started.map(({ run }) => run.id)).size).toBe(20);
    // The first alone, the others while it is under way.
    expect(sent.verbs).toEqual(['with', 'with']);
    const keys = await at.sql('select key, run_id from start_keys order by run_id');
    const all = started.map(({ run }, nth) => ({ key: keyOf(nth)?.key, run_id: run.id }));
    expect(keys).toEqual(all.filter(({ key }) => key !== undefined));
  });

  it('store what their client sent, as far as the database takes it', async () => {
    const input = {
      ...newRun(at, await runMaker(at)),
      initialContext: { nested: { list: [1, null, 'é'] }, lone: '\ud800', nul: 'a\0b' },
      gatheredContext: { call_tags: ['vip'] },
      logs: { at: 7 },
    };
    const { run } = await starts().start(input, undefined);
    expect(run).toMatchObject({ gatheredContext: { call_tags: ['vip'] }, logs: { at: 7 } });
    expect(run.initialContext).toEqual({
      nested: { list: [1, null, 'é'] },
      lone: '\uFFFD',
      nul: 'ab',
    });
  });

  it('with new keys and used ones among them get each their own, within the limit', async () => {
    const input = newRun(at, await runMaker(at));
    const { run: before } = await starts().start(input, KEY);
    await at.sql('update organizations set concurrent_call_limit = 3');
    const key = (name: string, requestHash = 'a') => ({ key: name, requestHash });
    // The first goes alone; the others wait for it, and go together.
    const keys = [
      key('n1'),
      key('n2'),
      KEY,
      key('n2'),
      key('n2', 'b'),
      key(KEY.key, 'b'),
      key('n3'),
    ];
    const results = await Promise.allSettled(
      keys.map((each) => starts().start({ ...input, name: each.key }, each)),
    );
    const [n1, n2, known, again, otherBody, otherKnown, beyond] = results.map((each) =>
      each.status === 'fulfilled' ? each.value : codeOf(each.reason),
    );
    expect(n1).toMatchObject({ isNew: true, run: { name: 'n1' } });
    expect(n2).toMatchObject({ isNew: true, run: { name: 'n2' } });
    expect(known).toEqual({ isNew: false, run: before });
    expect(again).toEqual({ ...(n2 as object), isNew: false });
    expect([otherBody, otherKnown]).toEqual(['START_KEY_REUSED', 'START_KEY_REUSED']);
    expect(beyond).toBe('CALL_LIMIT_REACHED');
  });

  // The runs of used keys are read after the others have begun: a failure of that read, or a run that was deleted before
  // it, refused them all, and runs stayed open that nobody dialled.
  it.each([
    ['cannot be read', () => Promise.reject(new Error('Query read timeout'))],
    ['is deleted at that moment', () => at.sql('delete from runs where name = $1', ['before'])],
  ])('begin though the run of another key among them %s', async (_what, meanwhile) => {
    const input = newRun(at, await runMaker(at));
    await starts().start({ ...input, name: 'before' }, KEY);
    const disturbed = before(/^select \* from "runs" where "id" = any/, meanwhile);
    const keys = ['n1', 'n2', KEY.key, 'n3'].map((key) => ({ key, requestHash: 'a' }));
    const results = await Promise.allSettled(
      keys.map((key) => starts().start({ ...input, name: key.key }, key)),
    ).finally(() => disturbed.stop());
    const isNew = results.map((each) =>
      each.status === 'fulfilled' ? each.value.isNew : codeOf(each.reason),
    );
    expect(isNew).toEqual([true, true, 'STORE_UNAVAILABLE', true]);
  });

  it('with a key are carried out once though the answer of the database is lost', async () => {
    const input = newRun(at, await runMaker(at));
    const lost = loseAnswer(/insert into start_keys/);
    const { run, isNew } = await starts()
      .start(input, KEY)
      .finally(() => lost.stop());
    expect(isNew).toBe(true);
    expect(await at.sql('select id from runs')).toEqual([{ id: run.id }]);
    expect(await starts().start(input, KEY)).toEqual({ run, isNew: false });
  });

  it('without a key fail if the answer of the database is lost: they would begin twice', async () => {
    const input = newRun(at, await runMaker(at));
    const lost = loseAnswer(/insert into runs/);
    const started = starts().start(input, undefined);
    await expect(started.finally(() => lost.stop())).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
    });
  });

  it('of two processes with one key at the same moment begin one run', async () => {
    const input = newRun(at, await runMaker(at));
    await at.sql('update organizations set concurrent_call_limit = 100');
    const other = otherProcess(at);
    try {
      for (let round = 0; round < 10; round++) {
        const key = { key: `order-${round}`, requestHash: 'a' };
        const results = await Promise.all(
          [starts(), other.starts, starts(), other.starts].map((each) => each.start(input, key)),
        );
        expect(new Set(results.map(({ run }) => run.id)).size).toBe(1);
        expect(results.filter(({ isNew }) => isNew)).toHaveLength(1);
        const body = { ...key, requestHash: 'b' };
        const reused = await Promise.allSettled(
          [starts(), other.starts].map((each) => each.start(input, body)),
        );
        expect(reused.map((each) => each.status === 'rejected' && codeOf(each.reason))).toEqual(
          Array(2).fill('START_KEY_REUSED'),
        );
      }
      expect(await at.sql('select id from runs')).toHaveLength(10);
    } finally {
      await other.close();
    }
  });

  it('keep to the limit of their organization where none is given', async () => {
    const input = newRun(at, await runMaker(at));
    await at.sql('update organizations set concurrent_call_limit = 1');
    expect((await starts().start(input, undefined)).isNew).toBe(true);
    await expect(starts().start(input, undefined)).rejects.toMatchObject({
      code: 'CALL_LIMIT_REACHED',
      facts: { limit: 1 },
    });
  });

  it('that come together begin as long as their organization has room, the first first', async () => {
    const input = newRun(at, await runMaker(at));
    await at.sql('update organizations set concurrent_call_limit = 5');
    await starts().start(input, undefined);
    const all = await Promise.allSettled(
      Array.from({ length: 9 }, () => starts().start(input, undefined)),
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
    await expect(starts().start(input, undefined)).rejects.toMatchObject({
      code: 'CALL_LIMIT_REACHED',
      facts: { limit: 0 },
    });
  });

  it.runIf(engine === 'server')(
    'count the calls of another node that begin meanwhile',
    async () => {
      const input = newRun(at, await runMaker(at));
      await at.sql('update organizations set concurrent_call_limit = 1');
      const { run } = await starts().start(input, undefined);
      await at.store.runs.patch(run.id, { state: 'completed' });
      await at.sql('begin');
      await at.sql('select from organizations for no key update');
      await at.sql("update runs set state = 'initialized' where id = $1", [run.id]);
      const started = starts()
        .start(input, undefined)
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
      [KEY, KEY, other, KEY].map((key) => starts().start(input, key)),
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
      [input, input, bad, input].map((each) => starts().start(each, undefined)),
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
    await starts().start(input, KEY);
    const other = { ...KEY, requestHash: 'b' };
    await expect(starts().start(input, other)).rejects.toMatchObject({
      code: 'START_KEY_REUSED',
    });
    await expect(starts().startedBy(input.organizationId, other)).rejects.toMatchObject({
      code: 'START_KEY_REUSED',
    });
    expect(await at.sql('select id from runs')).toHaveLength(1);
  });

  it('remove a key after a day, and delete what has lapsed', async () => {
    const input = newRun(at, await runMaker(at));
    const first = await starts().start(input, KEY);
    await starts().start(input, { key: 'another', requestHash: 'x' });
    at.clock.advance(DAY_MS);
    expect(await starts().startedBy(input.organizationId, KEY)).toBeUndefined();
    const again = await starts().start(input, { ...KEY, requestHash: 'b' });
    expect(again.isNew).toBe(true);
    expect(again.run.id).not.toBe(first.run.id);
    expect(await at.sql('select key from start_keys')).toEqual([{ key: KEY.key }]);
  });

  it('keep the keys of organizations apart', async () => {
    const input = newRun(at, await runMaker(at));
    await starts().start(input, KEY);
    const foreign = { ...KEY, requestHash: 'b' };
    expect(await starts().startedBy('999999', foreign)).toBeUndefined();
    expect(await starts().startedBy('x', KEY)).toBeUndefined();
  });

  it('that are over the limit keep no key', async () => {
    const input = newRun(at, await runMaker(at));
    await at.sql('update organizations set concurrent_call_limit = 0');
    const refused = await starts()
      .start(input, KEY)
      .catch((error: unknown) => codeOf(error));
    expect(refused).toBe('CALL_LIMIT_REACHED');
    await at.sql('update organizations set concurrent_call_limit = 1');
    expect((await starts().start(input, KEY)).isNew).toBe(true);
    // It has its place already.
    expect((await starts().start(input, KEY)).isNew).toBe(false);
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
    expect(await at.store.runs.takeOrphaned()).toEqual([]);
    await made.make();
    await at.sql('update organizations set concurrent_call_limit = 2');
    const { run, isNew } = await starts().startIdle(callOf(made, idle.id), undefined);
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
    const refused = (more: Partial<CallOfRun>) =>
      starts()
        .startIdle(callOf(made, idle.id, more), undefined)
        .then(
          () => 'started',
          (error: unknown) => codeOf(error),
        );
    expect(await refused({ runId: '999999' })).toBe('RUN_NOT_FOUND');
    expect(await refused({ runId: 'x' })).toBe('RUN_NOT_FOUND');
    expect(await refused({ organizationId: '999999' })).toBe('RUN_NOT_FOUND');
    expect(await refused({ workflowId: '999999' })).toBe('RUN_OF_OTHER_WORKFLOW');
    await at.sql('update organizations set concurrent_call_limit = 0');
    expect(await refused({})).toBe('CALL_LIMIT_REACHED');
    await at.sql('update organizations set concurrent_call_limit = 10');
    const both = await Promise.all([refused({}), refused({})]);
    expect(both.sort()).toEqual(['RUN_HAS_CALL', 'started']);
    expect(await refused({ workflowId: '999999' })).toBe('RUN_HAS_CALL');
  });

  it('gets no call once it is closed, or if it is a text chat', async () => {
    const made = await runMaker(at);
    for (const state of ['completed', 'running'] as const) {
      const { id } = await starts().createIdle(newRun(at, made));
      await at.store.runs.patch(id, { state });
      const started = starts().startIdle(callOf(made, id), undefined);
      expect(codeOf(await started.catch((error: unknown) => error))).toBe('RUN_HAS_CALL');
    }
  });

  it('is known by the key of the request that started it', async () => {
    const made = await runMaker(at);
    const idle = await starts().createIdle(newRun(at, made));
    await starts().startIdle(callOf(made, idle.id), KEY);
    const again = await starts().startIdle(callOf(made, idle.id), KEY);
    expect([again.run.id, again.isNew]).toEqual([idle.id, false]);
  });
});
