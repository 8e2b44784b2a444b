// A gateway of several workers: where a call is answered, and where what is told of it goes.

import { describe, expect, it } from 'vitest';
import { CallControl } from '../../src/call/control/call-control.ts';
import { EventLog } from '../../src/call/log/event-log.ts';
import type { PooledWorker, WorkerPool } from '../../src/cluster/worker-pool.ts';
import { WorkerRouter } from '../../src/cluster/worker-router.ts';
import { GatewayError } from '../../src/errors/gateway-error.ts';
import { createMediaTokens } from '../../src/transport/media-token.ts';
import {
  ACCOUNT,
  CALL,
  type CallRoom,
  PUBLIC_URL,
  signed,
  withCallRoom,
} from '../call/call-harness.ts';

const held = withCallRoom();
const FRONT = 'host:/data#1';
const BEHIND = 'host:/data#2';

/** The room's switchboard is the front; another one is the worker behind it. Which of them a statement is
 *  from, the store is told by hand: both have one connection. */
function withWorker(room: CallRoom) {
  const { deps } = room;
  const { runs } = deps.store;
  const storeOf = (node: string) => ({
    ...deps.store,
    runs: {
      ...runs,
      adopt: async (id: string) => void (await owned(room, id, node)),
      owner: async (id: string) => {
        const [row] = await room.at.sql('select owner_node from runs where id = $1', [id]);
        const owner = String(row?.['owner_node']);
        return row && { node: owner, isOwn: owner === node };
      },
    },
  });
  const { log, clock, random } = deps;
  const behind = new CallControl({
    ...deps,
    store: storeOf(BEHIND),
    events: new EventLog({ sink: runs, clock, log }),
    tokens: createMediaTokens({ clock, random, worker: 2 }),
  });
  const own = new CallControl({ ...deps, store: storeOf(FRONT) });
  const at = { isThere: true, isIdle: true, asked: [] as string[] };
  const ask = <T>(what: string, work: () => Promise<T>): Promise<T> => {
    at.asked.push(what);
    return at.isThere ? work() : Promise.reject(new GatewayError('WORKER_GONE', { worker: 2 }));
  };
  const worker: PooledWorker = {
    inbound: (...from) => ask('inbound', () => behind.inbound(...from)),
    answer: (...from) => ask('answer', () => behind.answer(...from)),
    event: (...from) => ask('event', () => behind.event(...from)),
    sendDigits: (wanted) => ask('sendDigits', () => behind.sendDigits(wanted)),
    hangUp: (wanted) => ask('hangUp', async () => void (await behind.hangUp(wanted))),
  };
  const crew: WorkerPool = {
    leastLoaded: () => (at.isIdle ? worker : undefined),
    byNode: (node) => (node === BEHIND ? worker : undefined),
    activeCalls: 3,
  };
  return { at, behind, own, desk: new WorkerRouter(storeOf(FRONT), own, crew) };
}

const owned = (room: CallRoom, id: string, node: string) =>
  room.at.sql("update runs set owner_node = $1 where id = $2 and state = 'initialized'", [
    node,
    id,
  ]);

const url = (kind: string, runId: string) =>
  `${PUBLIC_URL}/api/v1/telephony/twilio/${kind}/${runId}`;
const form = (status: string, n = 1) =>
  `CallSid=${CALL}&AccountSid=${ACCOUNT}&CallStatus=${status}&SequenceNumber=${n}`;
const answering = (runId: string, token?: string) =>
  signed(url('answer', runId), form('in-progress'), token);
const telling = (runId: string, status: string, n = 1) =>
  signed(url('status-callback', runId), form(status, n));

async function dialled(room: CallRoom, own: CallControl): Promise<string> {
  const { runId } = await own.start({
    organizationId: room.at.owner.organizationId,
    apiKeyId: '7',
    apiKeyCreatedBy: '1',
    agent: { type: 'workflow_uuid', identifier: room.workflow.uuid },
    mode: 'production',
    phoneNumber: '+14155550100',
    initialContext: {},
    configurationId: null,
    fromPhoneNumberId: null,
    idempotencyKey: null,
  });
  await owned(room, runId, FRONT);
  return runId;
}

describe('a call that the front has dialled', () => {
  it('is answered by the worker with the fewest calls, which has it from then on', async () => {
    const room = await held.room.prepare();
    const { desk, own, behind, at } = withWorker(room);
    const runId = await dialled(room, own);
    await desk.event('twilio', runId, telling(runId, 'ringing'));
    expect(own.calls).toBe(1);
    expect((await desk.answer('twilio', runId, answering(runId))).body).toContain(`/${runId}/w2-`);
    expect([own.calls, behind.calls]).toEqual([0, 1]);
    await desk.event('twilio', runId, telling(runId, 'in-progress', 2));
    // Asked again, though the front is idler now, it is answered where its plan is.
    at.isIdle = false;
    expect((await desk.answer('twilio', runId, answering(runId))).body).toContain(`/${runId}/w2-`);
    expect(at.asked).toEqual(['answer', 'event', 'answer']);
    await desk.event('twilio', runId, telling(runId, 'failed', 3));
    const run = await room.run(runId);
    expect(run).toMatchObject({ state: 'completed', disposition: 'failed' });
    // One log, numbered by one process after the other.
    const events = await room.at.store.runs.events(runId);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    const statuses = events.flatMap(({ body }) => (body.type === 'call.status' ? body.status : []));
    expect(statuses).toEqual(['ringing', 'in-progress', 'failed']);
    expect(room.errors).toEqual([]);
  });

  it('stays with the front if the worker is gone, or nobody has fewer calls', async () => {
    const room = await held.room.prepare();
    const { desk, own, behind, at } = withWorker(room);
    at.isThere = false;
    const runId = await dialled(room, own);
    const { body } = await desk.answer('twilio', runId, answering(runId));
    expect(body).toContain('<Stream');
    expect(body).not.toContain('/w2-');
    expect([own.calls, behind.calls]).toEqual([1, 0]);
    at.isIdle = false;
    await desk.answer('twilio', runId, answering(runId));
    expect(own.calls).toBe(1);
    expect(at.asked).toEqual(['answer']);
  });

  it('has its keys pressed by the worker that has it', async () => {
    const room = await held.room.prepare();
    const { desk, own, at } = withWorker(room);
    const runId = await dialled(room, own);
    const { organizationId } = room.at.owner;
    const press = () => desk.sendDigits({ organizationId, runId, digits: '1' });
    await expect(press()).rejects.toMatchObject({ code: 'CALL_NOT_TALKING' });
    expect(at.asked).toEqual([]);
    await desk.answer('twilio', runId, answering(runId));
    await expect(press()).rejects.toMatchObject({ code: 'CALL_NOT_TALKING' });
    expect(at.asked).toEqual(['answer', 'sendDigits']);
    at.isThere = false;
    await expect(press()).rejects.toMatchObject({ code: 'WORKER_GONE' });
  });

  it('is not let go for a forged request', async () => {
    const room = await held.room.prepare();
    const { desk, own, at } = withWorker(room);
    const runId = await dialled(room, own);
    const forged = answering(runId, 'another token');
    await expect(desk.answer('twilio', runId, forged)).rejects.toMatchObject({
      code: 'WEBHOOK_SIGNATURE',
    });
    expect(own.calls).toBe(1);
    expect(at.asked).toEqual([]);
  });
});

describe('a call of another worker', () => {
  it('is hung up there', async () => {
    const room = await held.room.prepare();
    const { desk, own, behind } = withWorker(room);
    const runId = await dialled(room, own);
    await desk.answer('twilio', runId, answering(runId));
    const { organizationId } = room.at.owner;
    const run = await desk.hangUp({ organizationId, runId });
    expect(run).toMatchObject({ state: 'completed', disposition: 'system_cancelled' });
    expect(behind.calls).toBe(0);
    await expect(desk.hangUp({ organizationId, runId: '999999' })).rejects.toMatchObject({
      code: 'RUN_NOT_FOUND',
    });
  });

  it('that talks is not closed by a status that reaches this one', async () => {
    const room = await held.room.prepare();
    const { desk, own, at } = withWorker(room);
    const runId = await dialled(room, own);
    await desk.answer('twilio', runId, answering(runId));
    await room.at.sql("update runs set state = 'running' where id = $1", [runId]);
    at.isThere = false;
    await desk.event('twilio', runId, telling(runId, 'completed', 3));
    expect((await room.run(runId)).state).toBe('running');
  });

  it('counts among those of the gateway', async () => {
    const { desk, own } = withWorker(await held.room.prepare());
    expect(desk.activeCalls).toBe(own.activeCalls + 3);
  });
});

it('calls are turned away by the front while the gateway stops', async () => {
  const room = await held.room.prepare();
  const { desk, own, at } = withWorker(room);
  await own.drain(0);
  await desk.inbound(signed(`${PUBLIC_URL}/api/v1/telephony/inbound/run`, form('ringing')), null);
  expect(at.asked).toEqual([]);
});
