import { expect, it } from 'vitest';
import type { ShareOf } from '../../src/call/start/inbound/pbx-shares.ts';
import { type PbxProcessesOptions, WorkerPbxProcesses } from '../../src/cluster/pbx-processes.ts';
import { GatewayError } from '../../src/errors/gateway-error.ts';
import type { PbxMemberListener } from '../../src/telephony/provider/pbx-members.ts';
import { FakeClock } from '../fakes/fake-clock.ts';
import { quietLog } from '../fakes/quiet-log.ts';
import { wires } from './linked-channels.ts';

const ASK_MS = 1_000;
const configuration = { id: '7', organizationId: '3' };

/** Workers 1 to `count`, the first of which has the connection. */
function startWorkers(count: number) {
  const clock = new FakeClock();
  const { log } = quietLog();
  const made = wires(count + 1, clock);
  const options: PbxProcessesOptions = { workers: count, gateway: 'gw', hasBus: false, clock, log };
  const workers = made.links.slice(1).map((link) => {
    const heard: unknown[] = [];
    const shares = {
      calls: 0,
      take: (of: Omit<ShareOf, 'organizationId'>, message: unknown) => heard.push([of, message]),
      answer: async (of: ShareOf, message: unknown): Promise<unknown> => ({ of, message }),
      processGone: (name: string) => heard.push(`${name} is gone`),
      processBack: (name: string) => heard.push(`${name} is back`),
    };
    const processes = new WorkerPbxProcesses(link, options);
    processes.serve({
      ...shares,
      take: (...of) => void shares.take(...of),
      processGone: (name) => void shares.processGone(name),
      processBack: (name) => void shares.processBack(name),
      get calls() {
        return shares.calls;
      },
      answer: (...of) => shares.answer(...of),
    });
    return { processes, shares, heard };
  });
  const [holder, second] = workers;
  if (holder === undefined) throw new Error('there is no worker');
  const members = holder.processes.members(configuration);
  if (members === undefined) throw new Error('there are no members');
  const news: string[] = [];
  const listener: PbxMemberListener = {
    onMessage: (member, message) => news.push(`${member}: ${JSON.stringify(message)}`),
    onJoined: (member) => news.push(`${member} joined`),
    onLost: (member) => news.push(`${member} lost`),
    onGone: (member) => news.push(`${member} gone`),
  };
  members.listen(listener);
  const loads = (all: object[]): void => void made.api.notify(1, 'pbx-loads', all);
  const gone = (worker: number): void => {
    made.cut(worker);
    for (const to of [1, 2, 3]) made.links[0]?.notify(to, 'gone', { worker });
  };
  return { ...made, clock, workers, second, members, news, loads, gone };
}

const load = (worker: number, calls: number, takesCalls = true) => ({ worker, calls, takesCalls });

it('messages about a PBX reach the process that is meant, and its answers come back', async () => {
  const { members, workers, second, news } = startWorkers(3);
  expect(members.names).toEqual(['2', '3']);
  expect(members.send('3', { event: 1 })).toBe(true);
  expect(workers.map(({ heard }) => heard.length)).toEqual([0, 0, 1]);
  expect(workers[2]?.heard).toEqual([[{ holder: '1', configurationId: '7' }, { event: 1 }]]);
  expect(await members.ask('2', 'calls?', ASK_MS)).toEqual({
    of: { holder: '1', organizationId: '3', configurationId: '7' },
    message: 'calls?',
  });
  second?.processes.toHolder('1', '7', { channel: 'a' });
  second?.processes.toHolder('1', '8', { channel: 'of another PBX' });
  expect(news).toEqual(['2: {"channel":"a"}']);
});

it('of a process that is not running nothing can be asked, and it has no calls', async () => {
  const { members, gone, news, workers } = startWorkers(3);
  gone(2);
  expect(news).toEqual(['2 gone']);
  expect(workers[2]?.heard).toEqual(['2 is gone']);
  expect(members.send('2', {})).toBe(false);
  expect(await members.ask('2', 'calls?', ASK_MS)).toBeUndefined();
});

it('of a process that has just started too: it holds no calls yet', async () => {
  const { members, links } = startWorkers(2);
  // It answers no such question.
  links[2]?.onRequest('pbx-ask', () => Promise.reject(new GatewayError('WORKER_FAILED', {})));
  expect(await members.ask('2', 'calls?', ASK_MS)).toBeUndefined();
});

it.each([
  ['cannot', () => Promise.reject(new GatewayError('STORE_UNAVAILABLE'))],
  ['fails to', () => Promise.reject(new Error('oh'))],
])('of a process that %s answer nothing is known: its calls are left alone', async (_, answer) => {
  const { members, second } = startWorkers(2);
  if (second !== undefined) second.shares.answer = answer;
  await expect(members.ask('2', 'calls?', ASK_MS)).rejects.toMatchObject({
    code: 'WORKER_FAILED',
  });
});

it('nor of one that does not answer in time', async () => {
  const { members, second, clock } = startWorkers(2);
  if (second !== undefined) second.shares.answer = () => new Promise(() => undefined);
  const asked = members.ask('2', 'calls?', ASK_MS);
  clock.advance(ASK_MS);
  await expect(asked).rejects.toMatchObject({ code: 'TIMED_OUT' });
});

it('the next call goes to the process with the fewest calls, in turn between two reports', () => {
  const { members, loads } = startWorkers(3);
  const all = new Set(['2', '3']);
  const next = (count: number) => Array.from({ length: count }, () => members.leastLoaded(all));
  expect(next(2)).toEqual([undefined, undefined]);
  loads([load(1, 1), load(2, 0), load(3, 0)]);
  // This process comes last where all have as many.
  expect(next(6)).toEqual(['2', '3', '2', '3', undefined, '2']);
  expect(members.leastLoaded(new Set())).toBeUndefined();
  loads([load(1, 0, false), load(2, 4), load(3, 9, false)]);
  expect(next(3)).toEqual(['2', '2', '2']);
  loads([load(1, 0, false), load(2, 4, false)]);
  expect(next(1)).toEqual([undefined]);
});

it('no call goes to a process that has ended', () => {
  const { members, loads, gone } = startWorkers(3);
  loads([load(1, 5), load(2, 0)]);
  gone(2);
  expect(members.leastLoaded(new Set(['2']))).toBeUndefined();
});

it('a process is reported when it is there, once, and again after its end', () => {
  const { loads, news, gone } = startWorkers(3);
  loads([load(1, 0), load(2, 0)]);
  loads([load(1, 0), load(2, 1)]);
  gone(2);
  loads([load(1, 0), load(3, 1)]);
  loads([load(1, 0), load(2, 0), load(3, 1)]);
  expect(news).toEqual(['2 joined', '2 gone', '3 joined', '2 joined']);
});

it('waits until the other processes hold no calls, and no longer than asked', async () => {
  const { workers, second, clock } = startWorkers(2);
  const holder = workers[0]?.processes;
  if (second === undefined || holder === undefined) throw new Error('a worker is missing');
  second.shares.calls = 1;
  let isIdle = false;
  void holder.untilIdle(60_000).then(() => {
    isIdle = true;
  });
  await clock.advanceAsync(5_000, 100);
  expect(isIdle).toBe(false);
  second.shares.calls = 0;
  await clock.advanceAsync(1_000, 100);
  expect(isIdle).toBe(true);
  second.shares.calls = 1;
  let isOver = false;
  void holder.untilIdle(3_000).then(() => {
    isOver = true;
  });
  await clock.advanceAsync(4_000, 100);
  expect(isOver).toBe(true);
});
