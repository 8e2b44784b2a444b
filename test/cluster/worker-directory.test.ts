import { describe, expect, it } from 'vitest';
import type { IpcChannel } from '../../src/cluster/ipc-channel.ts';
import { API } from '../../src/cluster/ipc-message.ts';
import { LOAD_MS, serveWorkerCalls } from '../../src/cluster/worker-calls.ts';
import { WorkerDirectory } from '../../src/cluster/worker-directory.ts';
import { FakeClock } from '../fakes/fake-clock.ts';
import { formPost } from '../telephony/provider/provider-request.ts';
import { fakeWorker } from './fake-call-worker.ts';
import { wires } from './linked-channels.ts';

const request = formPost('https://gw.example.com/x', 'CallSid=CA1&To=%2B1', {});

function startWorkers() {
  const clock = new FakeClock();
  const made = wires(3, clock);
  const [, first, second] = made.links as [IpcChannel, IpcChannel, IpcChannel];
  const others = new WorkerDirectory(made.api, { clock, gateway: 'host:/data' });
  const workers = [first, second].map((link) => {
    const worker = fakeWorker(link.address);
    return { ...serveWorkerCalls(link, worker, clock), worker, link };
  });
  clock.advance(0);
  return { ...made, clock, others, workers };
}

describe('the call workers', () => {
  it('take calls in turn, the one with the fewest first', () => {
    const { others, workers, clock } = startWorkers();
    const [one, two] = [others.byNode('host:/data#1'), others.byNode('host:/data#2')];
    expect([one, two]).not.toContain(undefined);
    expect([0, 0, 0].map(() => others.leastLoaded())).toEqual([one, two, one]);
    const [first] = workers;
    if (first !== undefined) first.worker.calls = 7;
    clock.advance(LOAD_MS);
    expect([0, 0].map(() => others.leastLoaded())).toEqual([two, two]);
  });

  it('with PBXs take calls of hosted providers only if the others take no calls', () => {
    const { others, workers, clock } = startWorkers();
    const [one, two] = [others.byNode('host:/data#1'), others.byNode('host:/data#2')];
    for (const { worker } of workers.slice(0, 1)) worker.applications = ['branch'];
    for (const { worker } of workers.slice(1)) worker.calls = 20;
    clock.advance(LOAD_MS);
    expect(others.leastLoaded()).toBe(two);
    for (const { worker } of workers.slice(1)) worker.takesCalls = false;
    clock.advance(LOAD_MS);
    expect(others.leastLoaded()).toBe(one);
    expect(others.takesCalls).toBe(true);
    // If none has, one of them says so.
    for (const { worker } of workers) worker.takesCalls = false;
    clock.advance(LOAD_MS);
    expect(others.takesCalls).toBe(false);
    expect(others.leastLoaded()).toBe(two);
  });

  it('take calls over a PBX where they may dial, the one with the fewest first', () => {
    const { others, workers, clock } = startWorkers();
    const [one, two] = [others.byNode('host:/data#1'), others.byNode('host:/data#2')];
    for (const { worker } of workers.slice(0, 1)) worker.pbxs = ['7', '8'];
    for (const { worker } of workers.slice(1)) worker.pbxs = ['8'];
    clock.advance(LOAD_MS);
    expect([0, 0, 0].map(() => others.forPbx('8'))).toEqual([one, two, one]);
    expect([0, 0].map(() => others.forPbx('7'))).toEqual([one, one]);
    for (const { worker } of workers.slice(0, 1)) worker.takesCalls = false;
    clock.advance(LOAD_MS);
    expect([0, 0].map(() => others.forPbx('8'))).toEqual([two, two]);
    // The one with the connections says why it takes none.
    expect(others.forPbx('7')).toBe(one);
  });

  it('with PBXs hear of the loads of all that are not late', () => {
    const { links, others, workers, clock } = startWorkers();
    const heard: unknown[] = [];
    links[1]?.onNotification('pbx-loads', (body) => heard.push(body));
    clock.advance(LOAD_MS);
    expect(heard).toEqual([]);
    for (const { worker } of workers.slice(0, 1)) worker.applications = ['branch'];
    for (const { worker } of workers.slice(1)) worker.calls = 3;
    clock.advance(LOAD_MS);
    others.byNode('host:/data#1');
    clock.advance(LOAD_MS);
    expect(heard.at(-1)).toEqual([
      { worker: 1, calls: 0, takesCalls: true },
      { worker: 2, calls: 3, takesCalls: true },
    ]);
    for (const { stop } of workers.slice(1)) stop();
    clock.advance(10 * LOAD_MS);
    expect(heard.at(-1)).toEqual([{ worker: 1, calls: 0, takesCalls: true }]);
  });

  it('are known by the applications of their PBXs, also to an API process that is new', () => {
    const { api, others, workers, clock } = startWorkers();
    for (const { worker } of workers.slice(1)) worker.applications = ['branch'];
    clock.advance(LOAD_MS);
    expect(['branch', 'unknown'].map((name) => others.ofApplication(name))).toEqual([2, 1]);
    const again = new WorkerDirectory(api, { clock, gateway: 'host:/data' });
    for (let n = 0; n < 10; n += 1) clock.advance(LOAD_MS);
    expect(again.ofApplication('branch')).toBe(2);
  });

  // On a machine without processor time one worker was late for seconds, and each webhook was refused as if it had died.
  it('are late and not gone while all of them report nothing', () => {
    const { others, workers, clock, links } = startWorkers();
    for (const { stop } of workers) stop();
    clock.advance(60_000);
    expect(others.leastLoaded()).toBe(others.byNode('host:/data#1'));
    expect(others.leastLoaded()).toBe(others.byNode('host:/data#2'));
    expect(others.takesCalls).toBe(false);
    links[0]?.notify(API, 'gone', { worker: 1 });
    expect(others.leastLoaded()).toBe(others.byNode('host:/data#2'));
    links[0]?.notify(API, 'gone', { worker: 2 });
    expect(others.leastLoaded()).toBeUndefined();
  });

  it('take no call while they report nothing and another does, nor once they are gone', () => {
    const { others, workers, clock, links } = startWorkers();
    workers[0]?.stop();
    clock.advance(5 * LOAD_MS);
    expect(others.leastLoaded()).toBe(others.byNode('host:/data#2'));
    expect(others.numbers).toEqual([1, 2]);
    expect(others.isSingle).toBe(false);
    links[0]?.notify(API, 'gone', { worker: 2 });
    expect(others.isSingle).toBe(true);
    expect(others.leastLoaded()).toBe(others.byNode('host:/data#1')); // Late, and the only one.
    expect(others.byNode('host:/data#2')).toBeUndefined();
    expect(others.byNode('other:/data#1')).toBeUndefined();
    links[0]?.notify(API, 'gone', { worker: 1 });
    expect(others.pbxWorker()).toBeUndefined();
    expect(others.isSingle).toBe(false);
  });

  it('are waited for while none is there, and no longer than allowed', async () => {
    const clock = new FakeClock();
    const { api, links } = wires(2, clock);
    const others = new WorkerDirectory(api, { clock, gateway: 'host:/data' });
    const seen: string[] = [];
    void others.untilThere(1_000).then(() => seen.push('late'));
    clock.advance(1_000);
    await Promise.resolve();
    expect(seen).toEqual(['late']);
    void others.untilThere(1_000).then(() => seen.push('there'));
    serveWorkerCalls(links[1] as IpcChannel, fakeWorker(1), clock);
    clock.advance(0);
    await Promise.resolve();
    expect(seen).toEqual(['late', 'there']);
  });

  it('are asked with the whole request, and answer with the whole reply or their error', async () => {
    const { others } = startWorkers();
    const two = others.byNode('host:/data#2');
    expect(await two?.inbound(request, '5')).toMatchObject({
      status: 200,
      body: JSON.stringify([2, 'CallSid=CA1&To=%2B1', 'CA1', '5']),
    });
    expect(await two?.answer('twilio', '9', request)).toMatchObject({ body: '[2,"twilio","9"]' });
    await expect(two?.event('twilio', '9', request)).rejects.toMatchObject({
      code: 'WEBHOOK_SIGNATURE',
    });
    const wanted = { organizationId: '1', runId: '9' };
    await expect(two?.hangUp(wanted)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
    await expect(two?.sendDigits({ ...wanted, digits: '12#' })).resolves.toBeUndefined();
    await expect(two?.sendDigits({ ...wanted, digits: '3' })).rejects.toMatchObject({
      code: 'CALL_NOT_TALKING',
    });
  });

  it('start, place, look up and examine on request', async () => {
    const { others } = startWorkers();
    const two = others.byNode('host:/data#2');
    const byClient = {
      organizationId: '1',
      apiKeyId: null,
      apiKeyCreatedBy: '1',
      configurationId: null,
      fromPhoneNumberId: null,
      idempotencyKey: null,
    };
    const started = await two?.start({
      ...byClient,
      agent: { type: 'workflow_uuid', identifier: 'u' },
      mode: 'production',
      phoneNumber: '+1',
      initialContext: { nested: { a: [1] } },
    });
    expect(started).toEqual({ runId: '2', runName: '+1' });
    const test = { ...byClient, workflowId: '5', runId: null, phoneNumber: null };
    expect(await two?.startTest(test)).toEqual({ runId: '2', runName: '5' });
    const dial = { attemptId: '1', runId: '2', organizationId: '3', configurationId: '4' };
    const pace = { campaignId: '5', ratePerSecond: 5, waitMs: 500 };
    expect(await two?.place({ ...dial, ...pace, from: null, to: '+1' })).toBe('placed');
    expect(await two?.outcomeAfterCrash('9')).toBe('there');
    const of = { organizationId: '3', configurationId: '4' };
    const publicUrl = 'https://gw.example.com';
    expect(
      await two?.examine({ provider: 'ari', ...of, numbers: ['+1', '+2'], publicUrl }),
    ).toEqual([
      { key: '3/4 provider', title: publicUrl, verdict: 'pass', message: '+1,+2', advice: null },
    ]);
    const line = {
      name: 'main',
      kind: 'number',
      number: '8000',
      context: null,
      isEnabled: true,
      intervalMinutes: 30,
      places: null,
      testsKeys: true,
    } as const;
    expect(await two?.testLine({ provider: 'ari', ...of, publicUrl, line })).toEqual({
      fault: 'keys',
      message: '3/4 8000',
      delayMs: 40,
      lossShare: 0,
      codec: 'PCMU',
    });
  });

  it('are reported as they come, and their calls are counted', () => {
    const { api, clock, workers } = startWorkers();
    const again = new WorkerDirectory(api, { clock, gateway: 'host:/data' });
    const joined: number[] = [];
    again.onJoined = (worker) => joined.push(worker);
    for (const { worker } of workers) worker.activeCalls = 2;
    clock.advance(2 * LOAD_MS);
    expect(joined).toEqual([1, 2]);
    expect(again.activeCalls).toBe(4);
  });
});
