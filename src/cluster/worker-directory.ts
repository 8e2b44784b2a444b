// The front's view of the other workers: who is there, how many calls each has, and asking them. Whoever has
// said nothing for a while gets no new call.

import type { z } from 'zod';
import type { Clock } from '../std/clock.ts';
import type { IpcChannel } from './ipc-channel.ts';
import { nodeOfWorker, workerGone } from './ipc-message.ts';
import { LOAD_MS, load, webhookReply } from './worker-calls.ts';
import type { PooledWorker, WorkerPool } from './worker-pool.ts';

/** Providers wait ten to fifteen seconds for the answer to a webhook; a plan is made in tenths of one. */
const ASK_MS_MAX = 4_000;
/** A provider is told to hang up, and the outcome is stored. */
const HANG_UP_MS_MAX = 8_000;
/** The provider presses them; its own limit is less. */
const DIGITS_MS_MAX = 6_000;
const SILENT_MS_MAX = 4 * LOAD_MS;

interface Known extends z.infer<typeof load> {
  atMs: number;
  /** Calls that were given to it since it last spoke. */
  given: number;
  worker: PooledWorker;
}

export class WorkerDirectory implements WorkerPool {
  readonly #link: IpcChannel;
  readonly #clock: Clock;
  readonly #gateway: string;
  /** Called with the number of one that has come. */
  onJoined: (worker: number) => void = () => undefined;
  readonly #known = new Map<number, Known>();

  /** `gateway` is how the store knows the gateway, without a worker's number. */
  constructor(link: IpcChannel, { clock, gateway }: { clock: Clock; gateway: string }) {
    this.#link = link;
    this.#clock = clock;
    this.#gateway = gateway;
    link.onNotification('load', (body, { from }) => {
      const { active, calls } = load.parse(body);
      const atMs = clock.monotonicMs();
      const before = this.#known.get(from);
      const worker = before?.worker ?? this.#worker(from);
      this.#known.set(from, { active, calls, atMs, given: 0, worker });
      if (before === undefined) this.onJoined(from);
    });
    link.onNotification('gone', (body) => {
      const { worker } = workerGone.parse(body);
      this.#known.delete(worker);
      link.peerLost(worker);
    });
  }

  /** Numbers of those that are there. */
  get numbers(): number[] {
    return [...this.#known.keys()];
  }

  get activeCalls(): number {
    return [...this.#known.values()].reduce((all, { active }) => all + active, 0);
  }

  leastLoaded(ownCalls: number): PooledWorker | undefined {
    const heardMs = this.#clock.monotonicMs() - SILENT_MS_MAX;
    let best: Known | undefined;
    for (const each of this.#known.values()) {
      const isBetter = best === undefined || burden(each) < burden(best);
      if (each.atMs >= heardMs && isBetter) best = each;
    }
    if (best === undefined || burden(best) > ownCalls) return undefined;
    best.given += 1;
    return best.worker;
  }

  byNode(node: string): PooledWorker | undefined {
    for (const [number, { worker }] of this.#known) {
      if (nodeOfWorker(this.#gateway, number) === node) return worker;
    }
    return undefined;
  }

  #worker(number: number): PooledWorker {
    const ask = async (topic: string, body: unknown) =>
      webhookReply.parse(await this.#link.request(number, topic, body, ASK_MS_MAX));
    return {
      inbound: (request, workflowId) => ask('inbound', { request, workflowId }),
      answer: (name, runId, request) => ask('answer', { name, runId, request }),
      event: (name, runId, request) => ask('event', { name, runId, request }),
      sendDigits: async (wanted) => {
        await this.#link.request(number, 'digits', wanted, DIGITS_MS_MAX);
      },
      hangUp: async (wanted) => {
        await this.#link.request(number, 'hang-up', wanted, HANG_UP_MS_MAX);
      },
    };
  }
}

function burden({ calls, given }: Known): number {
  return calls + given;
}
