// The API process's directory of call workers: which are running, how many calls each has, where PBX applications are.
// Those of other gateways are found here too (gateway-directory.ts). A worker without a recent report is late: it gets a
// new call only if all workers are. It is gone when its process has ended, which the supervisor reports.

import type { z } from 'zod';
import type { Clock } from '../std/clock.ts';
import type { IpcChannel } from './ipc-channel.ts';
import { nodeOfProcess, PBX_WORKER, workerGone } from './ipc-message.ts';
import type { WorkerLoads } from './member-loads.ts';
import { LOAD_MS, load } from './worker-calls.ts';
import type { OtherGateways, PooledWorker, WorkerPool, WorkerReport } from './worker-pool.ts';
import { workerBehind } from './worker-requests.ts';

/** Age of a report after which its worker is late. */
const LATE_MS_MIN = 4 * LOAD_MS;

interface Known extends Omit<z.infer<typeof load>, 'applications' | 'pbxs'> {
  atMs: number;
  /** Calls assigned to the worker since its last report. */
  given: number;
  applications: readonly string[];
  pbxs: readonly string[];
  worker: PooledWorker;
}

export class WorkerDirectory implements WorkerPool {
  readonly #link: IpcChannel;
  readonly #clock: Clock;
  readonly #gateway: string;
  /** Called with the number of a new worker. */
  onJoined: (worker: number) => void = () => undefined;
  /** The other gateways on the bus; undefined without one. */
  others: OtherGateways | undefined;
  readonly #known = new Map<number, Known>();
  /** Requests that wait for a worker: webhooks and starts, which the server bounds. */
  #waiting: (() => void)[] = [];

  /** `gateway`: the gateway's name in the store, without a process's suffix. */
  constructor(link: IpcChannel, { clock, gateway }: { clock: Clock; gateway: string }) {
    this.#link = link;
    this.#clock = clock;
    this.#gateway = gateway;
    link.onNotification('load', (body, { from }) => this.#take(from, load.parse(body)));
    link.onRequest('pbx-loads', () => Promise.resolve(this.#pbxLoads));
    link.onNotification('gone', (body) => {
      const { worker } = workerGone.parse(body);
      this.#known.delete(worker);
      link.peerLost(worker);
    });
  }

  /** Numbers of the running workers. */
  get numbers(): number[] {
    return [...this.#known.keys()];
  }

  get activeCalls(): number {
    return [...this.#known.values()].reduce((all, { active }) => all + active, 0);
  }

  /** Whether a worker that is not late accepts a call: campaigns wait for a machine that is too slow. */
  get takesCalls(): boolean {
    return this.#inTime().some(([, { takesCalls }]) => takesCalls);
  }

  /** The last reports of the workers, for other gateways. One that is late accepts no calls. */
  get reports(): WorkerReport[] {
    const inTime = new Set(this.#inTime().map(([number]) => number));
    return [...this.#known].map(([number, { active, calls, takesCalls, stt, applications }]) => ({
      number,
      active,
      calls,
      takesCalls: takesCalls && inTime.has(number),
      stt,
      applications: [...applications],
    }));
  }

  /** Name of the recogniser of calls, as the workers report it. */
  get stt(): string | null {
    return [...this.#known.values()][0]?.stt ?? null;
  }

  leastLoaded(): PooledWorker | undefined {
    return this.#next()?.[1].worker;
  }

  nextNumber(): number | undefined {
    return this.#next()?.[0];
  }

  /** The worker with the fewest calls, which gets one more. */
  #next(): [number, Known] | undefined {
    const inTime = this.#inTime();
    const running = inTime.length > 0 ? inTime : [...this.#known];
    const withRoom = running.filter(([, { takesCalls }]) => takesCalls);
    const from = withRoom.length > 0 ? withRoom : running;
    // Audio of PBXs can only be at that worker; without PBXs it is like the others.
    const others = from.filter(
      ([number, { applications }]) => number !== PBX_WORKER || applications.length === 0,
    );
    return chosenOf(others.length > 0 ? others : from);
  }

  forPbx(
    configurationId: string,
    where: 'anywhere' | 'here' = 'anywhere',
  ): PooledWorker | undefined {
    const takers = this.#inTime().filter(
      ([, { pbxs, takesCalls }]) => takesCalls && pbxs.includes(configurationId),
    );
    const remote = where === 'here' ? undefined : this.others?.forPbx(configurationId);
    const calls = Math.min(...takers.map(([, known]) => burden(known)));
    if (remote !== undefined && remote.calls < calls) return remote.take();
    return chosenOf(takers)?.[1].worker ?? this.pbxWorker();
  }

  /** The configurations over whose PBX every worker that accepts calls may dial: other gateways choose a worker by its
   *  calls alone. */
  get pbxs(): string[] {
    const [first, ...rest] = this.#inTime().flatMap(([, { takesCalls, pbxs }]) =>
      takesCalls ? [new Set(pbxs)] : [],
    );
    return [...(first ?? [])].filter((id) => rest.every((each) => each.has(id)));
  }

  forInbound(): PooledWorker | undefined {
    const { others } = this;
    const isLeft = others?.isLeaving() === true || !this.takesCalls;
    return (isLeft ? others?.leastLoaded() : undefined) ?? this.leastLoaded();
  }

  pbxWorker(): PooledWorker | undefined {
    return this.#known.get(PBX_WORKER)?.worker;
  }

  get isSingle(): boolean {
    return this.#known.size === 1 && this.#known.has(PBX_WORKER) && !this.others?.isAny;
  }

  byNode(node: string): PooledWorker | undefined {
    const number = this.numberOf(node);
    return number === undefined ? this.others?.byNode(node) : this.#known.get(number)?.worker;
  }

  /** Number of the running worker with that name in the store. */
  numberOf(node: string): number | undefined {
    return this.numbers.find((number) => nodeOfProcess(this.#gateway, number) === node);
  }

  /** The worker with the PBX of that application; for an unknown one, which may still connect, the worker that
   *  holds PBXs. */
  ofApplication(application: string): number {
    for (const [number, { applications }] of this.#known) {
      if (applications.includes(application)) return number;
    }
    return PBX_WORKER;
  }

  /** Whether a running worker has the PBX of that application. */
  hasApplication(application: string): boolean {
    return [...this.#known.values()].some(({ applications }) => applications.includes(application));
  }

  untilThere(ms: number): Promise<void> {
    return this.untilCount(1, ms);
  }

  /** Settles when `count` workers run, or after `ms`. */
  untilCount(count: number, ms: number): Promise<void> {
    if (this.#known.size >= count) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        this.#waiting = this.#waiting.filter((each) => each !== look);
        timer.cancel();
        resolve();
      };
      const look = (): void => {
        if (this.#known.size >= count) done();
      };
      const timer = this.#clock.after(ms, done);
      this.#waiting.push(look);
    });
  }

  #take(from: number, { applications, pbxs, ...facts }: z.infer<typeof load>): void {
    const before = this.#known.get(from);
    this.#known.set(from, {
      ...facts,
      applications: applications ?? before?.applications ?? [],
      pbxs: pbxs ?? before?.pbxs ?? [],
      atMs: this.#clock.monotonicMs(),
      given: 0,
      worker:
        before?.worker ??
        workerBehind((topic, body, ms) => this.#link.request(from, topic, body, ms)),
    });
    this.#reportLoads(from);
    if (before !== undefined) return;
    this.onJoined(from);
    for (const look of this.#waiting) look();
  }

  /** Sends all loads to a worker with connections to PBXs, which chooses the worker of each of their calls. */
  #reportLoads(to: number): void {
    if (this.#known.get(to)?.applications.length === 0) return;
    this.#link.notify(to, 'pbx-loads', this.#pbxLoads);
  }

  get #pbxLoads(): WorkerLoads {
    const own = this.#inTime().map(([worker, { calls, takesCalls, given }]) => ({
      worker,
      calls: calls + given,
      takesCalls,
    }));
    return [...own, ...(this.others?.pbxLoads ?? [])];
  }

  #inTime(): [number, Known][] {
    const sinceMs = this.#clock.monotonicMs() - LATE_MS_MIN;
    return [...this.#known].filter(([, { atMs }]) => atMs >= sinceMs);
  }
}

/** The worker with the fewest calls, which gets one more. */
function chosenOf([first, ...rest]: readonly [number, Known][]): [number, Known] | undefined {
  const best = rest.reduce(
    (least, each) => (least !== undefined && burden(least[1]) <= burden(each[1]) ? least : each),
    first,
  );
  if (best !== undefined) best[1].given += 1;
  return best;
}

function burden({ calls, given }: Known): number {
  return calls + given;
}
