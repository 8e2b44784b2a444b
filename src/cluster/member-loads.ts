// The workers that may get the next call of a PBX, and their numbers of calls: as the API process reports them, with those
// that were given since.

import { z } from 'zod';
import type { Clock } from '../std/clock.ts';

/** Age of what is known of a worker of another gateway: it reports to its API process, that to ours, and ours to this
 *  process, each twice a second. */
const REMOTE_REPORT_MS = 1_500;

/** Message of the API process: the workers that are not late with their reports. */
export const workerLoads = z.array(
  z.object({
    /** Number of a worker of this gateway, or name in the store of one of another gateway. */
    worker: z.union([z.int(), z.string()]),
    calls: z.int().nonnegative(),
    takesCalls: z.boolean(),
  }),
);
export type WorkerLoads = z.infer<typeof workerLoads>;
type Load = WorkerLoads[number];

export class MemberLoads {
  readonly #here: number;
  readonly #clock: Clock;
  #loads: WorkerLoads = [];
  /** When each worker was given calls, monotonic milliseconds, as far as its report may lack them. */
  readonly #given = new Map<string, number[]>();

  /** `here`: number of this worker. */
  constructor(here: number, clock: Clock) {
    this.#here = here;
    this.#clock = clock;
  }

  /** Names of the workers of other gateways. */
  get remote(): string[] {
    return this.#loads.flatMap(({ worker }) => (typeof worker === 'string' ? [worker] : []));
  }

  /** Whether the worker was in the last report. */
  has(name: string): boolean {
    return this.#loads.some(({ worker }) => String(worker) === name);
  }

  /** The loads of this gateway. */
  get own(): WorkerLoads {
    return this.#loads.filter(({ worker }) => typeof worker === 'number');
  }

  /** Takes a report. Returns the workers that are new, and those of other gateways that are in it no more. */
  take(loads: WorkerLoads): { joined: string[]; lost: string[] } {
    const [before, now] = [this.#names, new Set(loads.map(({ worker }) => String(worker)))];
    const lost = this.remote.filter((each) => !now.has(each));
    this.#loads = loads;
    for (const { worker } of this.own) this.#given.delete(String(worker)); // Their reports have them.
    for (const name of this.#given.keys()) if (!now.has(name)) this.#given.delete(name);
    return { joined: [...this.#names].filter((each) => !before.has(each)), lost };
  }

  remove(name: string): void {
    this.#loads = this.#loads.filter(({ worker }) => String(worker) !== name);
  }

  /** The worker for the next call, this one or one of `ready`; undefined: this one. */
  least(ready: ReadonlySet<string>): string | undefined {
    const takers = this.#loads.filter(
      ({ worker, takesCalls }) =>
        takesCalls && (worker === this.#here || ready.has(String(worker))),
    );
    const [best] = takers
      .map((load) => ({
        worker: load.worker,
        burden: this.#burdenOf(load),
        rank: this.#rankOf(load),
      }))
      .sort((one, other) => one.burden - other.burden || one.rank - other.rank);
    if (best === undefined) return undefined;
    const name = String(best.worker);
    this.#given.set(name, [...(this.#given.get(name) ?? []), this.#clock.monotonicMs()]);
    return best.worker === this.#here ? undefined : name;
  }

  get #names(): Set<string> {
    const others = this.#loads.filter(({ worker }) => worker !== this.#here);
    return new Set(others.map(({ worker }) => String(worker)));
  }

  #burdenOf({ worker, calls }: Load): number {
    const name = String(worker);
    const given = this.#given.get(name) ?? [];
    if (typeof worker === 'number') return calls + given.length;
    const sinceMs = this.#clock.monotonicMs() - REMOTE_REPORT_MS;
    const recent = given.filter((atMs) => atMs > sinceMs);
    this.#given.set(name, recent);
    return calls + recent.length;
  }

  /** Order of workers with as many calls: this one handles all events, too, and another gateway is farther. */
  #rankOf({ worker }: Load): number {
    if (typeof worker === 'string') return 2;
    return worker === this.#here ? 1 : 0;
  }
}
