// Hanging calls up on a client's word. Source: contract §13.1 (8).

import { describe, expect, it } from 'vitest';
import { codeOf } from '../../src/errors.ts';
import { CALL, chat, withCallRoom } from './call-room.ts';

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

  it('is refused where there is no run, no call, or no way to reach it', async () => {
    const room = await held.room.prepare();
    const hangUp = (id: string) => refusal(room.switchboard.hangUp(wanted(room, id)));
    expect(await hangUp('999999')).toBe('RUN_NOT_FOUND');
    const run = await elsewhere(room, null);
    const foreign = { organizationId: '999999', runId: run };
    expect(await refusal(room.switchboard.hangUp(foreign))).toBe('RUN_NOT_FOUND');
    expect(await hangUp(run)).toBe('CALL_OUT_OF_REACH');
    await room.at.sql('update runs set is_idle = true where id = $1', [run]);
    expect(await hangUp(run)).toBe('RUN_WITHOUT_CALL');
    expect(room.rest.asked).toEqual([]);
  });
});

/** A run that no call of this process belongs to. */
async function elsewhere(room: typeof held.room, providerCallId: string | null): Promise<string> {
  const { id } = await room.at.store.runs.create(
    {
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
    },
    10,
  );
  return id;
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
