// Starts the processes of a gateway (the API and the call workers), restarts one that died (at once, then with
// backoff), kills one whose heartbeat stops, routes their messages, and stops them: first all finish their calls, then
// all end.

import { type ChildProcess, fork } from 'node:child_process';
import { GatewayError } from '../errors/gateway-error.ts';
import type { Log } from '../log.ts';
import { workerDeaths, workerKills, workersUp } from '../metrics/metrics.ts';
import { engineThreadOptions } from '../runtime/engine-threads.ts';
import type { EntryPoint } from '../runtime/entry-point.ts';
import { keepLastOutput } from '../runtime/last-output.ts';
import type { ListenHandle } from '../runtime/listen-handle.ts';
import type { Clock, Timer } from '../std/clock.ts';
import { RestartBackoff } from '../std/restart-backoff.ts';
import { IpcChannel, type IpcTransport } from './ipc-channel.ts';
import {
  API,
  closeHandle,
  type IpcHandle,
  type IpcMessage,
  processMessage,
  processName,
  SUPERVISOR,
  WORKERS_MAX,
} from './ipc-message.ts';
import { handleOf, send } from './process-transport.ts';
import { HEARTBEAT_MS } from './worker-commands.ts';

/** Deadline of a start: voices and recognisers are loaded on a machine that may be busy. */
const START_MS_MAX = 90_000;
/** Time for a process to end when it has no call; then it is killed. */
const LEAVE_MS_MAX = 20_000;

/** Characters at the end of a process's standard error that are kept. V8 names an exhausted heap before a stack
 *  trace of 3,000 characters. */
const WORDS_CHARACTERS_MAX = 8_000;
/** Wait from the end of a process to the end of its output, which another process could keep open. */
const WORDS_MS_MAX = 1_000;
/** V8's message before it aborts the process. */
const HEAP_LIMIT = /heap out of memory|heap limit/;

/** A process to keep running, whichever instance runs at the moment. */
interface Place {
  number: number;
  child: ChildProcess | undefined;
  /** Whether the process waits for the listening socket; only the API does. */
  awaitsListener: boolean;
  isServing: boolean;
  hasDrained: boolean;
  /** Consecutive missed heartbeats. */
  missed: number;
  pause: RestartBackoff;
  restart: Timer | undefined;
  /** Kills a process that does not begin to serve in time. */
  late: Timer | undefined;
}

/** How a process ended, with the end of its standard error; or why it could not be started. */
type Death = { code: number | null; signal: string | null; words: string } | { err: Error };

export interface SupervisorOptions {
  /** Number of call workers, at least one. */
  workers: number;
  /** Program of a process, which gets its name as the last arguments. */
  entry: EntryPoint;
  /** Listening socket for the API. Undefined: the API binds by itself. */
  listener?: ListenHandle | undefined;
  /** Time without a heartbeat after which a process is killed; 0: none is killed. */
  silentMsMax: number;
  clock: Clock;
  log: Log;
}

export class WorkerSupervisor {
  readonly link: IpcChannel;
  readonly #options: SupervisorOptions;
  readonly #places: Place[];
  #phase: 'starting' | 'serving' | 'stopping' = 'starting';
  /** Epoch of the gateway, once its database is open. */
  #epoch: string | undefined;
  /** Whether the first API key is printed. */
  #isAnnounced = false;
  /** Whether the gateway is about to stop, and still serves. */
  #isLeaving = false;
  /** Called when anything about a process has changed. */
  #watchers = new Set<() => void>();
  #deliver: IpcTransport['onMessage'] = () => undefined;
  #heartbeats: Timer | undefined;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    const { clock, log } = options;
    const workers = Array.from({ length: options.workers }, (_, index) => index + 1);
    this.#places = [API, ...workers].map((number) => ({
      number,
      child: undefined,
      awaitsListener: false,
      isServing: false,
      hasDrained: false,
      missed: 0,
      pause: new RestartBackoff(clock),
      restart: undefined,
      late: undefined,
    }));
    const channel: IpcTransport = {
      send: (text, handle, keepOpen) => this.#carry(text, handle, keepOpen),
      onMessage: () => undefined,
    };
    this.link = new IpcChannel(SUPERVISOR, channel, { clock, log });
    this.#deliver = (text, handle) => channel.onMessage(text, handle);
    this.link.onNotification('listener', (_, { from }) => {
      // A new API process is as ready as the one before when it listens.
      if (from === API && this.#isAnnounced) this.link.notify(API, 'announced', {});
      this.#change(from, { awaitsListener: true });
    });
    this.link.onNotification('serving', (_, { from }) => this.#serving(from));
    this.link.onNotification('heartbeat', (_, { from }) => this.#change(from, { missed: 0 }));
    this.link.onNotification('drained', (_, { from }) => this.#change(from, { hasDrained: true }));
  }

  /** Starts all processes at once: they load their modules while the gateway's database opens, and use it when
   *  `epoch` is known. Settles when all serve; the API listens once the workers serve. Throws WORKER_FAILED, and
   *  what `epoch` throws; all processes are then killed. A process that dies before it has served is not restarted:
   *  the person at the terminal must see the error. */
  async start(epoch: Promise<string>): Promise<void> {
    for (const place of this.#places) this.#run(place);
    try {
      this.#epoch = await epoch;
    } catch (error) {
      this.kill();
      throw error;
    }
    for (const place of this.#places) this.#sendEpoch(place);
    const failed = (): Place | undefined =>
      this.#places.find(({ child, isServing }) => child === undefined && !isServing);
    const isDone = (): boolean =>
      failed() !== undefined || this.#places.every(({ isServing }) => isServing);
    await this.#until(START_MS_MAX, isDone);
    const missing = failed() ?? this.#places.find(({ isServing }) => !isServing);
    if (missing !== undefined) {
      this.kill();
      throw new GatewayError('WORKER_FAILED', { worker: processName(missing.number) });
    }
    this.#phase = 'serving';
    this.#watchHeartbeats();
  }

  /** Notes that the first API key is printed: the API is ready from now on, in each of its processes. */
  announced(): void {
    this.#isAnnounced = true;
    this.link.notify(API, 'announced', {});
  }

  /** Serves everything for another `graceMs`, while the API reports that the gateway is draining. */
  async leave(graceMs: number): Promise<void> {
    if (graceMs === 0) return;
    this.#isLeaving = true;
    this.link.notify(API, 'leaving', {});
    await new Promise<void>((resolve) => this.#options.clock.after(graceMs, resolve));
  }

  /** Waits for running calls, then ends all processes. `drainMsMax` is the longest drain of a worker. */
  async stop(drainMsMax: number): Promise<void> {
    this.#phase = 'stopping';
    for (const { number, restart, child, isServing } of this.#places) {
      restart?.cancel();
      if (isServing) this.link.notify(number, 'drain', {});
      else child?.kill('SIGKILL');
    }
    await this.#until(drainMsMax + LEAVE_MS_MAX, () =>
      this.#places.every(({ child, hasDrained }) => !child || hasDrained),
    );
    for (const { number } of this.#places) this.link.notify(number, 'stop', {});
    await this.#until(LEAVE_MS_MAX, () => this.#places.every(({ child }) => child === undefined));
    this.kill();
  }

  /** Kills all processes at once. */
  kill(): void {
    this.#phase = 'stopping';
    this.#heartbeats?.cancel();
    for (const { child, restart, late } of this.#places) {
      restart?.cancel();
      late?.cancel();
      child?.kill('SIGKILL');
    }
  }

  #run(place: Place): void {
    const child = this.#fork(place.number);
    if (child instanceof Error) {
      this.#died(place, { err: child });
      return;
    }
    Object.assign(place, { child, awaitsListener: false, hasDrained: false, missed: 0 });
    this.#sendEpoch(place);
    const died = (how: Death): void => {
      if (place.child === child) this.#died(place, how);
    };
    const words = keepLastOutput(child.stderr, {
      charactersMax: WORDS_CHARACTERS_MAX,
      onText: (text) => void process.stderr.write(text),
    });
    child.on('message', (text: unknown, handle: unknown) => {
      // A dead process's last messages must not be attributed to its successor.
      const hasExited = child.exitCode !== null || child.signalCode !== null;
      if (place.child === child && !hasExited) this.#forward(place, text, handleOf(handle));
      else closeHandle(handleOf(handle));
    });
    child.on('error', (err) => {
      if (child.pid === undefined)
        died({ err }); // The process did not start: no `exit` event follows.
      else child.kill('SIGKILL');
    });
    const ended = (code: number | null, signal: string | null): void =>
      died({ code, signal, words: words() });
    child.once('exit', (code, signal) => {
      const late = this.#options.clock.after(WORDS_MS_MAX, () => ended(code, signal));
      child.once('close', () => {
        late.cancel();
        ended(code, signal);
      });
    });
  }

  /** Sends the epoch, for which a process waits before it opens the database. */
  #sendEpoch(place: Place): void {
    const { child, number } = place;
    if (this.#epoch === undefined || child === undefined) return;
    this.link.notify(number, 'epoch', this.#epoch);
    place.late = this.#options.clock.after(START_MS_MAX, () => {
      if (!place.isServing) child.kill('SIGKILL');
    });
  }

  /** Forks a process. Returns an error if the system has no memory or no process id left. */
  #fork(number: number): ChildProcess | Error {
    const { entry } = this.#options;
    const role = number === API ? ['api'] : ['worker', String(number)];
    try {
      return fork(entry.path, role, {
        // A worker collects its garbage with all helper threads: with one, 550 calls on one core had gaps in two runs
        // of four.
        execArgv: [...entry.execArgv, ...(number === API ? engineThreadOptions() : [])],
        serialization: 'advanced',
        stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
      });
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  /** Forwards a message of a process to the addressed one. The sender's number is checked. */
  #forward(place: Place, text: unknown, handle: IpcHandle | undefined): void {
    const parsed = processMessage.safeParse(text);
    if (!parsed.success || parsed.data.from !== place.number) {
      closeHandle(handle);
      const worker = processName(place.number);
      this.#options.log.error({ worker }, 'message of a process not read');
      return;
    }
    if (parsed.data.to === SUPERVISOR) this.#deliver(parsed.data, handle);
    else this.#carry(parsed.data, handle);
  }

  #carry(text: IpcMessage, handle: IpcHandle | undefined, keepOpen = false): boolean {
    const child = this.#place(text.to)?.child;
    if (child !== undefined && send(child, text, handle, keepOpen)) return true;
    if (handle !== this.#options.listener && !keepOpen) closeHandle(handle);
    if (text.kind !== 'request' || text.from === SUPERVISOR) return false;
    const { from, to, id } = text;
    const facts = { worker: processName(to) };
    const route = { from: to, to: from, id, bytes: 0 };
    this.#carry({ kind: 'failure', ...route, code: 'WORKER_GONE', facts }, undefined);
    return false;
  }

  #serving(number: number): void {
    const place = this.#place(number);
    const facts = { worker: processName(number), pid: place?.child?.pid };
    this.#options.log.info(facts, 'a worker serves');
    place?.pause.noteHealthy();
    if (number === API && this.#isLeaving) this.link.notify(API, 'leaving', {});
    this.#change(number, { isServing: true });
  }

  #died(place: Place, how: Death): void {
    const { log, clock } = this.#options;
    const { number } = place;
    place.late?.cancel();
    this.#change(number, { child: undefined, isServing: false });
    this.link.peerLost(number);
    for (const other of this.#places) this.link.notify(other.number, 'gone', { worker: number });
    if (this.#phase === 'stopping') return;
    const reason = reasonOf(how);
    workerDeaths.inc({ reason });
    const { words, ...facts } = 'words' in how ? how : { ...how, words: '' };
    log.error(
      { worker: processName(number), reason, ...facts, 'pii.words': words },
      'a worker died',
    );
    if (this.#phase === 'starting') return;
    place.restart = clock.after(place.pause.nextDelayMs(), () => {
      if (this.#phase === 'serving') this.#run(place);
    });
  }

  /** Checks heartbeats. Counts ticks of its own timer, not time: while this process is blocked it reads no
   *  heartbeat. */
  #watchHeartbeats(): void {
    const { clock, silentMsMax, log } = this.#options;
    if (silentMsMax === 0) return;
    this.#heartbeats = clock.after(HEARTBEAT_MS, () => {
      for (const place of this.#places) {
        if (!place.isServing) continue;
        place.missed += 1;
        if (place.missed * HEARTBEAT_MS <= silentMsMax) continue;
        workerKills.inc();
        log.error({ worker: processName(place.number) }, 'a worker without a heartbeat is killed');
        place.child?.kill('SIGKILL');
        place.missed = Number.NEGATIVE_INFINITY; // Once: the end may take long.
      }
      this.#watchHeartbeats();
    });
  }

  #place(number: number): Place | undefined {
    return this.#places.find((place) => place.number === number);
  }

  #change(number: number, change: Partial<Place>): void {
    const place = this.#place(number);
    if (place !== undefined) Object.assign(place, change);
    const workers = this.#places.filter((each) => each.number !== API);
    workersUp.set(workers.filter(({ isServing }) => isServing).length);
    const isOpen = this.#phase !== 'starting' || workers.every(({ isServing }) => isServing);
    const api = this.#place(API);
    if (isOpen && api?.awaitsListener === true) {
      api.awaitsListener = false;
      this.link.notify(API, 'listen', {}, this.#options.listener);
    }
    for (const watcher of [...this.#watchers]) watcher();
  }

  /** Resolves when `isSo` returns true, or after `ms`. */
  #until(ms: number, isSo: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        timer.cancel();
        this.#watchers.delete(look);
        resolve();
      };
      const look = (): void => {
        if (isSo()) done();
      };
      const timer = this.#options.clock.after(ms, done);
      this.#watchers.add(look);
      look();
    });
  }
}

function reasonOf(how: Death): 'heap_limit' | 'signal' | 'exit' | 'not_started' {
  if ('err' in how) return 'not_started';
  if (HEAP_LIMIT.test(how.words)) return 'heap_limit';
  return how.signal === null ? 'exit' : 'signal';
}

/** Number of the process that its arguments name; undefined: the first process. */
export function processIn(args: readonly string[]): number | undefined {
  const at = args.findIndex((word) => word === 'worker' || word === 'api');
  if (args[at] === 'api') return API;
  const number = Number(args[at + 1]);
  const isWorker = at >= 0 && Number.isInteger(number) && number >= 1 && number <= WORKERS_MAX;
  return isWorker ? number : undefined;
}
