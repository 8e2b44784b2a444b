// The API process's directory of call workers: which are running, how many calls each has, where PBX applications are;
// and requests to them. A worker without a recent report is late: it gets a new call only if all workers are. It is gone
// when its process has ended, which the supervisor reports.

import { z } from 'zod';
import type { Clock } from '../std/clock.ts';
import type { IpcChannel } from './ipc-channel.ts';
import { nodeOfProcess, PBX_WORKER, workerGone } from './ipc-message.ts';
import {
  fate,
  findings,
  LOAD_MS,
  load,
  placed,
  startedCall,
  webhookReply,
} from './worker-calls.ts';
import { ASK_MS_MAX, type PooledWorker, type WorkerPool } from './worker-pool.ts';

/** Deadline of a repeated answer: a look-up at the provider, a plan, and the wait for the command. */
const ANSWER_AGAIN_MS_MAX = 8_000;
/** Deadline of a hang-up at the provider and the storing of the outcome. */
const HANG_UP_MS_MAX = 8_000;
/** Deadline of digits that the provider sends; its own limit is shorter. */
const DIGITS_MS_MAX = 6_000;
/** Deadline of a dial: a provider answers within 15 s, the store around it within less. */
const DIAL_MS_MAX = 25_000;
/** Deadline of an outcome's look-up: two requests to a provider. */
const FATE_MS_MAX = 25_000;
/** Deadline of a check: its own limit, and a margin. */
const EXAMINE_MS_MAX = 58_000;
/** Age of a report after which its worker is late. */
const LATE_MS_MIN = 4 * LOAD_MS;

interface Known extends Omit<z.infer<typeof load>, 'applications'> {
  atMs: number;
  /** Calls assigned to the worker since its last report. */
  given: number;
  applications: readonly string[];
  worker: PooledWorker;
}

export class WorkerDirectory implements WorkerPool {
  readonly #link: IpcChannel;
  readonly #clock: Clock;
  readonly #gateway: string;
  /** Called with the number of a new worker. */
  onJoined: (worker: number) => void = () => undefined;
  readonly #known = new Map<number, Known>();
  /** Requests that wait for a worker: webhooks and starts, which the server bounds. */
  #waiting: (() => void)[] = [];

  /** `gateway`: the gateway's name in the store, without a process's suffix. */
  constructor(link: IpcChannel, { clock, gateway }: { clock: Clock; gateway: string }) {
    this.#link = link;
    this.#clock = clock;
    this.#gateway = gateway;
    link.onNotification('load', (body, { from }) => this.#take(from, load.parse(body)));
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

  /** Name of the recogniser of calls, as the workers report it. */
  get stt(): string | null {
    return [...this.#known.values()][0]?.stt ?? null;
  }

  leastLoaded(): PooledWorker | undefined {
    const inTime = this.#inTime();
    const running = inTime.length > 0 ? inTime : [...this.#known];
    const withRoom = running.filter(([, { takesCalls }]) => takesCalls);
    const from = withRoom.length > 0 ? withRoom : running;
    // Audio of PBXs can only be at that worker; without PBXs it is like the others.
    const others = from.filter(
      ([number, { applications }]) => number !== PBX_WORKER || applications.length === 0,
    );
    const [first, ...rest] = (others.length > 0 ? others : from).map(([, known]) => known);
    const best = rest.reduce(
      (least, each) => (least !== undefined && burden(least) <= burden(each) ? least : each),
      first,
    );
    if (best === undefined) return undefined;
    best.given += 1;
    return best.worker;
  }

  pbxWorker(): PooledWorker | undefined {
    return this.#known.get(PBX_WORKER)?.worker;
  }

  get isSingle(): boolean {
    return this.#known.size === 1 && this.#known.has(PBX_WORKER);
  }

  byNode(node: string): PooledWorker | undefined {
    for (const [number, { worker }] of this.#known) {
      if (nodeOfProcess(this.#gateway, number) === node) return worker;
    }
    return undefined;
  }

  /** The worker with the PBX of that application; for an unknown one, which may still connect, the worker that
   *  holds PBXs. */
  ofApplication(application: string): number {
    for (const [number, { applications }] of this.#known) {
      if (applications.includes(application)) return number;
    }
    return PBX_WORKER;
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

  #take(from: number, { applications, ...facts }: z.infer<typeof load>): void {
    const before = this.#known.get(from);
    this.#known.set(from, {
      ...facts,
      applications: applications ?? before?.applications ?? [],
      atMs: this.#clock.monotonicMs(),
      given: 0,
      worker: before?.worker ?? this.#worker(from),
    });
    if (before !== undefined) return;
    this.onJoined(from);
    for (const look of this.#waiting) look();
  }

  #inTime(): [number, Known][] {
    const sinceMs = this.#clock.monotonicMs() - LATE_MS_MIN;
    return [...this.#known].filter(([, { atMs }]) => atMs >= sinceMs);
  }

  #worker(number: number): PooledWorker {
    const ask = (topic: string, body: unknown, ms: number): Promise<unknown> =>
      this.#link.request(number, topic, body, ms);
    const webhook = async (topic: string, body: unknown) =>
      webhookReply.parse(await ask(topic, body, ASK_MS_MAX));
    return {
      start: async (wanted) => startedCall.parse(await ask('start', wanted, DIAL_MS_MAX)),
      startTest: async (wanted) => startedCall.parse(await ask('start-test', wanted, DIAL_MS_MAX)),
      inbound: (request, workflowId) => webhook('inbound', { request, workflowId }),
      answerAgain: async (runId) =>
        z.boolean().parse(await ask('answer-again', { runId }, ANSWER_AGAIN_MS_MAX)),
      answer: (name, runId, request) => webhook('answer', { name, runId, request }),
      event: (name, runId, request) => webhook('event', { name, runId, request }),
      accountEvent: (name, request) => webhook('account-event', { name, request }),
      sendDigits: async (wanted) => {
        await ask('digits', wanted, DIGITS_MS_MAX);
      },
      hangUp: async (wanted) => {
        await ask('hang-up', wanted, HANG_UP_MS_MAX);
      },
      place: async (dial) => placed.parse(await ask('place', dial, DIAL_MS_MAX)),
      outcomeAfterCrash: async (runId) => fate.parse(await ask('fate', { runId }, FATE_MS_MAX)),
      examine: async (wanted) => findings.parse(await ask('examine', wanted, EXAMINE_MS_MAX)),
    };
  }
}

function burden({ calls, given }: Known): number {
  return calls + given;
}
