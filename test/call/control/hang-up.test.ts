// Hanging calls up on a client's word. Source: contract §13.1 item 8.

import { describe, expect, it } from 'vitest';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import type { NewRun } from '../../../src/store/runs/new-run.ts';
import { CALL, chat, withCallRoom } from '../call-harness.ts';

const held = withCallRoom();

const wanted = (room: typeof held.room, runId: string) => ({
  organizationId: room.at.owner.organizationId,
  runId,
});
const refusal = (asked: Promise<unknown>) =>
  asked.then(
    () => 'hung up',
    (error: unknown) => codeOf(error) ?? String(error),
  );

describe('a hang-up', () => {
  it('ends a call that talks, and once', async () => {
    const room = await held.room.prepare(chat);
    const { run } = await room.inboundCall();
    const both = [1, 2].map(() => room.switchboard.hangUp(wanted(room, run.id)));
    await Promise.all(both);
    const done = await room.ended(run);
    expect(done).toMatchObject({ state: 'completed', disposition: 'system_cancelled' });
    expect(done.gatheredContext['hang_up_requested_by']).toBe('api');
    expect(room.hangUps).toHaveLength(1);
    expect(await room.switchboard.hangUp(wanted(room, run.id))).toEqual(done);
    expect(room.hangUps).toHaveLength(1);
    expect(await room.bodies(run, 'call.ended')).toMatchObject([{ by: 'gateway' }]);
  });

  it('ends a call that rings', async () => {
    const room = await held.room.prepare();
    const { runId } = await room.start();
    const run = await room.switchboard.hangUp(wanted(room, runId));
    expect(run).toMatchObject({ state: 'completed', disposition: 'system_cancelled' });
    expect(room.hangUps).toHaveLength(1);
  });

  it('ends a call that was answered and has no media yet', async () => {
    const room = await held.room.prepare();
    await room.ring();
    const [run] = await room.runs();
    const done = await room.switchboard.hangUp(wanted(room, run?.id ?? ''));
    expect(done).toMatchObject({ state: 'completed', disposition: 'system_cancelled' });
    expect(room.hangUps).toHaveLength(1);
  });

  it('ends a call that is being placed as soon as the provider has named it', async () => {
    const room = await held.room.prepare();
    const naming = holdNaming(room);
    const starting = room.start();
    await room.until(() => naming.isAsked);
    const [run] = await room.runs();
    await room.switchboard.hangUp(wanted(room, run?.id ?? ''));
    expect(room.hangUps).toHaveLength(0);
    naming.release();
    await starting;
    expect(room.dials).toHaveLength(1);
    expect(room.hangUps).toHaveLength(1);
    expect((await room.completed(run ?? { id: '' })).disposition).toBe('system_cancelled');
  });

  it('ends a call that the provider names while its run is being closed', async () => {
    const room = await held.room.prepare();
    const naming = holdNaming(room);
    const starting = room.start();
    await room.until(() => naming.isAsked);
    const [run] = await room.runs();
    const { runs } = room.deps.store;
    const patch = runs.patch.bind(runs);
    runs.patch = async (id, change) => {
      if (change.state === 'completed') {
        naming.release();
        await starting;
      }
      return patch(id, change);
    };
    await room.switchboard.hangUp(wanted(room, run?.id ?? ''));
    expect(room.hangUps).toHaveLength(1);
    expect((await room.completed(run ?? { id: '' })).disposition).toBe('system_cancelled');
  });

  it('of a call of another node goes to the provider', async () => {
    const room = await held.room.prepare();
    const run = await elsewhere(room, CALL);
    const after = await room.switchboard.hangUp(wanted(room, run));
    expect(after.state).toBe('initialized');
    expect(after.gatheredContext['hang_up_requested_by']).toBe('api');
    expect(room.hangUps).toHaveLength(1);
    room.rest.answer = { status: 500, body: {} };
    expect(await refusal(room.switchboard.hangUp(wanted(room, run)))).toMatch(/^PROVIDER_/);
  });

  it('of a call that we placed and that talks on another node goes to the provider', async () => {
    const room = await held.room.prepare();
    const { runId } = await room.start();
    await room.at.store.runs.patch(runId, { state: 'running' });
    expect((await room.switchboard.hangUp(wanted(room, runId))).state).toBe('running');
    expect(room.hangUps).toHaveLength(1);
  });

  it('closes a run that was never dialled, and once; it gets no call any more', async () => {
    const room = await held.room.prepare();
    const runId = await idleRun(room);
    const asked = () => room.switchboard.hangUp(wanted(room, runId));
    const [done] = await Promise.all([asked(), asked()]);
    expect(done).toMatchObject({ state: 'completed', disposition: 'system_cancelled' });
    expect(done?.gatheredContext['hang_up_requested_by']).toBe('api');
    expect(await room.bodies({ id: runId }, 'call.ended')).toHaveLength(1);
    expect(await asked()).toEqual(done);
    expect(await refusal(room.startTest({ runId }))).toBe('RUN_HAS_CALL');
    expect(room.rest.asked).toEqual([]);
  });

  it('of a run whose call is started at the same time leaves no line open', async () => {
    const room = await held.room.prepare();
    const runId = await idleRun(room);
    const { runs, starts } = room.deps.store;
    const patch = runs.patch.bind(runs);
    let starting: Promise<unknown> | undefined;
    // The start commits right after the hang-up has found no call.
    runs.patch = async (id, change) => {
      if (change.gatheredContext?.['hang_up_requested_by'] !== undefined) {
        starting = room.startTest({ runId });
        await room.until(async () => !(await starts.isIdle(id)));
      }
      return patch(id, change);
    };
    await room.switchboard.hangUp(wanted(room, runId));
    await starting;
    expect(await room.run(runId)).toMatchObject({ state: 'completed' });
    expect(room.dials).toHaveLength(1);
    // By whoever finds the line first, or by both: a second hang-up of a call does nothing.
    expect(new Set(room.hangUps.map(({ path }) => path)).size).toBe(1);
  });

  it('is refused where there is no run, no call, or no way to reach it', async () => {
    const room = await held.room.prepare();
    const hangUp = (id: string) => refusal(room.switchboard.hangUp(wanted(room, id)));
    expect(await hangUp('999999')).toBe('RUN_NOT_FOUND');
    const run = await elsewhere(room, null);
    const foreign = { organizationId: '999999', runId: run };
    expect(await refusal(room.switchboard.hangUp(foreign))).toBe('RUN_NOT_FOUND');
    expect(await hangUp(run)).toBe('CALL_OUT_OF_REACH');
    await room.at.sql("update runs set is_idle = true, state = 'running' where id = $1", [run]);
    expect(await hangUp(run)).toBe('RUN_WITHOUT_CALL'); // A text chat.
    expect(room.rest.asked).toEqual([]);
  });
});

async function idleRun(room: typeof held.room): Promise<string> {
  const { id } = await room.at.store.starts.createIdle(aRun(room, null));
  return id;
}

/** A run that no call of this process belongs to. */
async function elsewhere(room: typeof held.room, providerCallId: string | null): Promise<string> {
  const { id } = (await room.at.store.runs.create(aRun(room, providerCallId), 10)).run;
  return id;
}

function aRun(room: typeof held.room, providerCallId: string | null): NewRun {
  return {
    organizationId: room.at.owner.organizationId,
    workflowId: room.workflow.id,
    definitionId: room.version.id,
    name: 'r',
    mode: 'twilio',
    callType: 'inbound',
    configurationId: room.configuration.id,
    providerCallId,
    initialContext: {},
    gatheredContext: {},
    logs: {},
  };
}

/** That the provider has named a call is stored once it is released. */
function holdNaming(room: typeof held.room): { isAsked: boolean; release: () => void } {
  const naming = { isAsked: false, release: (): void => undefined };
  const { runs } = room.deps.store;
  const patch = runs.patch.bind(runs);
  const released = new Promise<void>((resolve) => {
    naming.release = resolve;
  });
  runs.patch = async (id, change) => {
    if (change.providerCallId !== undefined) {
      naming.isAsked = true;
      await released;
    }
    return patch(id, change);
  };
  return naming;
}
