// A queue of events per call of a PBX: a call's events are handled in order, one after the other; calls do not wait
// for each other.

import type { Log } from '../../log.ts';

/** Queued steps of one call: a call has a handful. */
const STEPS_MAX = 100;

export interface MediaOpening {
  /** Does not reject. */
  readonly settled: Promise<unknown>;
  abandon(): void;
}

/** A call with work in progress. */
export interface QueuedCall {
  /** Aborted when the call is over. */
  readonly ended: AbortSignal;
  /** Its media, while they are being opened before its answer. */
  mediaOpening: MediaOpening | undefined;
  /** Work in parallel to the steps; the call counts as busy until it settles. Must not reject. */
  runBeside(work: Promise<unknown>): void;
}

export class PerCallQueue {
  readonly #log: Log;
  readonly #calls = new Map<string, Call>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Calls with work in progress. */
  get busy(): number {
    return this.#calls.size;
  }

  /** The call is over: queued steps will not help it. */
  over(callId: string): void {
    this.#calls.get(callId)?.over();
  }

  enqueue(callId: string, work: (call: QueuedCall) => Promise<void>): void {
    const call = this.#calls.get(callId) ?? new Call(() => this.#calls.delete(callId));
    this.#calls.set(callId, call);
    if (call.waiting >= STEPS_MAX) {
      this.#log.warn({ callId }, 'event of a PBX dropped: its call has too many waiting');
      return;
    }
    call.next(() =>
      work(call).catch((error: unknown) =>
        this.#log.error({ err: error, callId }, 'step not taken'),
      ),
    );
  }
}

class Call implements QueuedCall {
  waiting = 0;
  mediaOpening: MediaOpening | undefined;
  readonly #gone = new AbortController();
  readonly #onIdle: () => void;
  #last: Promise<unknown> = Promise.resolve();

  constructor(onIdle: () => void) {
    this.#onIdle = onIdle;
  }

  get ended(): AbortSignal {
    return this.#gone.signal;
  }

  over(): void {
    this.#gone.abort();
  }

  next(work: () => Promise<unknown>): void {
    this.#last = this.#last.then(work);
    this.runBeside(this.#last);
  }

  runBeside(work: Promise<unknown>): void {
    this.waiting += 1;
    void work.finally(() => {
      this.waiting -= 1;
      if (this.waiting === 0) this.#onIdle();
    });
  }
}
