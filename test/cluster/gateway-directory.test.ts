import { describe, expect, it } from 'vitest';
import {
  FORGOTTEN_MS,
  GatewayDirectory,
  PRESENCE_MS,
  relayToWorkers,
} from '../../src/cluster/gateway-directory.ts';
import type { IpcChannel } from '../../src/cluster/ipc-channel.ts';
import { LOAD_MS, serveWorkerCalls } from '../../src/cluster/worker-calls.ts';
import { WorkerDirectory } from '../../src/cluster/worker-directory.ts';
import { systemRandom as random } from '../../src/std/random.ts';
import { FakeClock } from '../fakes/fake-clock.ts';
import { formPost } from '../telephony/provider/provider-request.ts';
import { fakeWorker } from './fake-call-worker.ts';
import { wires } from './linked-channels.ts';
import { type LinkedGateways, linkedGateways } from './linked-gateways.ts';

const request = formPost('https://gw.example.com/x', 'CallSid=CA1&To=%2B1', {});
const wanted = { organizationId: '1', runId: '9', digits: '12#' };

/** A gateway with two workers. */
function startGateway(name: string, on: LinkedGateways, clock: FakeClock) {
  const { api, links } = wires(3, clock);
  const workers = new WorkerDirectory(api, { clock, gateway: name });
  const calls = links.slice(1).map((link) => fakeWorker(link.address));
  const serving = calls.map((worker, n) =>
    serveWorkerCalls(links[n + 1] as IpcChannel, worker, clock),
  );
  const bus = on.join(name);
  const at = { isLeaving: false };
  const own = () => ({
    url: `http://${name}`,
    version: '1',
    ...at,
    workers: workers.reports,
    pbxs: workers.pbxs,
  });
  const gateways = new GatewayDirectory(bus, { clock, random, own });
  relayToWorkers(bus, api);
  workers.others = gateways;
  const seen: string[] = [];
  gateways.onJoined = (joined) => seen.push(`+${joined}`);
  gateways.onLeft = (left) => seen.push(`-${left}`);
  return { bus, at, workers, gateways, calls, serving, seen };
}

function two() {
  const clock = new FakeClock();
  const on = linkedGateways(clock);
  const a = startGateway('a', on, clock);
  const b = startGateway('b', on, clock);
  clock.advance(0); // The first reports of the workers.
  for (const { gateways } of [a, b]) gateways.start();
  clock.advance(PRESENCE_MS);
  return { clock, on, a, b };
}

/** Sets one fact of all workers of a gateway, and waits until everybody knows. */
function set(
  clock: FakeClock,
  { calls }: ReturnType<typeof startGateway>,
  facts: { takesCalls?: boolean; calls?: number },
): void {
  for (const worker of calls) Object.assign(worker, facts);
  clock.advance(LOAD_MS + PRESENCE_MS);
}

describe('gateways on one bus', () => {
  it('know each other, with workers, loads and addresses', () => {
    const { a, b } = two();
    expect(a.gateways.names).toEqual(['b']);
    expect(b.gateways.byName('a')).toMatchObject({ url: 'http://a', version: '1' });
    expect(b.gateways.byName('a')?.workers.map(({ number }) => number)).toEqual([1, 2]);
    expect([a.seen, b.seen]).toEqual([['+b'], ['+a']]);
    expect(a.workers.isSingle).toBe(false);
  });

  it('forget one that is silent for four seconds, and one that leaves at once', () => {
    const { clock, on, a } = two();
    on.cut('b');
    clock.advance(FORGOTTEN_MS);
    expect(a.gateways.names).toEqual(['b']);
    clock.advance(2 * PRESENCE_MS);
    expect(a.seen).toEqual(['+b', '-b']);
    expect(a.workers.byNode('b#1')).toBeUndefined();
    const others = two();
    others.a.gateways.stop();
    expect(others.b.seen).toEqual(['+a', '-a']);
  });

  it('forget nobody because they stood still themselves', () => {
    const { clock, a } = two();
    clock.stall(60_000);
    clock.advance(PRESENCE_MS);
    expect(a.seen).toEqual(['+b']);
  });

  it('meet again after both were cut off from the bus, or one has started again', () => {
    const { clock, on, a, b } = two();
    a.gateways.forgetAll();
    expect(a.gateways.isAny).toBe(false);
    clock.advance(2 * PRESENCE_MS);
    expect(a.seen).toEqual(['+b', '-b', '+b']);
    expect(b.seen).toEqual(['+a', '-a', '+a']); // Earlier reports to it may be lost.
    on.cut('a');
    startGateway('a', on, clock).gateways.start();
    expect(b.seen).toEqual(['+a', '-a', '+a', '-a', '+a']);
  });

  it('tell another one what it needs to know only after it has noticed that they are new', () => {
    const { clock, a, b } = two();
    a.gateways.onJoined = (name) => void a.bus.notify(name, 'told', {});
    b.bus.onNotification('told', () => b.seen.push('told'));
    a.gateways.forgetAll();
    clock.advance(3 * PRESENCE_MS);
    expect(b.seen.filter((each) => each !== '+a')).toEqual(['-a', 'told']);
  });

  it('keep in touch with a worker that is late with its reports, and give it no call', () => {
    const { clock, a, b } = two();
    for (const { stop } of b.serving) stop();
    clock.advance(5_000);
    expect(a.gateways.byName('b')?.workers.map(({ takesCalls }) => takesCalls)).toEqual([
      false,
      false,
    ]);
    expect(a.workers.byNode('b#1')).toBeDefined();
    expect(a.gateways.leastLoaded()).toBeUndefined();
  });

  it('ignore reports of another form, and go on', () => {
    const { on, a } = two();
    const c = on.join('c');
    for (const junk of [undefined, 7, {}, { session: 1, workers: [{}] }]) {
      c.notify('a', 'presence', junk);
    }
    expect(a.gateways.names).toEqual(['b']);
    expect(on.lines().map(({ msg }) => msg)).toContain('message of another process failed');
  });
});

describe('a worker of another gateway', () => {
  it('is found by its node, asked with the whole request, and answers with its reply or its error', async () => {
    const { a } = two();
    const far = a.workers.byNode('b#2');
    expect(await far?.inbound(request, '5')).toMatchObject({
      body: JSON.stringify([2, 'CallSid=CA1&To=%2B1', 'CA1', '5']),
    });
    expect(await far?.answer('twilio', '9', request)).toMatchObject({ body: '[2,"twilio","9"]' });
    expect(await far?.resume('twilio', '9', request)).toMatchObject({
      body: '[2,"resume","twilio","9"]',
    });
    expect(await far?.resumeLeft('9')).toBe(true);
    await expect(far?.event('twilio', '9', request)).rejects.toMatchObject({
      code: 'WEBHOOK_SIGNATURE',
    });
    await expect(far?.hangUp(wanted)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
    await expect(far?.sendDigits(wanted)).resolves.toBeUndefined();
    for (const none of ['b#3', 'b#', 'b', 'c#1', '#1', 'a#b#1']) {
      expect(a.workers.byNode(none)).toBeUndefined();
    }
  });

  // `resume` was refused there: the provider of a call whose media had ended at the other gateway got an error.
  it('is asked what a worker of this gateway is asked', async () => {
    const { a } = two();
    const far = a.workers.byNode('b#2');
    expect(await far?.resume('twilio', '9', request)).toMatchObject({
      body: '[2,"resume","twilio","9"]',
    });
    expect(await far?.resumeLeft('9')).toBe(true);
    expect(await far?.answerAgain('9')).toBe(true);
    expect(await far?.runOfAccountEvent('telnyx', request)).toEqual({
      runId: 'CallSid=CA1&To=%2B1',
    });
    expect(await far?.outcomeAfterCrash('9')).toBe('there');
  });

  it('fails at once if its gateway is gone or is forgotten meanwhile, and with it alone', async () => {
    const { on, a, b } = two();
    for (const worker of b.calls) worker.sendDigits = () => new Promise(() => undefined);
    const far = a.workers.byNode('b#1');
    const waiting = far?.sendDigits(wanted);
    b.gateways.stop();
    await expect(waiting).rejects.toMatchObject({ code: 'WORKER_GONE' });
    on.cut('b');
    await expect(far?.sendDigits(wanted)).rejects.toMatchObject({ code: 'WORKER_GONE' });
  });

  it('is asked for nothing but calls', async () => {
    const { a } = two();
    for (const body of [
      { worker: 1, topic: 'upgrade', body: {}, ms: 1_000 },
      { worker: 0, topic: 'digits', body: wanted, ms: 1_000 },
      { worker: 1, topic: 'digits', body: wanted, ms: 1e9 },
    ]) {
      await expect(a.bus.request('b', 'worker', body, 1_000)).rejects.toMatchObject({
        code: 'WORKER_FAILED',
      });
    }
  });

  it('gets an inbound call if no worker here accepts calls and one there does', async () => {
    const { clock, a, b } = two();
    const ask = async () => (await a.workers.forInbound()?.inbound(request, null))?.body;
    const isHere = (worker: unknown) =>
      [a.workers.byNode('a#1'), a.workers.byNode('a#2')].includes(worker as never);
    expect(isHere(a.workers.forInbound())).toBe(true);
    set(clock, a, { takesCalls: false });
    set(clock, b, { calls: 5 });
    expect(isHere(a.workers.forInbound())).toBe(false);
    expect(await ask()).toContain('CallSid=CA1');
    set(clock, b, { takesCalls: false });
    expect(isHere(a.workers.forInbound())).toBe(true);
  });

  it('gets the inbound calls of a gateway that stops, and none if it stops itself', () => {
    const { clock, a, b } = two();
    const own = [a.workers.byNode('a#1'), a.workers.byNode('a#2')];
    a.at.isLeaving = true;
    expect(own).not.toContain(a.workers.forInbound());
    b.at.isLeaving = true;
    clock.advance(PRESENCE_MS);
    expect(own).toContain(a.workers.forInbound());
  });

  it('gets no other new call', () => {
    const { clock, a } = two();
    const own = [a.workers.byNode('a#1'), a.workers.byNode('a#2')];
    set(clock, a, { takesCalls: false });
    expect(own).toContain(a.workers.leastLoaded());
    expect(a.workers.takesCalls).toBe(false);
    expect(own).toContain(a.workers.pbxWorker());
  });
});

it('inbound calls of several gateways go to the least loaded of those with room', () => {
  const clock = new FakeClock();
  const on = linkedGateways(clock);
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => startGateway(name, on, clock));
  if (!a || !b || !c || !d) throw new Error('four gateways');
  clock.advance(0);
  for (const { gateways } of [a, b, c, d]) gateways.start();
  set(clock, a, { takesCalls: false });
  set(clock, b, { calls: 6 });
  set(clock, c, { calls: 3 });
  set(clock, d, { calls: 0, takesCalls: false });
  on.sent.length = 0;
  for (let n = 0; n < 4; n += 1) void a.workers.forInbound()?.inbound(request, null);
  const asked = () => on.sent.filter(({ kind }) => kind === 'request').map(({ to }) => to);
  expect(asked()).toEqual(['c', 'c', 'c', 'c']);
  for (let n = 0; n < 6; n += 1) void a.workers.forInbound()?.inbound(request, null);
  expect(new Set(asked())).toEqual(new Set(['b', 'c']));
});
