// Starts the workers of a gateway, starts one again that died (at once, then ever more slowly), carries
// what they say to each other, and stops them: first all finish their calls, then all leave.

import { type ChildProcess, fork } from 'node:child_process';
import { Socket } from 'node:net';
import { GatewayError } from '../errors/gateway-error.ts';
import type { Log } from '../log.ts';
import { workerDeaths, workersUp } from '../metrics/metrics.ts';
import type { EntryPoint } from '../runtime/entry-point.ts';
import type { Clock, Timer } from '../std/clock.ts';
import { RestartBackoff } from '../std/restart-backoff.ts';
import { IpcChannel, type IpcTransport } from './ipc-channel.ts';
import { FRONT, type IpcMessage, message, SUPERVISOR } from './ipc-message.ts';
import { send } from './process-transport.ts';

/** Voices and recognisers are loaded on a machine that may be busy. */
const START_MS_MAX = 90_000;
/** For a worker to leave once it has no call. After it, it is killed. */
const LEAVE_MS_MAX = 20_000;

/** What runs in one of the workers' places. */
interface Place {
  number: number;
  child: ChildProcess | undefined;
  isServing: boolean;
  hasDrained: boolean;
  pause: RestartBackoff;
  restart: Timer | undefined;
}

export interface SupervisorOptions {
  /** At least one. */
  workers: number;
  /** What a worker runs, with its number and the gateway's epoch as the last arguments. */
  entry: EntryPoint;
  epoch: string;
  clock: Clock;
  log: Log;
}

export class WorkerSupervisor {
  readonly link: IpcChannel;
  readonly #options: SupervisorOptions;
  readonly #places: Place[];
  #phase: 'starting' | 'serving' | 'stopping' = 'starting';
  /** Called when anything about a worker has changed. */
  #watchers = new Set<() => void>();
  #deliver: IpcTransport['onMessage'] = () => undefined;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    const { clock, log } = options;
    this.#places = Array.from({ length: options.workers }, (_, index) => ({
      number: index + 1,
      child: undefined,
      isServing: false,
      hasDrained: false,
      pause: new RestartBackoff(clock),
      restart: undefined,
    }));
    const channel: IpcTransport = {
      send: (text, socket) => this.#carry(text, socket),
      onMessage: () => undefined,
    };
    this.link = new IpcChannel(SUPERVISOR, channel, { clock, log });
    this.#deliver = (text, socket) => channel.onMessage(text, socket);
    this.link.onNotification('serving', (_, { from }) => this.#serving(from));
    this.link.onNotification('drained', (_, { from }) => this.#change(from, { hasDrained: true }));
  }

  /** Settles when all serve: the front first, which closes what an earlier gateway left behind. Throws
   *  WORKER_FAILED; the others are gone then. */
  async start(): Promise<void> {
    try {
      for (const place of this.#places.slice(0, 1)) await this.#first(place);
      await Promise.all(this.#places.slice(1).map((place) => this.#first(place)));
      this.#phase = 'serving';
    } catch (error) {
      this.kill();
      throw error;
    }
  }

  /** Lets running calls finish, then has all leave. `drainMsMax` is what a worker needs at most for its
   *  calls. */
  async stop(drainMsMax: number): Promise<void> {
    this.#phase = 'stopping';
    for (const { number, restart, child, isServing } of this.#places) {
      restart?.cancel();
      if (isServing) this.link.notify(number, 'drain', {});
      else child?.kill('SIGKILL');
    }
    await this.#until(drainMsMax + LEAVE_MS_MAX, ({ child, hasDrained }) => !child || hasDrained);
    for (const { number } of this.#places) this.link.notify(number, 'stop', {});
    await this.#until(LEAVE_MS_MAX, ({ child }) => child === undefined);
    this.kill();
  }

  /** At once. */
  kill(): void {
    this.#phase = 'stopping';
    for (const { child, restart } of this.#places) {
      restart?.cancel();
      child?.kill('SIGKILL');
    }
  }

  /** A worker that dies before it has served is not started again: what keeps it from serving must be
   *  said while somebody looks. */
  async #first(place: Place): Promise<void> {
    this.#run(place);
    await this.#until(START_MS_MAX, () => place.isServing || place.child === undefined);
    if (!place.isServing) throw new GatewayError('WORKER_FAILED', { worker: place.number });
  }

  #run(place: Place): void {
    const { entry, epoch, clock } = this.#options;
    const child = fork(entry.path, ['worker', String(place.number), epoch], {
      execArgv: entry.execArgv,
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const late = clock.after(START_MS_MAX, () => {
      if (!place.isServing) child.kill('SIGKILL');
    });
    place.child = child;
    place.hasDrained = false;
    child.on('message', (text: unknown, handle: unknown) => {
      this.#forward(place, text, handle instanceof Socket ? handle : undefined);
    });
    child.once('error', () => child.kill('SIGKILL')); // It has no process then, and exits below.
    child.once('exit', (code, signal) => {
      late.cancel();
      this.#died(place, { code, signal });
    });
  }

  /** From a worker, to whom it names. Nobody may speak for another. */
  #forward(place: Place, text: unknown, socket: Socket | undefined): void {
    const parsed = message.safeParse(text);
    if (!parsed.success || parsed.data.from !== place.number) {
      socket?.destroy();
      this.#options.log.error({ worker: place.number }, 'message of a worker not read');
      return;
    }
    if (parsed.data.to === SUPERVISOR) this.#deliver(parsed.data, socket);
    else this.#carry(parsed.data, socket);
  }

  #carry(text: IpcMessage, socket: Socket | undefined): boolean {
    const child = this.#places[text.to - 1]?.child;
    if (child !== undefined && send(child, text, socket)) return true;
    socket?.destroy();
    if (text.kind !== 'request' || text.from === SUPERVISOR) return false;
    const { from, to, id } = text;
    const facts = { worker: to };
    this.#carry({ kind: 'failure', from: to, to: from, id, code: 'WORKER_GONE', facts }, undefined);
    return false;
  }

  #serving(number: number): void {
    const place = this.#places[number - 1];
    this.#options.log.info({ worker: number, pid: place?.child?.pid }, 'a worker serves');
    place?.pause.noteHealthy();
    this.#change(number, { isServing: true });
  }

  #died(place: Place, how: { code: number | null; signal: string | null }): void {
    const { log, clock } = this.#options;
    const { number } = place;
    this.#change(number, { child: undefined, isServing: false });
    this.link.peerLost(number);
    for (const other of this.#places) this.link.notify(other.number, 'gone', { worker: number });
    if (this.#phase === 'stopping') return;
    workerDeaths.inc();
    log.error({ worker: number, ...how }, 'a worker died');
    if (this.#phase === 'starting') return;
    place.restart = clock.after(place.pause.nextDelayMs(), () => {
      if (this.#phase === 'serving') this.#run(place);
    });
  }

  #change(number: number, change: Partial<Place>): void {
    const place = this.#places[number - 1];
    if (place !== undefined) Object.assign(place, change);
    workersUp.set(this.#places.filter(({ isServing }) => isServing).length);
    for (const watcher of [...this.#watchers]) watcher();
  }

  /** Resolves when `isSo` of all places, or after `ms`. */
  #until(ms: number, isSo: (place: Place) => boolean): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        timer.cancel();
        this.#watchers.delete(look);
        resolve();
      };
      const look = (): void => {
        if (this.#places.every(isSo)) done();
      };
      const timer = this.#options.clock.after(ms, done);
      this.#watchers.add(look);
      look();
    });
  }
}

/** The worker that the arguments of its process tell of, and the epoch of the gateway that started it. */
export function workerIn(args: readonly string[]): { number: number; epoch: string } | undefined {
  const at = args.indexOf('worker');
  const number = Number(args[at + 1]);
  const epoch = args[at + 2] ?? '';
  const isWorker = at >= 0 && Number.isInteger(number) && number >= FRONT && /^\d+$/.test(epoch);
  return isWorker ? { number, epoch } : undefined;
}
