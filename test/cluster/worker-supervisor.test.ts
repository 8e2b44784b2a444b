// The supervisor over real processes.

import { ChildProcess, fork } from 'node:child_process';
import { IncomingMessage } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { API } from '../../src/cluster/ipc-message.ts';
import { handOffSocket } from '../../src/cluster/socket-handoff.ts';
import { routeUpgrades } from '../../src/cluster/upgrade-router.ts';
import { processIn, WorkerSupervisor } from '../../src/cluster/worker-supervisor.ts';
import { GatewayError } from '../../src/errors/gateway-error.ts';
import { entryPoint } from '../../src/runtime/entry-point.ts';
import { systemClock as clock } from '../../src/std/clock.ts';
import { isAlive } from '../fakes/is-alive.ts';
import { quietLog } from '../fakes/quiet-log.ts';

const entry = entryPoint('./worker-process.ts', import.meta.url);
const POLL = { timeout: 15_000 };
/** A process loads its sources through tsx. */
const LOADED_MS_MAX = 30_000;
const EPOCH = Promise.resolve('7');
const who = z.object({ number: z.number(), pid: z.number() });
const heard = who.extend({ heard: z.array(z.string()) });
const whoAndEpoch = who.extend({ epoch: z.string().nullable() });

let supervisor: WorkerSupervisor;
afterEach(() => {
  delete process.env['FAIL_WORKER'];
  supervisor.kill();
});

function supervised(workers: number, silentMsMax = 0, flags: string[] = []) {
  const { log, lines } = quietLog();
  supervisor = new WorkerSupervisor({
    workers,
    entry: { ...entry, execArgv: [...entry.execArgv, ...flags] },
    silentMsMax,
    clock,
    log,
  });
  return {
    lines,
    ask: (to: number, topic: string, body: unknown = {}) =>
      supervisor.link.request(to, topic, body, 5_000),
  };
}

describe('several workers', () => {
  it('talk to the supervisor and over it to each other; one that is killed is started again', async () => {
    const { ask, lines } = supervised(2);
    await supervisor.start(EPOCH);
    const first = who.parse(await ask(1, 'who'));
    const second = who.parse(await ask(2, 'who'));
    expect([first.number, second.number]).toEqual([1, 2]);
    expect(await ask(1, 'ask', 2)).toMatchObject(second);

    const waiting = ask(2, 'never');
    process.kill(second.pid, 'SIGKILL');
    await expect(waiting).rejects.toMatchObject({ code: 'WORKER_GONE' });
    await expect
      .poll(async () => {
        const again = who.safeParse(await ask(2, 'who').catch(() => undefined));
        return again.success && again.data.pid !== second.pid;
      }, POLL)
      .toBe(true);
    expect(who.parse(await ask(1, 'who')).pid).toBe(first.pid);
    expect(lines().filter(({ msg }) => msg === 'a worker died')).toHaveLength(1);

    // Nobody of that number.
    await expect(ask(1, 'ask', 7)).rejects.toMatchObject({ code: 'WORKER_GONE' });
    await supervisor.stop(1_000);
    await expect(ask(1, 'who')).rejects.toMatchObject({ code: 'WORKER_GONE' });
    expect(lines().filter(({ msg }) => msg === 'a worker died')).toHaveLength(1);
  }, 60_000);

  it('and the API know that the first key is printed, a new API process before it listens', async () => {
    const { ask } = supervised(1);
    await supervisor.start(EPOCH);
    const heardBy = async (pid?: number) => {
      const answer = heard.safeParse(await ask(API, 'who').catch(() => undefined)).data;
      return answer === undefined || answer.pid === pid ? undefined : answer;
    };
    const first = await heardBy();
    expect(first?.heard).toEqual(['listen']);
    supervisor.announced();
    expect((await heardBy())?.heard).toEqual(['listen', 'announced']);
    process.kill(first?.pid ?? 0, 'SIGKILL');
    await expect
      .poll(async () => (await heardBy(first?.pid))?.heard, POLL)
      .toEqual(['announced', 'listen']);
  }, 60_000);

  it('pass sockets to one another', async () => {
    supervised(2);
    await supervisor.start(EPOCH);
    const url = '/api/v1/telephony/ws/1/2/3/w2-abc';
    const handedOff: Promise<boolean>[] = [];
    const server = createServer((socket) => {
      const request = Object.assign(new IncomingMessage(socket), {
        url,
        method: 'GET',
        httpVersion: '1.1',
        rawHeaders: ['Host', 'gw.example.com'],
      });
      const head = Buffer.alloc(0);
      handedOff.push(handOffSocket(supervisor.link, 2, { request, socket, head }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    let heard = '';
    client.on('data', (bytes) => {
      heard += bytes;
    });
    await new Promise((resolve) => client.once('close', resolve));
    expect(heard).toBe(`2 has ${url}`);
    expect(await Promise.all(handedOff)).toEqual([true]);
    // What was handed over is not ours any more: the server closes at once.
    await new Promise((resolve) => server.close(resolve));
  }, 60_000);

  it('that are killed with a socket on its way to them do not take its answer with them', async () => {
    const { ask } = supervised(2);
    await supervisor.start(EPOCH);
    const { pid } = who.parse(await ask(2, 'who'));
    const url = '/api/v1/telephony/ws/1/2/3/of-two';
    const route = routeUpgrades(supervisor.link, {
      workers: { numbers: [1, 2], ofApplication: () => 1, nextNumber: () => 1 },
      label: 'gw1',
      signer: { verified: () => ({ label: 'gw1', worker: 2, untilMs: 0 }) },
    });
    const server = createServer((socket) => {
      const request = Object.assign(new IncomingMessage(socket), {
        url,
        method: 'GET',
        httpVersion: '1.1',
        rawHeaders: ['Host', 'gw.example.com'],
      });
      process.kill(pid, 'SIGSTOP');
      route(request, socket, Buffer.alloc(0));
      clock.after(300, () => process.kill(pid, 'SIGKILL')); // It has the socket in its channel then.
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.setEncoding('utf8');
    expect((await client.toArray()).join('')).toMatch(/^HTTP\/1.1 503 /);
    await new Promise((resolve) => server.close(resolve));
  }, 60_000);

  it('that died send nothing any more, which would be taken for their successor', async () => {
    const { ask } = supervised(1);
    await supervisor.start(EPOCH);
    const { pid } = who.parse(await ask(1, 'who'));
    const told: unknown[] = [];
    supervisor.link.onNotification('load', (body) => told.push(body));
    const { emit } = ChildProcess.prototype;
    // The kernel may report the end of a process before the rest of its pipe.
    ChildProcess.prototype.emit = function (name: string, ...rest: unknown[]) {
      const is = Reflect.apply(emit, this, [name, ...rest]);
      const last = { kind: 'note', from: 1, to: 0, bytes: 9, topic: 'load', body: 'last words' };
      if (name === 'exit' && this.pid === pid) Reflect.apply(emit, this, ['message', last]);
      return is;
    };
    try {
      process.kill(pid, 'SIGKILL');
      await expect
        .poll(
          () =>
            ask(1, 'who').then(
              () => true,
              () => false,
            ),
          POLL,
        )
        .toBe(true);
    } finally {
      ChildProcess.prototype.emit = emit;
    }
    expect(told).toEqual([]);
  }, 60_000);

  it('are started again when the system had no process for them', async () => {
    const { ask, lines } = supervised(1);
    await supervisor.start(EPOCH);
    const { pid } = who.parse(await ask(1, 'who'));
    const { execPath } = process;
    const deaths = () => lines().filter(({ msg }) => msg === 'a worker died').length;
    process.execPath = '/nowhere/node'; // spawn gives an error and no exit.
    try {
      process.kill(pid, 'SIGKILL');
      await expect.poll(deaths, POLL).toBeGreaterThanOrEqual(2);
      process.execPath = '\0'; // fork throws.
      const before = deaths();
      await expect.poll(deaths, POLL).toBeGreaterThan(before);
    } finally {
      process.execPath = execPath;
    }
    await expect
      .poll(
        () =>
          ask(1, 'who').then(
            () => true,
            () => false,
          ),
        POLL,
      )
      .toBe(true);
  }, 60_000);

  it('end with their supervisor, also if it is killed while they are loaded', async () => {
    supervised(1);
    const worker = fork(entry.path, ['worker', '1'], { execArgv: entry.execArgv });
    const exited = new Promise((resolve) => worker.once('exit', resolve));
    worker.disconnect();
    const late = new Promise((resolve) => clock.after(POLL.timeout, () => resolve('lives on')));
    expect(await Promise.race([exited, late])).toBe(1);
    worker.kill('SIGKILL');
  }, 30_000);

  it('of which one does not come up are none', async () => {
    process.env['FAIL_WORKER'] = '2';
    const { ask } = supervised(2);
    await expect(supervisor.start(EPOCH)).rejects.toMatchObject({
      code: 'WORKER_FAILED',
      facts: { worker: '2' },
    });
    await expect
      .poll(
        () =>
          ask(1, 'who').then(
            () => true,
            () => false,
          ),
        POLL,
      )
      .toBe(false);
  }, 60_000);
});

describe('a process whose heap is exhausted', () => {
  it('is named with that reason, and started again', async () => {
    const { ask, lines } = supervised(1, 0, ['--max-old-space-size=64']);
    await supervisor.start(EPOCH);
    const first = who.parse(await ask(1, 'who'));
    await expect(supervisor.link.request(1, 'fill', {}, 60_000)).rejects.toMatchObject({
      code: 'WORKER_GONE',
    });
    expect(lines().filter(({ msg }) => msg === 'a worker died')).toMatchObject([
      { worker: '1', reason: 'heap_limit', signal: 'SIGABRT' },
    ]);
    await expect
      .poll(async () => {
        const again = who.safeParse(await ask(1, 'who').catch(() => undefined));
        return again.success && again.data.pid !== first.pid;
      }, POLL)
      .toBe(true);
  }, 120_000);
});

describe('a process without a heartbeat', () => {
  it('is killed, counted and started again', async () => {
    const { ask, lines } = supervised(1, 7_000);
    await supervisor.start(EPOCH);
    const first = who.parse(await ask(API, 'who'));
    process.kill(first.pid, 'SIGSTOP');
    const killed = () =>
      lines().filter(({ msg }) => msg === 'a worker without a heartbeat is killed');
    await expect.poll(() => killed().length, POLL).toBe(1);
    expect(killed()).toMatchObject([{ worker: 'api' }]);
    await expect
      .poll(async () => {
        const again = who.safeParse(await ask(API, 'who').catch(() => undefined));
        return again.success && again.data.pid !== first.pid;
      }, POLL)
      .toBe(true);
    // The other one has one.
    expect(lines().filter(({ msg }) => msg === 'a worker died')).toMatchObject([{ worker: 'api' }]);
  }, 60_000);
});

describe('processes that are started while the database opens', () => {
  it('load, answer the supervisor, and serve only once they have the epoch', async () => {
    const { ask, lines } = supervised(1);
    let open: (epoch: string) => void = () => undefined;
    const started = supervisor.start(new Promise((resolve) => (open = resolve)));
    const before = whoAndEpoch.parse(await supervisor.link.request(1, 'who', {}, LOADED_MS_MAX));
    expect(before.epoch).toBeNull();
    expect(lines().filter(({ msg }) => msg === 'a worker serves')).toEqual([]);
    open('7');
    await started;
    expect(whoAndEpoch.parse(await ask(1, 'who'))).toEqual({ ...before, epoch: '7' });

    process.kill(before.pid, 'SIGKILL');
    await expect
      .poll(async () => {
        const again = whoAndEpoch.safeParse(await ask(1, 'who').catch(() => undefined));
        return again.success && again.data.pid !== before.pid && again.data.epoch;
      }, POLL)
      .toBe('7');
  }, 60_000);

  it('are killed if it does not open, and its error is the one of the start', async () => {
    supervised(1);
    let fail: (error: Error) => void = () => undefined;
    const epoch = new Promise<string>((_, reject) => (fail = reject));
    const started = supervisor.start(epoch);
    const { pid } = who.parse(await supervisor.link.request(1, 'who', {}, LOADED_MS_MAX));
    fail(new GatewayError('STORE_LOCKED', { folder: '/data' }));
    await expect(started).rejects.toMatchObject({ code: 'STORE_LOCKED' });
    await expect.poll(() => isAlive(pid), POLL).toBe(false);
  }, 60_000);
});

it('a process takes its number from its arguments', () => {
  supervised(1);
  expect(processIn(['node', 'main.js', 'worker', '2'])).toBe(2);
  expect(processIn(['node', 'main.js', 'api'])).toBe(API);
  for (const words of [
    '',
    'worker',
    'worker 0',
    'worker x',
    'worker 1.5',
    'worker 33',
    'worker 34',
  ])
    expect(processIn(words.split(' '))).toBeUndefined();
});
