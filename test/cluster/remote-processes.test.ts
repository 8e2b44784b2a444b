// Call workers of several gateways that hold the calls of a PBX together: over the API processes, as on one bus.

import { expect, it } from 'vitest';
import type { ShareOf } from '../../src/call/start/inbound/pbx-shares.ts';
import {
  GatewayDirectory,
  PRESENCE_MS,
  relayToWorkers,
} from '../../src/cluster/gateway-directory.ts';
import type { IpcChannel } from '../../src/cluster/ipc-channel.ts';
import { WorkerPbxProcesses } from '../../src/cluster/pbx-processes.ts';
import { relayRemoteMessages } from '../../src/cluster/remote-messages.ts';
import { LOAD_MS, serveWorkerCalls } from '../../src/cluster/worker-calls.ts';
import { WorkerDirectory } from '../../src/cluster/worker-directory.ts';
import { systemRandom as random } from '../../src/std/random.ts';
import type { PbxMemberListener } from '../../src/telephony/provider/pbx-members.ts';
import { FakeClock } from '../fakes/fake-clock.ts';
import { quietLog } from '../fakes/quiet-log.ts';
import { fakeWorker } from './fake-call-worker.ts';
import { wires } from './linked-channels.ts';
import { type LinkedGateways, linkedGateways } from './linked-gateways.ts';

const configuration = { id: '7', organizationId: '3' };
const ASK_MS = 1_000;

/** A gateway with workers that may dial over that PBX; the first has the connection if `isHolder`. */
function startGateway(name: string, on: LinkedGateways, clock: FakeClock, isHolder = false) {
  const count = 2;
  const made = wires(count + 1, clock);
  const { api, links } = made;
  const { log } = quietLog();
  const directory = new WorkerDirectory(api, { clock, gateway: name });
  const workers = links.slice(1).map((link) => {
    const taken: unknown[] = [];
    const shares = {
      calls: 0,
      take: (of: Omit<ShareOf, 'organizationId'>, message: unknown) =>
        void taken.push([of, message]),
      answer: async (of: ShareOf, message: unknown): Promise<unknown> => ({ of, message }),
      processGone: (gone: string) => void taken.push(`${gone} is gone`),
      processBack: (back: string) => void taken.push(`${back} is back`),
    };
    const processes = new WorkerPbxProcesses(link, {
      workers: count,
      gateway: name,
      hasBus: true,
      clock,
      log,
    });
    processes.serve(shares);
    const worker = fakeWorker(link.address);
    worker.pbxs = ['7'];
    if (isHolder && link.address === 1) worker.applications = ['app'];
    serveWorkerCalls(link, worker, clock);
    return { taken, shares, processes, worker };
  });
  const bus = on.join(name);
  const at = { isLeaving: false };
  const own = () => ({
    url: `http://${name}`,
    version: '1',
    ...at,
    workers: directory.reports,
    pbxs: directory.pbxs,
  });
  const gateways = new GatewayDirectory(bus, { clock, random, own });
  relayToWorkers(bus, api);
  const tell = relayRemoteMessages(bus, api, () => directory.numbers);
  directory.others = gateways;
  gateways.onJoined = (gateway) => tell({ gateway, is: 'back' });
  gateways.onLeft = (gateway) => tell({ gateway, is: 'gone' });
  return { ...made, at, workers, directory, gateways, tell };
}

type Started = ReturnType<typeof startGateway>;

function workerOf({ workers }: Started, number: number): Started['workers'][number] {
  const worker = workers[number - 1];
  if (worker === undefined) throw new Error('there is no such worker');
  return worker;
}

function two() {
  const clock = new FakeClock();
  const on = linkedGateways(clock);
  const a = startGateway('a', on, clock, true);
  const b = startGateway('b', on, clock);
  clock.advance(0);
  for (const { gateways } of [a, b]) gateways.start();
  const members = workerOf(a, 1).processes.members(configuration);
  if (members === undefined) throw new Error('there are no members');
  const news: string[] = [];
  const listener: PbxMemberListener = {
    onMessage: (member, message) => news.push(`${member}: ${JSON.stringify(message)}`),
    onJoined: (member) => news.push(`${member} joined`),
    onLost: (member) => news.push(`${member} lost`),
    onGone: (member) => news.push(`${member} gone`),
  };
  members.listen(listener);
  clock.advance(PRESENCE_MS + LOAD_MS);
  return { clock, on, a, b, members, news };
}

/** Sets facts of a worker, and waits until everybody knows. */
function set(clock: FakeClock, worker: object, facts: object): void {
  Object.assign(worker, facts);
  clock.advance(2 * (LOAD_MS + PRESENCE_MS));
}

it('workers of another gateway are members, and are reached like those of this one', async () => {
  const { a, b, members, news } = two();
  expect(members.names).toEqual(['2', 'b#1', 'b#2']);
  expect(members.names.map((each) => members.isRemote(each))).toEqual([false, true, true]);
  expect(news).toEqual(expect.arrayContaining(['2 joined', 'b#1 joined', 'b#2 joined']));
  expect(members.send('b#2', { event: 1 })).toBe(true);
  const { taken, processes } = workerOf(b, 2);
  expect(taken).toContainEqual([{ holder: 'a#1', configurationId: '7' }, { event: 1 }]);
  expect(await members.ask('b#2', 'calls?', ASK_MS)).toEqual({
    of: { holder: 'a#1', organizationId: '3', configurationId: '7' },
    message: 'calls?',
  });
  processes.toHolder('a#1', '7', { channel: 'x' });
  expect(news).toContain('b#2: {"channel":"x"}');
  expect(workerOf(a, 2).taken.filter((each) => Array.isArray(each))).toEqual([]);
});

it('the next call goes to the worker with the fewest calls of all gateways, and to this one if they have as many', () => {
  const { clock, a, b, members } = two();
  const all = new Set(members.names);
  set(clock, workerOf(a, 1).worker, { calls: 2 });
  set(clock, workerOf(a, 2).worker, { calls: 2 });
  set(clock, workerOf(b, 1).worker, { calls: 1 });
  set(clock, workerOf(b, 2).worker, { calls: 2 });
  const next = (count: number) => Array.from({ length: count }, () => members.leastLoaded(all));
  expect(next(5)).toEqual(['b#1', '2', undefined, 'b#1', 'b#2']);
  // Only those that have compared their calls.
  clock.advance(2_000);
  expect(members.leastLoaded(new Set(['2', 'b#2']))).toBe('2');
});

it('calls that another gateway was given count until its report has them', () => {
  const { clock, a, members } = two();
  const all = new Set(members.names);
  set(clock, workerOf(a, 1).worker, { calls: 9 });
  set(clock, workerOf(a, 2).worker, { calls: 9 });
  const first = Array.from({ length: 4 }, () => members.leastLoaded(all));
  clock.advance(LOAD_MS); // A report of this gateway alone.
  const more = Array.from({ length: 4 }, () => members.leastLoaded(all));
  expect([...first, ...more].filter((each) => each === 'b#1')).toHaveLength(4);
});

it('a gateway that stops gets no call, and keeps those that it has', () => {
  const { clock, a, b, members } = two();
  set(clock, workerOf(a, 1).worker, { calls: 9 });
  set(clock, workerOf(a, 2).worker, { calls: 9 });
  b.at.isLeaving = true;
  clock.advance(PRESENCE_MS + LOAD_MS);
  expect(members.leastLoaded(new Set(members.names))).toBe('2');
  expect(members.send('b#1', {})).toBe(true);
});

it('one without the bus is lost and not gone, and joins when it is back; its shares lose their holder', () => {
  const { clock, on, a, b, members, news } = two();
  news.length = 0;
  on.cut('b');
  for (const { gateways } of [a, b]) gateways.forgetAll();
  expect(news).toEqual(['b#1 lost', 'b#2 lost']);
  expect(members.names).toEqual(['2']);
  expect(members.send('b#1', {})).toBe(false);
  expect(workerOf(b, 2).taken).toContain('a#1 is gone');
  const again = startGateway('b', on, clock);
  clock.advance(0);
  again.gateways.start();
  clock.advance(PRESENCE_MS + LOAD_MS);
  expect(news).toEqual(['b#1 lost', 'b#2 lost', 'b#1 joined', 'b#2 joined']);
  expect(workerOf(again, 2).taken).toContain('a#1 is back');
});

it('a message that was not sent makes its gateway lost, until its next report', () => {
  const { clock, a, members, news } = two();
  news.length = 0;
  a.tell({ gateway: 'b', is: 'unsent' });
  expect(news).toEqual(['b#1 lost', 'b#2 lost']);
  clock.advance(LOAD_MS);
  expect(news).toEqual(['b#1 lost', 'b#2 lost', 'b#1 joined', 'b#2 joined']);
  expect(members.names).toEqual(['2', 'b#1', 'b#2']);
});

it('without its API process a gateway has no members elsewhere', async () => {
  const { a, members, news } = two();
  news.length = 0;
  a.links[0]?.notify(1, 'gone', { worker: 33 });
  expect(news).toEqual(['b#1 lost', 'b#2 lost']);
  expect(members.names).toEqual(['2']);
  await members.refresh();
  expect(members.names).toEqual(['2', 'b#1', 'b#2']);
});

it('of a worker elsewhere that is not running nothing is known; one that has just started has no calls', async () => {
  const { b, members } = two();
  b.cut(2);
  await expect(members.ask('b#2', 'calls?', ASK_MS)).rejects.toMatchObject({ code: 'WORKER_GONE' });
  b.links[1]?.onRequest('remote-ask', () => Promise.reject(new Error('no shares yet')));
  expect(await members.ask('b#1', 'calls?', ASK_MS)).toBeUndefined();
});

it('a hundred questions to other gateways are under way at most, and those that wait have a deadline', async () => {
  const { clock, b, members } = two();
  let asked = 0;
  workerOf(b, 1).shares.answer = () => {
    asked += 1;
    return new Promise(() => undefined);
  };
  const answers = Array.from({ length: 150 }, () =>
    members.ask('b#1', 'calls?', ASK_MS).catch((error: unknown) => error),
  );
  await clock.advanceAsync(100);
  expect(asked).toBe(100);
  await clock.advanceAsync(3_000);
  expect(await Promise.all(answers)).toHaveLength(150);
});

it('a call out over the PBX is dialled by the worker with the fewest calls of all gateways', async () => {
  const { clock, a, b } = two();
  const dialledBy = async (where?: 'here'): Promise<string | undefined> =>
    (await a.directory.forPbx('7', where)?.start(wanted))?.runId;
  for (const each of [workerOf(a, 1), workerOf(a, 2), workerOf(b, 1), workerOf(b, 2)]) {
    const started = { runId: each === workerOf(b, 2) ? 'b2' : 'other', runName: '' };
    each.worker.start = async () => started;
    each.worker.calls = each === workerOf(b, 2) ? 3 : 5;
  }
  clock.advance(2 * (LOAD_MS + PRESENCE_MS));
  expect(await dialledBy()).toBe('b2');
  expect(await dialledBy('here')).toBe('other');
  // Worker 1 may not dial there: which one would get the call is not known here.
  workerOf(b, 1).worker.pbxs = [];
  clock.advance(2 * (LOAD_MS + PRESENCE_MS));
  expect(await dialledBy()).toBe('other');
});

const wanted = {
  organizationId: '3',
  apiKeyId: null,
  apiKeyCreatedBy: '',
  configurationId: '7',
  fromPhoneNumberId: null,
  idempotencyKey: null,
  agent: { type: 'trigger_path', identifier: 'x' },
  mode: 'production',
  phoneNumber: '+1',
  initialContext: {},
} as const;

it('at most 64 workers of other gateways are members', () => {
  const clock = new FakeClock();
  const on = linkedGateways(clock);
  const a = startGateway('a', on, clock, true);
  const others = Array.from({ length: 40 }, (_, nth) => startGateway(`b${nth}`, on, clock));
  clock.advance(0);
  for (const { gateways } of [a, ...others]) gateways.start();
  clock.advance(PRESENCE_MS);
  expect(a.gateways.names).toHaveLength(40);
  expect(a.gateways.pbxLoads).toHaveLength(64);
});

it('a gateway of an earlier version, which reports no PBXs, has no members', () => {
  const { clock, on, a } = two();
  const old: IpcChannel<string> = on.join('old');
  const worker = { number: 1, active: 0, calls: 0, takesCalls: true, stt: null, applications: [] };
  const presence = { session: 's', url: '', version: '0', isLeaving: false, workers: [worker] };
  old.notify('a', 'presence', presence);
  clock.advance(LOAD_MS);
  expect(a.gateways.names).toContain('old');
  expect(a.gateways.pbxLoads.map(({ worker: name }) => name)).toEqual(['b#1', 'b#2']);
  expect(a.gateways.forPbx('7')?.calls).toBe(0);
});
