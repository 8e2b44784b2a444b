// Writes call events to the store as they happen: one batch for all calls every FLUSH_MS, so that a killed process
// loses less than a second. Keeps each run's events for its projections.

import { codeOf } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import { eventsStored } from '../../metrics/metrics.ts';
import type { CallEvent, CallEventBody } from '../../model/call-event.ts';
import type { Clock, Timer } from '../../std/clock.ts';
import { inShare } from '../../std/work-share.ts';
import { type LiveType, LiveWatchers } from './live-watchers.ts';
import { stamp } from './transcript.ts';

const FLUSH_MS = 200;
/** Rows in one statement at most. */
const BATCH_MAX = 500;
/** Events that may be queued while the database is unavailable, about 100 MB: a busy call has two in three seconds,
 *  so this is five minutes of a thousand calls. */
const WAITING_MAX = 200_000;
/** Pause after a failed write. */
const RETRY_MS = 1_000;

export interface EventSink {
  /** Stores events. Resolves with the runs that another process has taken over: their events are not stored. */
  appendEvents(events: readonly CallEvent[]): Promise<readonly string[]>;
  events(runId: string): Promise<CallEvent[]>;
}

export interface RunLog {
  readonly events: readonly CallEvent[];
  /** Appends an event. `at`: when it happened, milliseconds since 1970. Default: now. */
  append(body: CallEventBody, mediaMs: number, at?: number): void;
  /** Whether a watcher may get live items. */
  isWatched(): boolean;
  /** Sends an item that is not stored to the watchers. */
  emitLive(type: LiveType, payload?: Record<string, unknown>): void;
}

export class EventLog {
  /** Watchers of this process's calls. */
  readonly live = new LiveWatchers();
  /** Called with runs that another process has taken over from this one, as it seemed dead. Must not throw. */
  onTaken: ((runIds: readonly string[]) => void) | undefined;
  readonly #sink: EventSink;
  readonly #clock: Clock;
  readonly #log: Log;
  #waiting: CallEvent[] = [];
  #timer: Timer | undefined;
  #writing: Promise<void> = Promise.resolve();
  /** One log object per run, so that its sequence numbers have one source. */
  readonly #runs = new Map<string, Promise<RunLog>>();

  constructor(deps: { sink: EventSink; clock: Clock; log: Log }) {
    this.#sink = deps.sink;
    this.#clock = deps.clock;
    this.#log = deps.log;
  }

  /** The run's log with the stored events; a new run has none. Returns the same object until it is released. */
  open(runId: string, { isNew }: { isNew: boolean } = { isNew: false }): Promise<RunLog> {
    const known = this.#runs.get(runId);
    if (known !== undefined) return known;
    const opening = isNew ? Promise.resolve(this.#logOf(runId, [])) : this.#load(runId);
    this.#runs.set(runId, opening);
    opening.catch(() => this.#runs.delete(runId));
    return opening;
  }

  /** Whether this process has the run's log. */
  isOpen(runId: string): boolean {
    return this.#runs.has(runId);
  }

  /** Removes a completed run's events from memory. */
  release(runId: string): void {
    this.#runs.delete(runId);
  }

  async #load(runId: string): Promise<RunLog> {
    // Events of other runs keep their batch.
    if (this.#waiting.some((event) => event.runId === runId)) await this.flush();
    return this.#logOf(runId, await this.#sink.events(runId));
  }

  #logOf(runId: string, events: CallEvent[]): RunLog {
    let seq = events.reduce((last, event) => Math.max(last, event.seq), 0);
    return {
      events,
      append: (body, mediaMs, at = this.#clock.now()) => {
        seq += 1;
        const event = { runId, seq, at, mediaMs: Math.round(mediaMs), body };
        events.push(event);
        this.#enqueue(event);
      },
      isWatched: () => this.live.isWatched(runId),
      emitLive: (type, payload = {}) => {
        const timestamp = stamp(this.#clock.now());
        this.live.emit(runId, { type, payload, timestamp });
      },
    };
  }

  /** Resolves when everything appended so far is stored, or the store has refused it once more. */
  flush(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    return this.#write();
  }

  #enqueue(event: CallEvent): void {
    if (this.#waiting.length >= WAITING_MAX) {
      eventsStored.inc({ result: 'lost' });
      return;
    }
    this.#waiting.push(event);
    this.#timer ??= this.#clock.after(FLUSH_MS, () => this.#due());
  }

  #due(): void {
    this.#timer = undefined;
    void this.#write();
  }

  /** Writes the queue. Writes follow one another, so that a run's events are stored in order. They are the gateway's
   *  own work, whichever organization's call was first. */
  #write(): Promise<void> {
    this.#writing = this.#writing.then(() => inShare(undefined, () => this.#writeAll()));
    return this.#writing;
  }

  /** Writes all queued events. Stops at a failure and repeats after RETRY_MS. If the store is up and refuses a
   *  batch, the event that causes this is dropped: it must not block the events of other calls. Never rejects. */
  async #writeAll(): Promise<void> {
    let size = BATCH_MAX;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, size);
      let taken: readonly string[];
      try {
        taken = await this.#sink.appendEvents(batch);
        size = BATCH_MAX;
      } catch (error) {
        if (!isOfStore(error) && batch.length > 1) {
          size = Math.ceil(batch.length / 2);
          continue;
        }
        if (!isOfStore(error)) this.#drop(error);
        eventsStored.inc({ result: 'failed' });
        this.#log.error({ err: error, waiting: this.#waiting.length }, 'events not stored yet');
        this.#timer ??= this.#clock.after(RETRY_MS, () => this.#due());
        return;
      }
      this.#waiting.splice(0, batch.length);
      const stored = batch.filter(({ runId }) => !taken.includes(runId));
      eventsStored.inc({ result: 'stored' }, stored.length);
      this.live.notifyStored(stored.map(({ runId }) => runId));
      if (taken.length === 0) continue;
      eventsStored.inc({ result: 'fenced' }, batch.length - stored.length);
      this.onTaken?.(taken);
    }
  }
  /** Drops the first queued event. */
  #drop(error: unknown): void {
    const [event] = this.#waiting.splice(0, 1);
    eventsStored.inc({ result: 'lost' });
    this.#log.error({ err: error, runId: event?.runId, type: event?.body.type }, 'event refused');
  }
}

/** Whether the error is one of the store, so that a second attempt may succeed. */
function isOfStore(error: unknown): boolean {
  return codeOf(error)?.startsWith('STORE_') ?? false;
}

/** Events without the rewound ones, in the order of the log. Usage of language models counts even if it was rewound. */
export function effectiveEvents(events: readonly CallEvent[]): CallEvent[] {
  const counting: CallEvent[] = [];
  // From the end: a rewind that was itself rewound has no effect.
  let seqMax = Number.POSITIVE_INFINITY;
  for (const event of events.toReversed()) {
    const { seq, body } = event;
    if (seq <= seqMax && body.type === 'chat.rewound') seqMax = Math.min(seqMax, body.toSeq);
    else if (seq <= seqMax || body.type === 'model.usage') counting.push(event);
  }
  return counting.reverse();
}
