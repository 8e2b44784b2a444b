// What happens in calls, for those who watch: one run from its first event to its end, or all runs of an
// organization from now on. Pulled, not pushed: a watcher that is slow falls behind and holds no memory.
// Source: contract §8.10 for the items; `run-started` and `run-completed` are ours.

import type { CallEvent } from '../model/call-event.ts';
import type { Run } from '../model/run.ts';
import type { Clock } from '../std/clock.ts';
import type { Store } from '../store/store.ts';
import type { EventLog } from './event-log.ts';
import { Feedback, type FeedbackItem } from './projection/feedback.ts';
import { stamp } from './projection/transcript.ts';

/** A watcher hears something at least this often. */
const HEARTBEAT_MS = 15_000;
/** Runs of other processes are looked up this often; a run's end, too. */
const LOOK_MS = 1_000;
/** Runs that one watcher of an organization may be behind with. */
const CHANGED_MAX = 10_000;

export interface LiveItem extends FeedbackItem {
  run_id: string;
  workflow_id: string;
}

/** `id` says where to go on (`<run>:<number of the event>`). Undefined is a sign of life. */
export type Live = { id: string; item: LiveItem } | undefined;

export interface LiveDeps {
  store: Pick<Store, 'runs'>;
  events: EventLog;
  clock: Clock;
}

export class LiveCalls {
  readonly #deps: LiveDeps;

  constructor(deps: LiveDeps) {
    this.#deps = deps;
  }

  /** The run's items after event number `after` (0: all), then those to come, then its end. Ends with the
   *  run or when `signal` is aborted. */
  async *run(run: Run, after: number, signal: AbortSignal): AsyncGenerator<Live> {
    const watched: WatchedRun = { run, after, seq: 0, feedback: new Feedback(), ended: undefined };
    const news = this.#watch(signal, ({ runId }) => runId === run.id);
    try {
      while (!signal.aborted) {
        news.takeChanged();
        // Asked before the events are read: a run that is completed has no later ones.
        const current = await this.#deps.store.runs.find(run.id);
        yield* this.#newsOf(watched);
        if (current === undefined) return;
        if (current.state === 'completed') {
          yield { id: `${run.id}:${watched.seq}`, item: completedItem(current) };
          return;
        }
        if (!(await news.next(LOOK_MS))) yield undefined;
      }
    } finally {
      news.stop();
    }
  }

  /** Items of the organization's calls in this process from now on. Ends when `signal` is aborted. */
  async *organization(organizationId: string, signal: AbortSignal): AsyncGenerator<Live> {
    const watched = new Map<string, WatchedRun | null>();
    const news = this.#watch(signal, ({ runId }) => watched.get(runId) !== null);
    try {
      while (!signal.aborted) {
        for (const first of news.takeChanged()) {
          const known = await this.#watchedRun(watched, organizationId, first);
          if (known === undefined) continue;
          yield* this.#newsOf(known);
          if (known.ended === undefined) continue;
          yield { id: `${known.run.id}:${known.seq}`, item: endedItem(known.run, known.ended) };
          watched.delete(known.run.id);
        }
        if (!(await news.next(HEARTBEAT_MS))) yield undefined;
      }
    } finally {
      news.stop();
    }
  }

  /** Undefined for a run of somebody else. */
  async #watchedRun(
    watched: Map<string, WatchedRun | null>,
    organizationId: string,
    { runId, seq }: CallEvent,
  ): Promise<WatchedRun | undefined> {
    const known = watched.get(runId);
    if (known !== undefined) return known ?? undefined;
    const run = await this.#deps.store.runs.find(runId);
    const isOwn = run?.organizationId === organizationId;
    if (watched.size >= CHANGED_MAX) watched.clear();
    const fresh = isOwn
      ? { run, after: seq - 1, seq: 0, feedback: new Feedback(), ended: undefined }
      : null;
    watched.set(runId, fresh);
    return fresh ?? undefined;
  }

  async *#newsOf(known: WatchedRun): AsyncGenerator<Live> {
    const { run, feedback } = known;
    for (const event of await this.#eventsAfter(run.id, known.seq)) {
      known.seq = event.seq;
      const item = itemOf(run, event, feedback);
      if (item !== undefined && event.seq > known.after)
        yield { id: `${run.id}:${event.seq}`, item };
      if (event.body.type === 'call.ended') known.ended = event;
    }
  }

  async #eventsAfter(runId: string, seq: number): Promise<readonly CallEvent[]> {
    const held = await this.#deps.events.held(runId);
    // Numbers count from 1 without gaps.
    if (held !== undefined) return held.slice(seq);
    return this.#deps.store.runs.events(runId, seq);
  }

  #watch(signal: AbortSignal, isOfInterest: (event: CallEvent) => boolean): News {
    return new News(this.#deps, signal, isOfInterest);
  }
}

interface WatchedRun {
  run: Run;
  /** What was before the first event that was seen is not told. */
  after: number;
  seq: number;
  feedback: Feedback;
  /** Its last event, once it has come. */
  ended: CallEvent | undefined;
}

/** Wakes a watcher when something of interest happens. */
class News {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #unsubscribe: () => void;
  /** The first event of each run since the last look. */
  #changed = new Map<string, CallEvent>();
  #wake: () => void = () => undefined;
  #quietMs = 0;

  constructor(
    { events, clock }: LiveDeps,
    signal: AbortSignal,
    isOfInterest: (event: CallEvent) => boolean,
  ) {
    this.#clock = clock;
    this.#signal = signal;
    this.#unsubscribe = events.subscribe((event) => {
      if (!isOfInterest(event) || this.#changed.has(event.runId)) return;
      if (this.#changed.size >= CHANGED_MAX) return;
      this.#changed.set(event.runId, event);
      this.#wake();
    });
    signal.addEventListener('abort', () => this.#wake(), { once: true });
  }

  takeChanged(): CallEvent[] {
    const changed = [...this.#changed.values()];
    this.#changed = new Map();
    return changed;
  }

  /** Waits for news, at most `lookMs`. False if a sign of life is due. */
  async next(lookMs: number): Promise<boolean> {
    if (this.#changed.size === 0 && !this.#signal.aborted) {
      await new Promise<void>((resolve) => {
        const timer = this.#clock.after(lookMs, resolve);
        this.#wake = () => {
          timer.cancel();
          resolve();
        };
      });
    }
    const hasNews = this.#changed.size > 0;
    this.#quietMs = hasNews ? 0 : this.#quietMs + lookMs;
    if (this.#quietMs < HEARTBEAT_MS) return true;
    this.#quietMs = 0;
    return false;
  }

  stop(): void {
    this.#unsubscribe();
  }
}

function itemOf(run: Run, event: CallEvent, feedback: Feedback): LiveItem | undefined {
  const item = feedback.take(event);
  if (item !== undefined) return { ...item, run_id: run.id, workflow_id: run.workflowId };
  if (event.body.type !== 'call.created') return undefined;
  const { direction, provider } = event.body;
  return lifecycle(run, 'run-started', event.at, { name: run.name, direction, provider });
}

function completedItem(run: Run): LiveItem {
  const { disposition, durationS, endedAt, createdAt } = run;
  const payload = { status: 'completed', disposition, duration: durationS };
  return lifecycle(run, 'run-completed', (endedAt ?? createdAt).getTime(), payload);
}

/** As the log says it; the run's row follows within moments. */
function endedItem(run: Run, { at, body }: CallEvent): LiveItem {
  const facts =
    body.type === 'call.ended' ? { disposition: body.reason, duration: body.durationS } : {};
  return lifecycle(run, 'run-completed', at, { status: 'completed', ...facts });
}

function lifecycle(run: Run, type: string, at: number, payload: Record<string, unknown>): LiveItem {
  return { type, payload, timestamp: stamp(at), run_id: run.id, workflow_id: run.workflowId };
}
