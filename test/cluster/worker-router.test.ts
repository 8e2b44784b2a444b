// The API process and two call workers: where a call begins, and where what is asked of it later goes.

import { describe, expect, it } from 'vitest';
import { createCallControl, withClosing } from '../../src/app/call-parts.ts';
import type { CallControl } from '../../src/call/call-control.ts';
import { EventLog } from '../../src/call/events/event-log.ts';
import type { StartCall } from '../../src/call/start/setup/call-start.ts';
import type { PooledWorker, WorkerPool } from '../../src/cluster/worker-pool.ts';
import { WorkerRouter } from '../../src/cluster/worker-router.ts';
import { GatewayError } from '../../src/errors/gateway-error.ts';
import {
  ACCOUNT,
  CALL,
  type CallHarness,
  inboundRequest,
  PUBLIC_URL,
  signed,
  withCallHarness,
} from '../call/call-harness.ts';
import { configurePbx } from '../call/start/inbound/pbx-harness.ts';
import { deferred } from '../fakes/deferred.ts';
import { mediaTokens } from '../fakes/media-tokens.ts';

const held = withCallHarness();
const nodeOf = (worker: number): string => `host:/data#${worker}`;

/** The room twice, as two workers. Which of them a statement is from, the store is told by hand: both have one
 *  connection. */
function withWorkers(harness: CallHarness) {
  const { deps } = harness;
  const { runs } = deps.store;
  const ownerOf = async (id: string) => {
    at.ownersRead += 1;
    if (at.ownersRead <= at.ownersAway) throw new GatewayError('STORE_UNAVAILABLE');
    const [row] = await harness.at.sql('select owner_node from runs where id = $1', [id]);
    return row && { node: String(row['owner_node']), isOwn: false };
  };
  const at = {
    there: [1, 2],
    idlest: 1,
    asked: [] as string[],
    waits: 0,
    busy: deferred(),

    isSingle: false,
    /** Configurations whose PBX a worker was looked for. */
    pbxs: [] as string[],
    /** Attempts to read an owner that fail. */
    ownersAway: 0,
    /** Whether each request takes longer than its deadline. */
    isSlow: false,
    ownersRead: 0,
  };
  at.busy.resolve();
  const control = (number: number): CallControl => {
    const { log, clock } = deps;
    const node = nodeOf(number);
    const takeOver = async (id: string) => {
      await owned(harness, id, node);
      return undefined;
    };
    const owner = async (id: string) => {
      const known = await ownerOf(id);
      return known && { ...known, isOwn: known.node === node };
    };
    return createCallControl(
      withClosing({
        ...deps,
        store: { ...deps.store, runs: { ...runs, takeOver, owner } },
        events: new EventLog({ sink: runs, clock, log }),
        tokens: mediaTokens({ clock, worker: number }),
      }),
    );
  };
  const controls = [control(1), control(2)] as const;
  const pooled = (number: 1 | 2): PooledWorker => {
    const own = controls[number - 1] as CallControl;
    const ask = <T>(what: string, work: () => Promise<T>): Promise<T> => {
      at.asked.push(`${number} ${what}`);
      if (at.isSlow) return Promise.reject(new GatewayError('TIMED_OUT', { what, ms: 1 }));
      if (number === 1 && at.there.includes(number)) return at.busy.promise.then(work);
      if (at.there.includes(number)) return work();
      return Promise.reject(new GatewayError('WORKER_GONE', { worker: number }));
    };
    return {
      start: (request) =>
        ask('start', async () => {
          const started = await own.start(request);
          await owned(harness, started.runId, nodeOf(number));
          return started;
        }),
      startTest: (request) => ask('startTest', () => own.startTest(request)),
      startWeb: (request) => ask('startWeb', () => own.startWeb(request)),
      inbound: (...from) => ask('inbound', () => own.inbound(...from)),
      answerAgain: (runId) => ask('answerAgain', () => own.answerAgain(runId)),
      answer: (...from) => ask('answer', () => own.answer(...from)),
      resume: (...from) => ask('resume', () => own.resume(...from)),
      wait: (...from) => ask('wait', () => own.wait(...from)),
      resumeLeft: (runId) => ask('resumeLeft', () => own.resumeLeft(runId)),
      event: (...from) => ask('event', () => own.event(...from)),
      accountEvent: (...from) => ask('accountEvent', () => own.accountEvent(...from)),
      runOfAccountEvent: (...from) =>
        ask('runOfAccountEvent', () => own.runOfAccountEvent(...from)),
      sendDigits: (wanted) => ask('sendDigits', () => own.sendDigits(wanted)),
      hangUp: (wanted) => ask('hangUp', async () => void (await own.hangUp(wanted))),
      place: (dial) => ask('place', () => own.campaignCalls.placeClaimed(dial)),
      outcomeAfterCrash: () => ask('fate', async () => 'there' as const),
      examine: () => ask('examine', async () => []),
      testLine: () => Promise.reject(new Error('no line is tested')),
    };
  };
  const both = { 1: pooled(1), 2: pooled(2) };
  const workers: WorkerPool = {
    leastLoaded: () => (at.idlest === 1 || at.idlest === 2 ? both[at.idlest] : undefined),
    forInbound: () => workers.leastLoaded(),
    forPbx: (configurationId) => {
      at.pbxs.push(configurationId);
      return both[1];
    },
    pbxWorker: () => both[1],
    get isSingle() {
      return at.isSingle;
    },
    byNode: (node) => (node === nodeOf(1) ? both[1] : node === nodeOf(2) ? both[2] : undefined),
    takesCalls: true,
    activeCalls: 3,
    untilThere: async () => {
      at.waits += 1;
    },
  };
  const store = { ...deps.store, runs: { ...runs, owner: ownerOf } };
  const { providers, clock, log, random } = deps;
  const callService = new WorkerRouter({ store, providers, workers, clock, log, random });
  return { at, controls, callService };
}

const owned = (harness: CallHarness, id: string, node: string) =>
  harness.at.sql("update runs set owner_node = $1 where id = $2 and state = 'initialized'", [
    node,
    id,
  ]);

const url = (kind: string, runId: string) =>
  `${PUBLIC_URL}/api/v1/telephony/twilio/${kind}/${runId}`;
const form = (status: string, n = 1) =>
  `CallSid=${CALL}&AccountSid=${ACCOUNT}&CallStatus=${status}&SequenceNumber=${n}`;
const answering = (runId: string, token?: string) =>
  signed(url('answer', runId), form('in-progress'), token);
const reporting = (runId: string, status: string, n = 1) =>
  signed(url('status-callback', runId), form(status, n));

const resuming = (runId: string, token?: string) =>
  signed(url('resume', runId), form('in-progress'), token);

/** A call that worker 2 holds; the next one would go to worker 1. */
async function heldByTwo() {
  const harness = await held.harness.prepare();
  const { callService, at } = withWorkers(harness);
  at.idlest = 2;
  const { runId } = await callService.start(wish(harness));
  at.idlest = 1;
  return { harness, callService, at, runId };
}

const wish = (harness: CallHarness, idempotencyKey: string | null = null): StartCall => ({
  organizationId: harness.at.owner.organizationId,
  apiKeyId: '7',
  apiKeyCreatedBy: '1',
  agent: { type: 'workflow_uuid', identifier: harness.workflow.uuid },
  mode: 'production',
  phoneNumber: '+14155550100',
  initialContext: {},
  configurationId: null,
  fromPhoneNumberId: null,
  idempotencyKey,
});

describe('webhooks of a gateway with one worker', () => {
  it('reach it without a look at the owner of their run', async () => {
    const harness = await held.harness.prepare();
    const { callService, at } = withWorkers(harness);
    const { runId } = await callService.start(wish(harness));
    await callService.event('twilio', runId, reporting(runId, 'ringing'));
    expect(at.ownersRead).toBe(1);
    at.isSingle = true;
    await callService.event('twilio', runId, reporting(runId, 'in-progress', 2));
    await callService.answer('twilio', runId, answering(runId));
    expect(at.asked).toEqual(['1 start', '1 event', '1 event', '1 answer']);
    expect(at.ownersRead).toBe(1);
  });
});

it('an event whose route names no run goes to the worker with its call', async () => {
  const harness = await held.harness.prepare();
  const { callService, at } = withWorkers(harness);
  at.idlest = 2;
  const { runId } = await callService.start(wish(harness));
  at.idlest = 1;
  const cdr = `${PUBLIC_URL}/api/v1/telephony/twilio/cdr`;
  await callService.accountEvent('twilio', signed(cdr, form('busy')));
  expect(at.asked).toEqual(['2 start', '1 runOfAccountEvent', '2 event']);
  expect(await harness.run(runId)).toMatchObject({ state: 'completed', disposition: 'busy' });
  const forged = signed(cdr, form('busy'), 'another token');
  await expect(callService.accountEvent('twilio', forged)).rejects.toMatchObject({
    code: 'WEBHOOK_SIGNATURE',
  });
  at.isSingle = true;
  await callService.accountEvent('twilio', signed(cdr, form('busy').replace(CALL, 'CA0')));
  expect(at.asked.at(-1)).toBe('1 accountEvent');
});

describe('a call that a client starts', () => {
  it('is dialled, answered and followed by one worker', async () => {
    const harness = await held.harness.prepare();
    const { callService, controls, at } = withWorkers(harness);
    at.idlest = 2;
    const { runId } = await callService.start(wish(harness));
    at.idlest = 1;
    await callService.event('twilio', runId, reporting(runId, 'ringing'));
    expect((await callService.answer('twilio', runId, answering(runId))).body).toContain(
      `/${runId}/gw1.2-`,
    );
    await callService.event('twilio', runId, reporting(runId, 'in-progress', 2));
    expect(controls.map(({ calls }) => calls)).toEqual([0, 1]);
    await callService.event('twilio', runId, reporting(runId, 'failed', 3));
    expect(at.asked.every((what) => what.startsWith('2 '))).toBe(true);
    expect(await harness.run(runId)).toMatchObject({ state: 'completed', disposition: 'failed' });
    // One log, numbered by one process.
    const events = await harness.at.store.runs.events(runId);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(harness.errors).toEqual([]);
  });

  it('goes with its key to the worker that has the first request', async () => {
    const harness = await held.harness.prepare();
    const { callService, at } = withWorkers(harness);
    const dialled = deferred();
    const queued = { sid: CALL, status: 'queued' };
    harness.rest.answer = { status: 201, body: queued, until: dialled.promise };
    const first = callService.start(wish(harness, 'once'));
    await expect.poll(() => at.asked.length).toBe(1);
    at.idlest = 2;
    const again = callService.start(wish(harness, 'once'));
    await expect.poll(() => at.asked.length).toBe(2);
    dialled.resolve();
    expect(await again).toEqual(await first);
    expect(at.asked).toEqual(['1 start', '1 start']);
  });

  it('is not tried at another worker: two telephones might ring', async () => {
    const harness = await held.harness.prepare();
    const { callService, at } = withWorkers(harness);
    at.there = [2];
    await expect(callService.start(wish(harness))).rejects.toMatchObject({ code: 'WORKER_GONE' });
    expect(at.asked).toEqual(['1 start']);
  });

  it('with a large context and an agent or a configuration that no call can have asks no worker', async () => {
    const harness = await held.harness.prepare();
    const { callService, at } = withWorkers(harness);
    const initialContext = { notes: 'x'.repeat(40_000) };
    const large = { ...wish(harness), initialContext };
    const unknown = { type: 'workflow_uuid', identifier: 'unknown' } as const;
    await harness.at.sql('update telephony_configurations set is_default_outbound = false');
    await harness.at.sql('update phone_numbers set is_active = false');
    await expect(callService.start({ ...large, agent: unknown })).rejects.toMatchObject({
      code: 'AGENT_NOT_FOUND',
    });
    await expect(callService.start(large)).rejects.toMatchObject({
      code: 'CONFIGURATION_NOT_READY',
    });
    expect(at.asked).toEqual([]);
    // A worker knows whether an earlier request with the key has started the call.
    const keyed = { ...wish(harness, 'key'), initialContext };
    await expect(callService.start(keyed)).rejects.toMatchObject({
      code: 'CONFIGURATION_NOT_READY',
    });
    expect(at.asked).toEqual(['1 start']);
  });

  it('over a PBX begins at the worker that holds it', async () => {
    const harness = await held.harness.prepare();
    const { callService, at } = withWorkers(harness);
    at.idlest = 2;
    const { id } = await configurePbx(harness);
    await callService.start({ ...wish(harness), configurationId: id }).catch(() => undefined);
    expect(at.asked).toEqual(['1 start']);
  });
});

it('an answered call waits for its worker while the database is away', async () => {
  const harness = await held.harness.prepare();
  const { callService, at } = withWorkers(harness);
  const { runId } = await callService.start(wish(harness));
  at.ownersAway = at.ownersRead + 4;
  const replies: string[] = [];
  void callService.answer('twilio', runId, answering(runId)).then(({ body }) => replies.push(body));
  await harness.passThrough(() => replies.length > 0);
  expect(replies[0]).toContain('<Stream');
});

describe('an event of a call', () => {
  it('has no answer in time from a worker that is too slow, which is not said to be gone', async () => {
    const harness = await held.harness.prepare();
    const { callService, at } = withWorkers(harness);
    const { runId } = await callService.start(wish(harness));
    const ringing = () => callService.event('twilio', runId, reporting(runId, 'ringing'));
    at.isSlow = true;
    await expect(ringing()).rejects.toMatchObject({ code: 'TIMED_OUT' });
    at.idlest = 0;
    at.there = [];
    at.isSlow = false;
    await expect(ringing()).rejects.toMatchObject({ code: 'WORKER_GONE' });
  });
});

describe('a call whose worker has died', () => {
  it('is answered by another, and refused with the words of the provider if there is none', async () => {
    const harness = await held.harness.prepare();
    const { callService, at } = withWorkers(harness);
    const { runId } = await callService.start(wish(harness));
    at.there = [2];
    at.idlest = 2;
    expect((await callService.answer('twilio', runId, answering(runId))).body).toContain('/gw1.2-');
    at.there = [];
    at.idlest = 0;
    const { status, body } = await callService.answer('twilio', runId, answering(runId));
    expect(status).toBe(200);
    expect(body).not.toContain('<Stream');
    expect(at.waits).toBeGreaterThan(0);
  });

  it('is not answered for a forged request', async () => {
    const harness = await held.harness.prepare();
    const { callService, at } = withWorkers(harness);
    const { runId } = await callService.start(wish(harness));
    const forged = answering(runId, 'another token');
    await expect(callService.answer('twilio', runId, forged)).rejects.toMatchObject({
      code: 'WEBHOOK_SIGNATURE',
    });
    expect(at.asked).toEqual(['1 start', '1 answer']);
  });
});

describe('an inbound call', () => {
  it('is turned away as busy while no worker is there', async () => {
    const harness = await held.harness.prepare();
    const { callService, at } = withWorkers(harness);
    at.idlest = 0;
    const { body } = await callService.inbound(inboundRequest(), null);
    expect(body).toContain('<Reject reason="busy"');
    expect(at.asked).toEqual([]);
  });

  it('is answered late by the only worker that takes it, which is not asked twice', async () => {
    const harness = await held.harness.prepare();
    const { callService, at } = withWorkers(harness);
    at.busy = deferred();
    const answering = callService.inbound(inboundRequest(), null);
    await harness.until(() => at.asked.length > 0);
    await harness.pass(10_000);
    at.busy.resolve();
    expect((await answering).body).toContain('/gw1.1-');
    expect(at.asked).toEqual(['1 inbound']);
  });

  it('is answered by another worker after 4 s', async () => {
    const harness = await held.harness.prepare();
    const { callService, at } = withWorkers(harness);
    at.busy = deferred();
    const answering = callService.inbound(inboundRequest(), null);
    await harness.until(() => at.asked.length > 0);
    at.idlest = 2;
    await harness.pass(3_900);
    expect(at.asked).toEqual(['1 inbound']);
    await harness.pass(100);
    expect((await answering).body).toContain('/gw1.2-');
    expect(at.asked).toEqual(['1 inbound', '2 inbound']);
    at.busy.reject(new GatewayError('WORKER_GONE', { worker: 1 }));
  });

  it('is answered by the first worker after all if the other one fails', async () => {
    const harness = await held.harness.prepare();
    const { callService, at } = withWorkers(harness);
    at.busy = deferred();
    const answering = callService.inbound(inboundRequest(), null);
    await harness.until(() => at.asked.length > 0);
    at.idlest = 2;
    at.there = [1];
    await harness.pass(4_000);
    await harness.until(() => at.asked.length > 1);
    at.busy.resolve();
    expect((await answering).body).toContain('/gw1.1-');
    expect(at.asked).toEqual(['1 inbound', '2 inbound']);
  });
});

describe('a call that a killed process had not answered', () => {
  it('is left to the worker to which a repeated webhook has brought it', async () => {
    const harness = await held.harness.prepare();
    const { callService, at } = withWorkers(harness);
    at.idlest = 2;
    const { runId } = await callService.start(wish(harness));
    at.idlest = 1;
    expect(await callService.answerAgain(runId)).toBe(true);
    expect(at.asked).toEqual(['2 start']);
    await owned(harness, runId, 'host:/data');
    expect(await callService.answerAgain(runId)).toBe(false);
    expect(at.asked).toEqual(['2 start', '1 answerAgain']);
  });
});

describe('a provider that asks after the media of a call', () => {
  it('is answered by the worker that holds the call, whichever has fewest', async () => {
    const { callService, at, runId } = await heldByTwo();
    const { body } = await callService.resume('twilio', runId, resuming(runId));
    expect(body).toContain('<Hangup');
    expect(at.asked).toEqual(['2 start', '2 resume']);
  });

  it('is answered by another worker if the holder is gone, and after 4 s if it does not answer', async () => {
    const { harness, callService, at, runId } = await heldByTwo();
    at.there = [1];
    expect((await callService.resume('twilio', runId, resuming(runId))).status).toBe(200);
    expect(at.asked).toEqual(['2 start', '2 resume', '1 resume']);
    await owned(harness, runId, nodeOf(1));
    at.there = [1, 2];
    at.idlest = 2;
    at.busy = deferred();
    const answer = callService.resume('twilio', runId, resuming(runId));
    await harness.until(() => at.asked.length === 4);
    await harness.pass(3_900);
    expect(at.asked.slice(3)).toEqual(['1 resume']);
    await harness.pass(100);
    expect((await answer).status).toBe(200);
    expect(at.asked.slice(3)).toEqual(['1 resume', '2 resume']);
    at.busy.resolve();
  });

  it('is answered by any worker if the holder is of a gateway that cannot be reached', async () => {
    const { harness, callService, at, runId } = await heldByTwo();
    await owned(harness, runId, 'far:/data#1');
    await callService.resume('twilio', runId, resuming(runId));
    expect(at.asked).toEqual(['2 start', '1 resume']);
  });

  it('is told that the call cannot go on if there is no worker', async () => {
    const { callService, at, runId } = await heldByTwo();
    at.there = [];
    at.idlest = 0;
    const { status, body } = await callService.resume('twilio', runId, resuming(runId));
    expect(status).toBe(200);
    expect(body).toContain('something went wrong on our side');
    expect(body).toContain('<Hangup/>');
    expect(at.waits).toBe(1);
  });

  it('learns nothing of a run that is not there, of a PBX or for a forged request', async () => {
    const { callService, at, runId } = await heldByTwo();
    const unknown = { code: 'RUN_NOT_FOUND' };
    const gone = callService.resume('twilio', '999999', resuming('999999'));
    await expect(gone).rejects.toMatchObject(unknown);
    await expect(callService.resume('ari', runId, resuming(runId))).rejects.toMatchObject(unknown);
    const forged = callService.resume('twilio', runId, resuming(runId, 'another token'));
    await expect(forged).rejects.toMatchObject({ code: 'WEBHOOK_SIGNATURE' });
    // The worker's refusal is final: no other one is asked.
    expect(at.asked).toEqual(['2 start', '1 resume', '2 resume']);
  });
});

describe('a call of a dead process whose provider keeps it', () => {
  it('is left to the worker that holds it by now', async () => {
    const { callService, at, runId } = await heldByTwo();
    expect(await callService.resumeLeft(runId)).toBe(true);
    expect(at.asked).toEqual(['2 start']);
  });

  it('goes on at one worker only, which says whether it does', async () => {
    const { harness, callService, at, runId } = await heldByTwo();
    await owned(harness, runId, 'host:/data');
    expect(await callService.resumeLeft(runId)).toBe(false);
    expect(at.asked).toEqual(['2 start', '1 resumeLeft']);
    at.isSlow = true;
    await expect(callService.resumeLeft(runId)).rejects.toMatchObject({ code: 'TIMED_OUT' });
    expect(at.asked).toEqual(['2 start', '1 resumeLeft', '1 resumeLeft']);
  });

  it('does not go on without a worker, and says so', async () => {
    const { harness, callService, at, runId } = await heldByTwo();
    await owned(harness, runId, 'host:/data');
    at.idlest = 0;
    const gone = { code: 'WORKER_GONE' };
    await expect(callService.resumeLeft(runId)).rejects.toMatchObject(gone);
    expect(at.waits).toBe(1);
    await expect(callService.resumeLeft('999999')).rejects.toMatchObject(gone);
    at.idlest = 1;
    expect(await callService.resumeLeft('999999')).toBe(false);
  });
});

describe('a call that talks', () => {
  it('has its keys pressed by its worker, once', async () => {
    const harness = await held.harness.prepare();
    const { callService, at } = withWorkers(harness);
    at.idlest = 2;
    const { runId } = await callService.start(wish(harness));
    const { organizationId } = harness.at.owner;
    const press = () => callService.sendDigits({ organizationId, runId, digits: '1' });
    await expect(press()).rejects.toMatchObject({ code: 'CALL_NOT_TALKING' });
    at.there = [1];
    await expect(press()).rejects.toMatchObject({ code: 'WORKER_GONE' });
    expect(at.asked).toEqual(['2 start', '2 sendDigits', '2 sendDigits']);
  });

  it('of a gateway that cannot be reached is sent no keys where only that gateway could, and says so', async () => {
    const harness = await held.harness.prepare();
    const { callService, at } = withWorkers(harness);
    const { runId } = await callService.start(wish(harness));
    await harness.at.sql(
      "update runs set state = 'running', owner_node = 'far:/data#1' where id = $1",
      [runId],
    );
    const { organizationId } = harness.at.owner;
    const press = callService.sendDigits({ organizationId, runId, digits: '1' });
    await expect(press).rejects.toMatchObject({ code: 'CALL_ELSEWHERE', retry: true });
    expect(at.asked).toEqual(['1 start', '1 sendDigits']);
  });

  it('is hung up by its worker, and by another at the provider if it is gone', async () => {
    const harness = await held.harness.prepare();
    const { callService, at } = withWorkers(harness);
    at.idlest = 2;
    const { organizationId } = harness.at.owner;
    const { runId } = await callService.start(wish(harness));
    const run = await callService.hangUp({ organizationId, runId });
    expect(run).toMatchObject({ state: 'completed', disposition: 'system_cancelled' });
    expect(at.asked).toEqual(['2 start', '2 hangUp']);
    at.there = [1];
    at.idlest = 1;
    await callService.hangUp({ organizationId, runId });
    expect(at.asked.slice(2)).toEqual(['2 hangUp', '1 hangUp']);
    await expect(callService.hangUp({ organizationId, runId: '999999' })).rejects.toMatchObject({
      code: 'RUN_NOT_FOUND',
    });
  });

  it('counts among those of the gateway', async () => {
    const { callService } = withWorkers(await held.harness.prepare());
    expect(callService.activeCalls).toBe(3);
  });
});
