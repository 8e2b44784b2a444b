// Starts whose runs the database has made while its answer was lost. The client got an error, and the run stayed open, and
// counted among the organization's calls, until the process was started again.

import { describe, expect, it, vi } from 'vitest';
import { codeOf } from '../../../../src/errors/gateway-error.ts';
import { lateAnswer, loseAnswer } from '../../../store/sent-statements.ts';
import { type CallHarness, withCallHarness } from '../../call-harness.ts';
import { idleRun } from '../../idle-run.ts';

const held = withCallHarness();
const LOOK_MS = 15_000;
const KEYED = { idempotencyKey: 'order-7' };

async function watched(): Promise<CallHarness> {
  const harness = await held.harness.prepare();
  await harness.callControl.startJobs({ hasPbxs: false });
  return harness;
}

const codeOfStart = (start: Promise<unknown>) => start.then(() => 'started', codeOf);

/** A look, and what it begins. */
async function look({ clock, deps, at }: CallHarness): Promise<void> {
  const unplaced = vi.spyOn(deps.store.runs, 'unplaced');
  clock.advance(LOOK_MS);
  await vi.waitFor(() => expect(unplaced).toHaveBeenCalledTimes(1), { timeout: 10_000 });
  await unplaced.mock.results[0]?.value;
  unplaced.mockRestore();
  await at.store.runs.countOpen();
}

describe('a start whose answer of the database is lost', () => {
  it.each([
    { as: 'without a key', isIdle: false },
    { as: 'for a run that existed', isIdle: true },
  ])('$as is closed within half a minute, and gives its place back', async ({ isIdle }) => {
    const harness = await watched();
    const { store, sql } = harness.at;
    await sql('update organizations set concurrent_call_limit = 1');
    const lost = loseAnswer(isIdle ? /^commit/ : /insert into runs/);
    const started = isIdle ? harness.startTest({ runId: await idleRun(harness) }) : harness.start();
    expect(await codeOfStart(started)).toBe('STORE_UNAVAILABLE');
    lost.stop();
    expect(await codeOfStart(harness.start())).toBe('CALL_LIMIT_REACHED');
    await look(harness);
    expect(await store.runs.countOpen()).toBe(1);
    await look(harness);
    const [run] = await harness.runs();
    const done = await harness.ended({ id: run?.id ?? '' });
    expect(done).toMatchObject({ state: 'completed', disposition: 'error' });
    expect(await harness.bodies(done, 'fault')).toMatchObject([{ code: 'STORE_UNAVAILABLE' }]);
    expect(harness.dials).toEqual([]);
    expect(await codeOfStart(harness.start())).toBe('started');
  });

  it('with a key answers a repeated request with its failure', async () => {
    const harness = await watched();
    // Also the second time, after which it is not sent again.
    const lost = loseAnswer(/insert into start_keys/, 0, 2);
    expect(await codeOfStart(harness.start(KEYED))).toBe('STORE_UNAVAILABLE');
    lost.stop();
    await look(harness);
    await look(harness);
    await harness.until(async () => (await harness.at.store.runs.countOpen()) === 0);
    expect(await codeOfStart(harness.start(KEYED))).toBe('CALL_NOT_PLACED');
    expect(harness.dials).toEqual([]);
  });

  // It was told that the call had begun, until the run was closed half a minute later.
  it('with a key answers a request that comes again before a look with its failure, and is closed', async () => {
    const harness = await watched();
    const lost = loseAnswer(/insert into start_keys/, 0, 2);
    expect(await codeOfStart(harness.start(KEYED))).toBe('STORE_UNAVAILABLE');
    lost.stop();
    const again = await Promise.all([1, 2].map(() => codeOfStart(harness.start(KEYED))));
    expect(again).toEqual(['CALL_NOT_PLACED', 'CALL_NOT_PLACED']);
    const [run, ...others] = await harness.runs();
    expect([run, others]).toMatchObject([{ state: 'completed', disposition: 'error' }, []]);
    expect(harness.dials).toEqual([]);
  });
});

describe('a start that goes on', () => {
  it('is left alone while its answer is on its way at a look', async () => {
    const harness = await watched();
    const late = lateAnswer(/insert into runs/);
    const started = harness.start();
    await harness.until(async () => (await harness.at.store.runs.countOpen()) === 1);
    await look(harness);
    late.give();
    const { runId } = await started;
    await look(harness);
    await look(harness);
    expect((await harness.run(runId)).state).toBe('initialized');
    expect(harness.dials).toHaveLength(1);
  });

  it('is left alone by a request with its key that comes while its answer is on its way', async () => {
    const harness = await watched();
    const late = lateAnswer(/insert into start_keys/);
    const started = harness.start(KEYED);
    await harness.until(async () => (await harness.at.store.runs.countOpen()) === 1);
    const again = harness.start(KEYED);
    await look(harness);
    late.give();
    expect(await again).toEqual(await started);
    expect(harness.dials).toHaveLength(1);
  });

  it('is left alone while its provider does not answer', async () => {
    const harness = await watched();
    harness.rest.answer = 'hang';
    const started = codeOfStart(harness.start());
    await harness.until(() => harness.dials.length === 1);
    const [run] = await harness.runs();
    // Less than the deadline of a dial, by looks of another process of the name.
    harness.clock.advance(14_000);
    expect(await harness.at.store.runs.unplaced()).toEqual([run?.id]);
    await look(harness);
    expect(await started).toBe('CALL_UNCERTAIN');
    expect(await harness.bodies({ id: run?.id ?? '' }, 'fault')).toMatchObject([
      { code: expect.stringMatching(/^PROVIDER_/) },
    ]);
  });
});
