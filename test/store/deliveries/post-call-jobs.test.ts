// Completed runs that still need something, on both engines. Source: contract §8.10; a process may be
// killed at any line.

import { describe, expect, it } from 'vitest';
import { engines } from '../databases.ts';
import { withStore } from '../engines.ts';
import {
  completedRun,
  ground,
  openRun,
  otherOrganization,
  webhook,
} from '../runs/completed-runs.ts';
import { statementsSent } from '../sent-statements.ts';

const CLAIM = { limit: 10, except: [], leaseMs: 60_000 };
const PAGE = { limit: 50, offset: 0 };

describe.each(engines())('afterworks on %s', (engine) => {
  const at = withStore(engine);

  it('are due for every run that is completed, and only then', async () => {
    const on = await ground(at);
    const run = await openRun(at, on);
    await at.store.runs.patch(run.id, { state: 'running' });
    expect(await at.store.afterworks.claim(CLAIM)).toEqual([]);
    const endedAt = new Date(at.clock.now());
    await at.store.runs.patch(run.id, { state: 'completed', endedAt });
    const { organizationId } = on;
    expect(await at.store.afterworks.claim(CLAIM)).toEqual([
      { runId: run.id, organizationId, since: endedAt, claims: 1, isFollowed: false },
    ]);
  });

  it('are due whichever statement completes the run', async () => {
    const run = await openRun(at, await ground(at));
    await at.sql(`update runs set state = 'completed' where id = $1`, [run.id]);
    expect((await at.store.afterworks.claim(CLAIM)).map(({ runId }) => runId)).toEqual([run.id]);
  });

  it('are not due for a run of which it is known that nothing follows it', async () => {
    const on = await ground(at);
    const none = await openRun(at, on);
    await at.store.runs.patch(none.id, { state: 'completed', hasAfterwork: false });
    const run = await completedRun(at, on);
    expect((await at.store.afterworks.claim(CLAIM)).map(({ runId }) => runId)).toEqual([run.id]);
  });

  it('end for their own run alone', async () => {
    const on = await ground(at);
    const [run, other] = [await completedRun(at, on), await completedRun(at, on)];
    await at.store.afterworks.finish(run.id, [webhook()]);
    expect(await at.sql('select run_id from afterworks')).toEqual([{ run_id: other.id }]);
  });

  it('end in one statement, those that end together in one for all', async () => {
    const on = await ground(at);
    const runs = [
      await completedRun(at, on),
      await completedRun(at, on),
      await completedRun(at, on),
    ];
    const sent = statementsSent();
    await Promise.all(
      runs.map(({ id }, nth) => at.store.afterworks.finish(id, nth === 1 ? [webhook()] : [])),
    ).finally(() => sent.stop());
    // The first alone, the others while it is under way.
    expect(sent.verbs).toEqual(['with', 'with']);
    expect(await at.sql('select run_id from afterworks')).toEqual([]);
    expect(await at.sql('select run_id from deliveries')).toEqual([{ run_id: runs[1]?.id }]);
  });

  it('are neither kept nor lost without the transaction that completes the run', async () => {
    const run = await openRun(at, await ground(at));
    await at.sql('begin');
    await at.sql(`update runs set state = 'completed' where id = $1`, [run.id]);
    await at.sql('rollback'); // What a kill leaves of it.
    expect(await at.store.afterworks.claim(CLAIM)).toEqual([]);
    expect((await at.store.runs.find(run.id))?.state).toBe('initialized');
  });

  it('come back after the lease without a report', async () => {
    const run = await completedRun(at, await ground(at));
    expect(await at.store.afterworks.claim(CLAIM)).toHaveLength(1);
    at.clock.advance(59_999);
    expect(await at.store.afterworks.claim(CLAIM)).toEqual([]);
    at.clock.advance(1);
    expect(await at.store.afterworks.claim(CLAIM)).toMatchObject([{ runId: run.id, claims: 2 }]);
    await at.store.afterworks.postpone({ runId: run.id, claims: 2 }, 5_000);
    at.clock.advance(5_000);
    expect(await at.store.afterworks.claim(CLAIM)).toMatchObject([{ runId: run.id, claims: 3 }]);
  });

  it('that are given back are due at once, and that claim does not count', async () => {
    const run = await completedRun(at, await ground(at));
    const [work] = await at.store.afterworks.claim(CLAIM);
    await at.store.afterworks.giveBack({ runId: run.id, claims: work?.claims ?? 0 });
    expect(await at.store.afterworks.claim(CLAIM)).toMatchObject([{ runId: run.id, claims: 1 }]);
  });

  it('that another process has claimed meanwhile stay with it', async () => {
    const run = await completedRun(at, await ground(at));
    const [late] = await at.store.afterworks.claim(CLAIM);
    at.clock.advance(60_000);
    expect(await at.store.afterworks.claim(CLAIM)).toMatchObject([{ claims: 2 }]);
    const work = { runId: run.id, claims: late?.claims ?? 0 };
    await at.store.afterworks.postpone(work, 0);
    await at.store.afterworks.giveBack(work);
    expect(await at.store.afterworks.claim(CLAIM)).toEqual([]);
  });

  it('are over with the deliveries that they make, and are not due again', async () => {
    const on = await ground(at);
    const run = await completedRun(at, on);
    await at.store.afterworks.finish(run.id, [webhook(), webhook({ nodeId: 'other' })]);
    const endedAt = new Date(at.clock.now());
    await at.store.runs.patch(run.id, { state: 'completed', endedAt, annotations: { a: 1 } });
    at.clock.advance(100_000);
    expect(await at.store.afterworks.claim(CLAIM)).toEqual([]);
    const { deliveries, total } = await at.store.deliveries.list(on.organizationId, PAGE);
    expect(total).toBe(2);
    expect(deliveries).toMatchObject([
      { runId: run.id, nodeId: 'other', state: 'pending', attempts: 0, workflowId: on.workflowId },
      { runId: run.id, nodeId: 'hook', headers: [['X-Mine', 'yes']], body: '{"run":"42"}' },
    ]);
  });

  it('done twice by two processes make one delivery per run and node', async () => {
    const on = await ground(at);
    const run = await completedRun(at, on);
    await at.store.afterworks.finish(run.id, [webhook()]);
    await at.store.afterworks.finish(run.id, [webhook({ url: 'https://elsewhere.example' })]);
    const { deliveries } = await at.store.deliveries.list(on.organizationId, PAGE);
    expect(deliveries.map(({ url }) => url)).toEqual(['https://receiver.example/hook']);
  });

  it('of one organization do not wait behind the backlog of another', async () => {
    const busy = await ground(at);
    for (let i = 0; i < 5; i++) await completedRun(at, busy);
    at.clock.advance(10_000);
    const other = await ground(at, await otherOrganization(at));
    const run = await completedRun(at, other);
    const claimed = await at.store.afterworks.claim({ ...CLAIM, limit: 2 });
    expect(claimed.map(({ organizationId, isFollowed }) => [organizationId, isFollowed])).toEqual([
      [busy.organizationId, true],
      [other.organizationId, false],
    ]);
    expect(claimed[1]?.runId).toBe(run.id);
    const except = [busy.organizationId];
    expect(await at.store.afterworks.claim({ ...CLAIM, except })).toEqual([]);
    expect(await at.store.afterworks.claim(CLAIM)).toHaveLength(1);
  });

  it('annotate a run once per node, with all tags and added usage', async () => {
    const run = await completedRun(at, await ground(at));
    await at.store.runs.patch(run.id, {
      annotations: { tags: ['manual'], note: 'kept' },
      usageInfo: { llm: { 'openai|||m': { prompt_tokens: 5 } }, call_duration_seconds: 3 },
    });
    const usage = { key: 'QAAnalysis|||m', tokens: { prompt_tokens: 10, total_tokens: 12 } };
    const first = { key: 'qa_1', annotation: { model: 'm' }, tags: ['rude'], usage };
    await at.store.afterworks.annotate(run.id, first);
    await at.store.afterworks.annotate(run.id, { ...first, annotation: { model: 'again' } });
    const skipped = { skipped: true, reason: 'sampled_out' };
    const second = { key: 'qa_2', annotation: skipped, tags: [], usage: undefined };
    await at.store.afterworks.annotate(run.id, second);
    await at.store.afterworks.annotate(run.id, { ...first, key: 'qa_3', tags: ['rude', 'late'] });
    const stored = await at.store.runs.find(run.id);
    expect(stored?.annotations).toEqual({
      note: 'kept',
      tags: ['manual', 'rude', 'late'],
      qa_1: { model: 'm' },
      qa_2: skipped,
      qa_3: { model: 'm' },
    });
    expect(stored?.usageInfo).toEqual({
      llm: {
        'openai|||m': { prompt_tokens: 5 },
        'QAAnalysis|||m': { prompt_tokens: 20, total_tokens: 24 },
      },
      call_duration_seconds: 3,
    });
  });
});
