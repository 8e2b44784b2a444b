// Event queues of a PBX, one for each call: events of one call are handled one after the other, those of different
// calls in parallel.

import type { Log } from '../../../log.ts';

/** Queued steps of one call at most: a call has a handful. */
const STEPS_MAX = 100;

export interface MediaOpening {
  /** Settles with the media; does not reject. */
  readonly settled: Promise<unknown>;
  abandon(): void;
}

/** A call with work in progress. */
export interface QueuedCall {
  /** Aborted at the end of the call. */
  readonly ended: AbortSignal;
  /** The call's media, while they are being opened before its answer. */
  mediaOpening: MediaOpening | undefined;
  /** Runs work in parallel to the steps; the call counts as busy until it settles. Must not reject. */
  runBeside(work: Promise<unknown>): void;
}

export class PerCallQueue {
  readonly #log: Log;
  readonly #calls = new Map<string, Call>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Number of calls with work in progress. */
  get busy(): number {
    return this.#calls.size;
  }

  /** Drops the queued steps of a call that is over. */
  over(callId: string): void {
    this.#calls.get(callId)?.over();
  }

  /** Begins the queue of a call that is over anew, behind its earlier steps. */
  beginAgain(callId: string): void {
    const before = this.#calls.get(callId);
    if (before !== undefined) this.#add(callId, before.last);
  }

  enqueue(callId: string, work: (call: QueuedCall) => Promise<void>): void {
    const call = this.#calls.get(callId) ?? this.#add(callId);
    if (call.waiting >= STEPS_MAX) {
      this.#log.warn({ callId }, 'PBX event dropped: the event queue of its call is full');
      return;
    }
    call.next(() =>
      work(call).catch((error: unknown) =>
        this.#log.error({ err: error, callId }, 'step not taken'),
      ),
    );
  }

  #add(callId: string, after: Promise<unknown> = Promise.resolve()): Call {
    const call = new Call(after, () => {
      if (this.#calls.get(callId) === call) this.#calls.delete(callId);
    });
    this.#calls.set(callId, call);
    return call;
  }
}

class Call implements QueuedCall {
  waiting = 0;
  mediaOpening: MediaOpening | undefined;
  readonly #gone = new AbortController();
  readonly #onIdle: () => void;
  #last: Promise<unknown>;

  constructor(after: Promise<unknown>, onIdle: () => void) {
    this.#last = after;
    this.#onIdle = onIdle;
  }

  /** The last step so far. */
  get last(): Promise<unknown> {
    return this.#last;
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
