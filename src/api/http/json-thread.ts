// Reads large JSON bodies in a worker thread, so that the event loop and the calls on it do not wait. One body at a
// time; others wait here, and leave with their client. The thread starts with the first body.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import { workerEntry } from '../../runtime/entry-point.ts';
import { type SupervisedWorker, startSupervisedWorker } from '../../runtime/supervised-worker.ts';
import type { Clock, Timer } from '../../std/clock.ts';
import type { JsonReading } from './json-body.ts';

/** Waiting bodies: 32 MB of the largest ones. Each takes the thread about 10 ms. */
const WAITING_MAX = 16;
/** Deadline for one body, a hundred times what the largest takes on a slow core; beyond it the thread hangs. */
const READ_MS_MAX = 5_000;

export interface JsonTask {
  id: number;
  bytes: Uint8Array<ArrayBuffer>;
  valuesMax: number;
}

export interface JsonAnswer {
  id: number;
  reading: JsonReading;
}

interface Job {
  id: number;
  bytes: Uint8Array;
  valuesMax: number;
  settle(result: JsonReading | Error): void;
}

export class JsonThread {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #startWorker: typeof startSupervisedWorker<JsonTask, JsonAnswer>;
  readonly #waiting: Job[] = [];
  #worker: SupervisedWorker<JsonTask> | undefined;
  #running: Job | undefined;
  #deadline: Timer | undefined;
  #isDown = false;
  #lastId = 0;

  constructor(deps: { clock: Clock; log: Log; startWorker?: typeof startSupervisedWorker }) {
    this.#clock = deps.clock;
    this.#log = deps.log;
    this.#startWorker = deps.startWorker ?? startSupervisedWorker;
  }

  /** Reads a body. `bytes` are borrowed until the promise settles. Rejects with the signal's reason, and with
   *  API_BUSY if too many bodies wait or the thread does not answer. */
  read(bytes: Uint8Array, valuesMax: number, signal: AbortSignal): Promise<JsonReading> {
    if (signal.aborted) return Promise.reject(signal.reason);
    if (this.#isDown || this.#waiting.length >= WAITING_MAX) {
      return Promise.reject(new GatewayError('API_BUSY'));
    }
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        const at = this.#waiting.findIndex((job) => job.id === id);
        if (at >= 0) this.#waiting.splice(at, 1);
        reject(signal.reason);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      const settle = (result: JsonReading | Error): void => {
        signal.removeEventListener('abort', onAbort);
        if (result instanceof Error) reject(result);
        else resolve(result);
      };
      this.#waiting.push({ id, bytes, valuesMax, settle });
      this.#next();
    });
  }

  async close(): Promise<void> {
    this.#isDown = true;
    this.#failAll();
    await this.#worker?.close();
  }

  #next(): void {
    if (this.#running !== undefined) return;
    const job = this.#waiting.shift();
    if (job === undefined) return;
    this.#running = job;
    this.#deadline = this.#clock.after(READ_MS_MAX, () => this.#worker?.kill('it hangs'));
    this.#worker ??= this.#start();
    // A copy that is transferred to the thread: the request keeps its bytes.
    const { id, valuesMax } = job;
    const bytes = new Uint8Array(job.bytes);
    this.#worker.post({ id, bytes, valuesMax }, [bytes.buffer]);
  }

  #start(): SupervisedWorker<JsonTask> {
    return this.#startWorker({
      name: 'json',
      entry: workerEntry('./json-worker.ts', import.meta.url),
      data: undefined,
      clock: this.#clock,
      log: this.#log,
      onMessage: ({ id, reading }) => {
        if (id === this.#running?.id) this.#finish(reading);
      },
      onDown: (_reason, forGood) => {
        this.#isDown = forGood;
        if (forGood) this.#failAll();
        else this.#finish(new GatewayError('API_BUSY'));
      },
      onUp: () => {
        this.#isDown = false;
      },
    });
  }

  #finish(result: JsonReading | Error): void {
    this.#deadline?.cancel();
    const job = this.#running;
    this.#running = undefined;
    job?.settle(result);
    this.#next();
  }

  #failAll(): void {
    const waiting = this.#waiting.splice(0);
    for (const { settle } of waiting) settle(new GatewayError('API_BUSY'));
    this.#finish(new GatewayError('API_BUSY'));
  }
}
