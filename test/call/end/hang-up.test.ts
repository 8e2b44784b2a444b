// Hanging calls up on a client's word. Source: contract §13.1 item 8.

import { describe, expect, it } from 'vitest';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import type { NewRun } from '../../../src/store/runs/run-insertion.ts';
import { CALL, chat, withCallHarness } from '../call-harness.ts';
import { idleRun, newRunOf } from '../idle-run.ts';

const held = withCallHarness();

const wanted = (harness: typeof held.harness, runId: string) => ({
  organizationId: harness.at.owner.organizationId,
  runId,
});
const refusal = (asked: Promise<unknown>) =>
  asked.then(
    () => 'hung up',
    (error: unknown) => codeOf(error) ?? String(error),
  );

describe('a hang-up', () => {
  it('ends a call that talks, and once', async () => {
    const harness = await held.harness.prepare(chat);
    const { run } = await harness.inboundCall();
    const both = [1, 2].map(() => harness.callControl.hangUp(wanted(harness, run.id)));
    await Promise.all(both);
    const done = await harness.ended(run);
    expect(done).toMatchObject({ state: 'completed', disposition: 'system_cancelled' });
    expect(done.gatheredContext['hang_up_requested_by']).toBe('api');
    expect(harness.hangUps).toHaveLength(1);
    expect(await harness.callControl.hangUp(wanted(harness, run.id))).toEqual(done);
    expect(harness.hangUps).toHaveLength(1);
    expect(await harness.bodies(run, 'call.ended')).toMatchObject([{ by: 'gateway' }]);
  });

  it('ends a call that rings', async () => {
    const harness = await held.harness.prepare();
    const { runId } = await harness.start();
    const run = await harness.callControl.hangUp(wanted(harness, runId));
    expect(run).toMatchObject({ state: 'completed', disposition: 'system_cancelled' });
    expect(harness.hangUps).toHaveLength(1);
  });

  it('ends a call that was answered and has no media yet', async () => {
    const harness = await held.harness.prepare();
    await harness.ring();
    const [run] = await harness.runs();
    const done = await harness.callControl.hangUp(wanted(harness, run?.id ?? ''));
    expect(done).toMatchObject({ state: 'completed', disposition: 'system_cancelled' });
    expect(harness.hangUps).toHaveLength(1);
  });

  it('ends a call that is being placed as soon as the provider has named it', async () => {
    const harness = await held.harness.prepare();
    const naming = holdNaming(harness);
    const starting = harness.start();
    await harness.until(() => naming.isAsked);
    const [run] = await harness.runs();
    await harness.callControl.hangUp(wanted(harness, run?.id ?? ''));
    expect(harness.hangUps).toHaveLength(0);
    naming.release();
    await starting;
    expect(harness.dials).toHaveLength(1);
    expect(harness.hangUps).toHaveLength(1);
    expect((await harness.completed(run ?? { id: '' })).disposition).toBe('system_cancelled');
  });

  it('ends a call that the provider names while its run is being closed', async () => {
    const harness = await held.harness.prepare();
    const naming = holdNaming(harness);
    const starting = harness.start();
    await harness.until(() => naming.isAsked);
    const [run] = await harness.runs();
    const { runs } = harness.deps.store;
    const patch = runs.patch.bind(runs);
    runs.patch = async (id, change) => {
      if (change.state === 'completed') {
        naming.release();
        await starting;
      }
      return patch(id, change);
    };
    await harness.callControl.hangUp(wanted(harness, run?.id ?? ''));
    expect(harness.hangUps).toHaveLength(1);
    expect((await harness.completed(run ?? { id: '' })).disposition).toBe('system_cancelled');
  });

  it('of a call of another node goes to the provider', async () => {
    const harness = await held.harness.prepare();
    const run = await elsewhere(harness, CALL);
    const after = await harness.callControl.hangUp(wanted(harness, run));
    expect(after.state).toBe('initialized');
    expect(after.gatheredContext['hang_up_requested_by']).toBe('api');
    expect(harness.hangUps).toHaveLength(1);
    harness.rest.answer = { status: 500, body: {} };
    let refused: string | undefined;
    void refusal(harness.callControl.hangUp(wanted(harness, run))).then((code) => (refused = code));
    await harness.passThrough(() => refused !== undefined);
    expect(refused).toMatch(/^PROVIDER_/);
  });

  it('of a call that we placed and that talks on another node goes to the provider', async () => {
    const harness = await held.harness.prepare();
    const { runId } = await harness.start();
    await harness.at.store.runs.patch(runId, { state: 'running' });
    expect((await harness.callControl.hangUp(wanted(harness, runId))).state).toBe('running');
    expect(harness.hangUps).toHaveLength(1);
  });

  it('closes a run that was never dialled, and once; it gets no call any more', async () => {
    const harness = await held.harness.prepare();
    const runId = await idleRun(harness, ofConfiguration(harness));
    const asked = () => harness.callControl.hangUp(wanted(harness, runId));
    const [done] = await Promise.all([asked(), asked()]);
    expect(done).toMatchObject({ state: 'completed', disposition: 'system_cancelled' });
    expect(done?.gatheredContext['hang_up_requested_by']).toBe('api');
    expect(await harness.bodies({ id: runId }, 'call.ended')).toHaveLength(1);
    expect(await asked()).toEqual(done);
    expect(await refusal(harness.startTest({ runId }))).toBe('RUN_HAS_CALL');
    expect(harness.rest.asked).toEqual([]);
  });

  it('of a run whose call is started at the same time leaves no line open', async () => {
    const harness = await held.harness.prepare();
    const runId = await idleRun(harness, ofConfiguration(harness));
    const { runs, starts } = harness.deps.store;
    const patch = runs.patch.bind(runs);
    let starting: Promise<unknown> | undefined;
    // The start commits right after the hang-up has found no call.
    runs.patch = async (id, change) => {
      if (change.gatheredContext?.['hang_up_requested_by'] !== undefined) {
        starting = harness.startTest({ runId });
        await harness.until(async () => !(await starts.isIdle(id)));
      }
      return patch(id, change);
    };
    await harness.callControl.hangUp(wanted(harness, runId));
    await starting;
    expect(await harness.run(runId)).toMatchObject({ state: 'completed' });
    expect(harness.dials).toHaveLength(1);
    // By the process that finds the line first, or by both: a second hang-up of a call does nothing.
    expect(new Set(harness.hangUps.map(({ path }) => path)).size).toBe(1);
  });

  it('is refused where there is no run, no call, or no way to reach it', async () => {
    const harness = await held.harness.prepare();
    const hangUp = (id: string) => refusal(harness.callControl.hangUp(wanted(harness, id)));
    expect(await hangUp('999999')).toBe('RUN_NOT_FOUND');
    const run = await elsewhere(harness, null);
    const foreign = { organizationId: '999999', runId: run };
    expect(await refusal(harness.callControl.hangUp(foreign))).toBe('RUN_NOT_FOUND');
    expect(await hangUp(run)).toBe('CALL_OUT_OF_REACH');
    await harness.at.sql("update runs set is_idle = true, state = 'running' where id = $1", [run]);
    expect(await hangUp(run)).toBe('RUN_WITHOUT_CALL'); // A text chat.
    expect(harness.rest.asked).toEqual([]);
  });
});

/** A run that no call of this process belongs to. */
async function elsewhere(
  harness: typeof held.harness,
  providerCallId: string | null,
): Promise<string> {
  const run = newRunOf(harness, { ...ofConfiguration(harness), providerCallId });
  const { id } = (await harness.at.store.runs.create(run, 10)).run;
  return id;
}

function ofConfiguration(harness: typeof held.harness): Partial<NewRun> {
  return { callType: 'inbound', configurationId: harness.configuration.id };
}

/** That the provider has named a call is stored once it is released. */
function holdNaming(harness: typeof held.harness): { isAsked: boolean; release: () => void } {
  const naming = { isAsked: false, release: (): void => undefined };
  const { runs } = harness.deps.store;
  const dialled = runs.dialled.bind(runs);
  const released = new Promise<void>((resolve) => {
    naming.release = resolve;
  });
  runs.dialled = async (call) => {
    naming.isAsked = true;
    await released;
    return dialled(call);
  };
  return naming;
}
