// Every ending of a run goes through one module. Source: docs/closing.md.

import { describe, expect, it } from 'vitest';
import { RunClosing } from '../../../src/call/closing/run-closing.ts';
import { EventLog } from '../../../src/call/log/event-log.ts';
import { type CallRoom, withCallRoom } from '../call-harness.ts';

const held = withCallRoom();

/** A run whose phone rings, and its closing in this process. */
async function ringing(room: CallRoom) {
  await room.prepare();
  const { runId } = await room.start();
  return { run: await room.run(runId), closing: room.deps.closing };
}

/** Another process over the same store: it knows nothing but what is stored. */
function elsewhere(room: CallRoom): RunClosing {
  const { clock, log, store } = room.deps;
  const events = new EventLog({ sink: store.runs, clock, log });
  return new RunClosing({ ...room.deps, events });
}

const busy = { reason: 'busy', by: 'provider' } as const;
const cancelled = { reason: 'system_cancelled', by: 'gateway' } as const;
const FAULT = { code: 'GATEWAY_STOPPED', message: 'The gateway stopped' };

describe('two closers of one run at once', () => {
  it('give it the end of the first one, and claim it once', async () => {
    const { run, closing } = await ringing(held.room);
    const claims: string[] = [];
    const notified: string[] = [];
    closing.onCompleted = () => notified.push('completed');
    const claim = (name: string) => ({ onClaimed: async () => void claims.push(name) });
    await Promise.all([
      closing.end(run, { ...busy, ...claim('first') }),
      closing.end(run, { ...cancelled, fault: FAULT, ...claim('second') }),
    ]);
    expect(claims).toEqual(['first']);
    expect(notified).toEqual(['completed']);
    expect(await held.room.bodies(run, 'call.ended')).toMatchObject([busy]);
    expect(await held.room.bodies(run, 'fault')).toEqual([]);
    expect((await held.room.run(run.id)).disposition).toBe('busy');
  });

  it('in two processes leave it the end that was stored first', async () => {
    const { run, closing } = await ringing(held.room);
    await closing.end(run, busy);
    const first = await held.room.run(run.id);
    const claims: string[] = [];
    await elsewhere(held.room).end(run, {
      ...cancelled,
      onClaimed: async () => void claims.push('second'),
    });
    expect(claims).toEqual([]);
    expect(await held.room.run(run.id)).toEqual(first);
  });
});

describe('a closing that is killed', () => {
  it('between the end and the outcome is completed by the next closer with that end', async () => {
    const room = held.room;
    const { run, closing } = await ringing(room);
    const { patch } = room.deps.store.runs;
    room.deps.store.runs.patch = () => Promise.reject(new Error('killed'));
    await expect(closing.end(run, busy)).rejects.toThrow('killed');
    room.deps.store.runs.patch = patch;
    await elsewhere(room).end(run, { ...cancelled, fault: FAULT });
    expect(await room.bodies(run, 'call.ended')).toMatchObject([busy]);
    expect(await room.run(run.id)).toMatchObject({ state: 'completed', disposition: 'busy' });
  });

  it('before the agent names its disposition leaves an open run, which the next one closes', async () => {
    const room = held.room;
    const { run } = await ringing(room);
    const { store } = room.deps;
    const workflows = {
      ...store.workflows,
      addDisposition: () => Promise.reject(new Error('killed')),
    };
    const dying = new RunClosing({ ...room.deps, store: { runs: store.runs, workflows } });
    await expect(dying.end(run, busy)).rejects.toThrow('killed');
    expect((await room.run(run.id)).state).toBe('initialized');
    await elsewhere(room).end(run, cancelled);
    const { organizationId, workflowId } = run;
    const workflow = await store.workflows.get(organizationId, workflowId);
    expect(workflow?.dispositionCodes).toContain('busy');
  });
});

describe('a closing while the store does not answer', () => {
  it('gives up after ten seconds for the events and ten for the outcome', async () => {
    const room = held.room;
    const { run, closing } = await ringing(room);
    const { patch, appendEvents } = room.deps.store.runs;
    let asked = 0;
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const unanswered = async (): Promise<never> => {
      asked += 1;
      await released;
      throw new Error('store away');
    };
    room.deps.store.runs.appendEvents = unanswered;
    room.deps.store.runs.patch = unanswered;
    const refused = expect(closing.end(run, busy)).rejects.toMatchObject({ code: 'TIMED_OUT' });
    await room.until(() => asked === 1);
    room.clock.advance(10_000);
    await room.until(() => asked === 2);
    room.clock.advance(10_000);
    await refused;
    Object.assign(room.deps.store.runs, { patch, appendEvents });
    release();
    await closing.end(run, cancelled);
    expect((await room.run(run.id)).disposition).toBe('busy');
  });

  it('is tried again by itself where nobody else would', async () => {
    const room = held.room;
    const { run, closing } = await ringing(room);
    const { patch } = room.deps.store.runs;
    room.deps.store.runs.patch = () => Promise.reject(new Error('store away'));
    await closing.endSurely(run, { ...busy, durationS: 3, mediaMs: 3_000 });
    expect((await room.run(run.id)).state).toBe('initialized');
    room.deps.store.runs.patch = patch;
    room.clock.advance(10_000);
    const done = await room.completed(run);
    expect(done).toMatchObject({ disposition: 'busy', durationS: 3 });
    expect(await room.bodies(run, 'call.ended')).toHaveLength(1);
  });
});

describe('the one hang-up at the provider', () => {
  it('takes five seconds at most, whoever asks for it', async () => {
    const room = held.room;
    const { run } = await ringing(room);
    const named = await room.run(run.id);
    room.rest.answer = () => 'hang';
    const refused = expect(room.deps.hangUps.hangUpRun(named)).rejects.toMatchObject({
      code: 'TIMED_OUT',
    });
    await room.until(() => room.hangUps.length === 1);
    room.clock.advance(5_000);
    await refused;
    await room.deps.closing.end(named, busy);
  });

  it('is out of reach for a call that the provider has not named', async () => {
    const room = held.room;
    const { run, closing } = await ringing(room);
    const unnamed = { ...run, providerCallId: null };
    await expect(room.deps.hangUps.hangUpRun(unnamed)).rejects.toMatchObject({
      code: 'CALL_OUT_OF_REACH',
    });
    await closing.end(run, busy);
  });
});
