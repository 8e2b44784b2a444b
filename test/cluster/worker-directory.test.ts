import { describe, expect, it } from 'vitest';
import type { IpcChannel } from '../../src/cluster/ipc-channel.ts';
import { type CallWorker, LOAD_MS, serveWorkerCalls } from '../../src/cluster/worker-calls.ts';
import { WorkerDirectory } from '../../src/cluster/worker-directory.ts';
import { GatewayError } from '../../src/errors/gateway-error.ts';
import { FakeClock } from '../fakes/fake-clock.ts';
import { formPost } from '../telephony/provider/provider-request.ts';
import { wires } from './linked-channels.ts';

const request = formPost('https://gw.example.com/x', 'CallSid=CA1&To=%2B1', {});

function crew() {
  const clock = new FakeClock();
  const made = wires(4, clock);
  const [, front, second, third] = made.links as [IpcChannel, IpcChannel, IpcChannel, IpcChannel];
  const others = new WorkerDirectory(front, { clock, gateway: 'host:/data' });
  const workers = [second, third].map((link) => {
    const worker = fakeWorker(link.number);
    return { ...serveWorkerCalls(link, worker, clock), worker, link };
  });
  clock.advance(0);
  return { ...made, clock, front, others, workers };
}

function fakeWorker(number: number): CallWorker & { calls: number; activeCalls: number } {
  const reply = (words: unknown[]) => ({
    status: 200,
    contentType: 'text/xml',
    body: JSON.stringify([number, ...words]),
  });
  return {
    calls: 0,
    activeCalls: 0,
    inbound: async ({ rawBody, form }, workflowId) =>
      reply([rawBody.toString(), form['CallSid'], workflowId]),
    answer: async (name, runId) => reply([name, runId]),
    event: () => Promise.reject(new GatewayError('WEBHOOK_SIGNATURE')),
    hangUp: () => Promise.reject(new GatewayError('RUN_NOT_FOUND')),
    sendDigits: ({ digits }) =>
      digits === '12#' ? Promise.resolve() : Promise.reject(new GatewayError('CALL_NOT_TALKING')),
  };
}

describe('the other workers', () => {
  it('take calls in turn, the one with the fewest first, nobody who has more than the front', () => {
    const { others, workers, clock } = crew();
    const [two, three] = [others.byNode('host:/data#2'), others.byNode('host:/data#3')];
    expect([two, three]).not.toContain(undefined);
    expect([0, 0, 0].map(() => others.leastLoaded(0))).toEqual([two, three, undefined]);
    expect([1, 1].map(() => others.leastLoaded(1))).toEqual([two, three]);
    const [first] = workers;
    if (first !== undefined) first.worker.calls = 7;
    clock.advance(LOAD_MS);
    expect(others.leastLoaded(1)).toBe(three);
  });

  it('take no call while they say nothing, nor once they are gone', () => {
    const { others, workers, clock, links } = crew();
    workers[0]?.stop();
    clock.advance(5 * LOAD_MS);
    expect(others.leastLoaded(0)).toBe(others.byNode('host:/data#3'));
    expect(others.numbers).toEqual([2, 3]);
    links[0]?.notify(1, 'gone', { worker: 3 });
    expect(others.leastLoaded(9)).toBeUndefined();
    expect(others.byNode('host:/data#3')).toBeUndefined();
    expect(others.byNode('other:/data#2')).toBeUndefined();
  });

  it('are asked with the whole request, and answer with the whole reply or their error', async () => {
    const { others } = crew();
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

  it('are told of as they come, and their calls are counted', () => {
    const { front, clock, workers } = crew();
    const again = new WorkerDirectory(front, { clock, gateway: 'host:/data' });
    const joined: number[] = [];
    again.onJoined = (worker) => joined.push(worker);
    for (const { worker } of workers) worker.activeCalls = 2;
    clock.advance(2 * LOAD_MS);
    expect(joined).toEqual([2, 3]);
    expect(again.activeCalls).toBe(4);
  });
});
