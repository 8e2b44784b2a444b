// The API process's directory of the other gateways on the bus. Each gateway reports itself and its workers to all
// others; one that is silent, or that leaves, is removed. Requests to a worker of another gateway go to its API
// process, which relays them.

import { z } from 'zod';
import { gatewaysKnown } from '../metrics/metrics.ts';
import type { Clock, Timer } from '../std/clock.ts';
import type { Random } from '../std/random.ts';
import type { IpcChannel } from './ipc-channel.ts';
import { ALL_GATEWAYS, gatewayOfNode, nodeOfProcess, WORKERS_MAX } from './ipc-message.ts';
import type { WorkerLoads } from './member-loads.ts';
import { LOAD_MS, load, WORKER_TOPICS } from './worker-calls.ts';
import type { OtherGateways, PooledWorker, WorkerReport } from './worker-pool.ts';
import { WORKER_MS_MAX, workerBehind } from './worker-requests.ts';

/** Interval of a gateway's reports: new load reports of its workers come as often. */
export const PRESENCE_MS = LOAD_MS;
/** Age of a report after which its gateway is removed. */
export const FORGOTTEN_MS = 4_000;
/** Known gateways at most. */
const GATEWAYS_MAX = 1_000;
/** Number of reports after which the PBXs are repeated. A new gateway gets them with its first report. */
const PBXS_EVERY = 10;
/** PBXs over which a gateway may dial that are reported, twice as many as one process may have connections to: they are
 *  some 30 KB. */
const PBXS_MAX = 2_000;
/** Workers of other gateways that may hold calls of this gateway's PBXs, those of the gateways that are known longest.
 *  Each is asked for its calls at each connection to a PBX, and compares them with that PBX's. */
const PBX_WORKERS_MAX = 64;

const report = load
  .omit({ pbxs: true })
  .required()
  .extend({ number: z.int().min(1).max(WORKERS_MAX) });
const presence = z.object({
  /** Changes when the gateway starts, and when it is on the bus again: it has lost what others had reported to it. */
  session: z.string(),
  /** Where other gateways reach it. */
  url: z.string(),
  version: z.string(),
  isLeaving: z.boolean(),
  workers: z.array(report).max(WORKERS_MAX),
  /** Configurations over whose PBX each worker that accepts calls may dial; absent if unchanged. A gateway that never
   *  reports them cannot hold calls of other gateways' PBXs. */
  pbxs: z.array(z.string()).max(PBXS_MAX).optional(),
});
/** A request to a worker, for the API process of its gateway. */
const relayed = z.object({
  worker: z.int().min(1).max(WORKERS_MAX),
  topic: z.enum(WORKER_TOPICS),
  body: z.unknown(),
  ms: z.number().positive().max(WORKER_MS_MAX),
});

/** What a gateway reports of itself. */
export interface OwnPresence {
  url: string;
  version: string;
  isLeaving: boolean;
  workers: WorkerReport[];
  pbxs: string[];
}

export interface OtherGateway extends Readonly<Omit<OwnPresence, 'pbxs'>> {
  readonly name: string;
}

interface Known extends OtherGateway {
  session: string;
  /** Our own reports since its last one. Counted and not timed: a process that stood still has read none. */
  missed: number;
  /** Calls given to it since its last report. */
  given: number;
  /** Those of them that were given to a worker for a PBX. */
  givenTo: Map<number, number>;
  /** Undefined: not reported yet. */
  pbxs: ReadonlySet<string> | undefined;
}

export interface GatewayDirectoryOptions {
  clock: Clock;
  random: Random;
  own: () => OwnPresence;
}

export class GatewayDirectory implements OtherGateways {
  /** Called with a gateway that is new, or has lost what others had reported to it; and with one that is gone. */
  onJoined: (gateway: string) => void = () => undefined;
  onLeft: (gateway: string) => void = () => undefined;
  readonly #bus: IpcChannel<string>;
  readonly #options: GatewayDirectoryOptions;
  readonly #known = new Map<string, Known>();
  #session: string;
  #timer: Timer | undefined;
  #reports = 0;
  #reportedPbxs = '';

  constructor(bus: IpcChannel<string>, options: GatewayDirectoryOptions) {
    this.#bus = bus;
    this.#options = options;
    this.#session = options.random.uuid();
    bus.onNotification('presence', (body, { from }) => this.#take(from, presence.parse(body)));
    bus.onNotification('left', (_, { from }) => this.#forget(from));
  }

  /** Begins to report. */
  start(): void {
    this.#report();
  }

  /** Reports that this gateway is gone. */
  stop(): void {
    this.#timer?.cancel();
    this.#bus.notify(ALL_GATEWAYS, 'left', {});
    this.forgetAll();
  }

  /** Removes all gateways, as none can be reached; they are new when they report again, and this one is to them. */
  forgetAll(): void {
    for (const name of [...this.#known.keys()]) this.#forget(name);
    this.#session = this.#options.random.uuid();
  }

  get names(): string[] {
    return [...this.#known.keys()];
  }

  get isAny(): boolean {
    return this.#known.size > 0;
  }

  byName(name: string): OtherGateway | undefined {
    return this.#known.get(name);
  }

  isLeaving(): boolean {
    return this.#options.own().isLeaving;
  }

  byNode(node: string): PooledWorker | undefined {
    const name = gatewayOfNode(node);
    const worker = this.#known
      .get(name)
      ?.workers.find(({ number }) => nodeOfProcess(name, number) === node);
    return worker && this.#worker(name, worker.number);
  }

  leastLoaded(): PooledWorker | undefined {
    const able = [...this.#known.values()].filter(
      ({ isLeaving, workers }) => !isLeaving && workers.some(({ takesCalls }) => takesCalls),
    );
    const [gateway] = able.sort((one, other) => burden(one) - burden(other));
    const [worker] = (gateway?.workers ?? [])
      .filter(({ takesCalls }) => takesCalls)
      .sort((one, other) => one.calls - other.calls);
    if (gateway === undefined || worker === undefined) return undefined;
    gateway.given += 1;
    return this.#worker(gateway.name, worker.number);
  }

  forPbx(configurationId: string): { calls: number; take(): PooledWorker } | undefined {
    const able = [...this.#known.values()].filter(
      ({ isLeaving, pbxs }) => !isLeaving && pbxs?.has(configurationId),
    );
    const workers = able.flatMap(({ name, workers, givenTo }) =>
      workers
        .filter(({ takesCalls }) => takesCalls)
        .map(({ number, calls }) => ({
          name,
          number,
          givenTo,
          calls: calls + (givenTo.get(number) ?? 0),
        })),
    );
    const [best] = workers.sort((one, other) => one.calls - other.calls);
    if (best === undefined) return undefined;
    const { name, number, givenTo, calls } = best;
    const take = (): PooledWorker => {
      givenTo.set(number, (givenTo.get(number) ?? 0) + 1);
      return this.#worker(name, number);
    };
    return { calls, take };
  }

  get pbxLoads(): WorkerLoads {
    const loads = [...this.#known.values()]
      .filter(({ pbxs }) => pbxs !== undefined)
      .flatMap(({ name, isLeaving, workers }) =>
        workers.map(({ number, calls, takesCalls }) => ({
          worker: nodeOfProcess(name, number),
          calls,
          takesCalls: takesCalls && !isLeaving,
        })),
      );
    return loads.slice(0, PBX_WORKERS_MAX);
  }

  #worker(gateway: string, worker: number): PooledWorker {
    return workerBehind((topic, body, ms) =>
      this.#bus.request(gateway, 'worker', { worker, topic, body, ms }, ms),
    );
  }

  #report(): void {
    for (const known of [...this.#known.values()]) {
      known.missed += 1;
      if (known.missed > FORGOTTEN_MS / PRESENCE_MS) this.#forget(known.name);
    }
    this.#reportTo(ALL_GATEWAYS, this.#reports % PBXS_EVERY === 0);
    this.#reports += 1;
    this.#timer = this.#options.clock.after(PRESENCE_MS, () => this.#report());
  }

  #reportTo(gateway: string, hasPbxs: boolean): void {
    const { pbxs: all, ...own } = this.#options.own();
    const pbxs = all.slice(0, PBXS_MAX);
    const now = pbxs.join(' ');
    const isDue = hasPbxs || now !== this.#reportedPbxs;
    if (gateway === ALL_GATEWAYS) this.#reportedPbxs = now;
    const facts = { session: this.#session, ...own };
    this.#bus.notify(gateway, 'presence', isDue ? { ...facts, pbxs } : facts);
  }

  #take(name: string, { session, pbxs, ...reported }: z.infer<typeof presence>): void {
    const isNew = this.#known.get(name)?.session !== session;
    if (isNew) this.#forget(name); // Its requests and ours are lost.
    const before = this.#known.get(name);
    if (before === undefined && this.#known.size >= GATEWAYS_MAX) return;
    this.#known.set(name, {
      ...reported,
      name,
      session,
      missed: 0,
      given: 0,
      givenTo: new Map(),
      pbxs: pbxs === undefined ? before?.pbxs : new Set(pbxs),
    });
    gatewaysKnown.set(this.#known.size);
    if (!isNew) return;
    this.#reportTo(name, true); // It drops messages of an earlier session, so it gets our session first.
    this.onJoined(name);
  }

  #forget(name: string): void {
    if (!this.#known.delete(name)) return;
    gatewaysKnown.set(this.#known.size);
    this.#bus.peerLost(name);
    this.onLeft(name);
  }
}

/** Relays requests of other gateways to the workers of this one, at the API process. */
export function relayToWorkers(bus: IpcChannel<string>, link: IpcChannel): void {
  bus.onRequest('worker', (wanted) => {
    const { worker, topic, body, ms } = relayed.parse(wanted);
    return link.request(worker, topic, body, ms);
  });
}

/** Calls for each worker that accepts calls. */
function burden({ workers, given }: Known): number {
  const able = workers.filter(({ takesCalls }) => takesCalls);
  const calls = able.reduce((all, each) => all + each.calls, given);
  return calls / able.length;
}
