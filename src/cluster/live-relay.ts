// Relays live items of the workers' calls to watchers at the API process. Workers send only those of watched runs over
// the inter-process channel, at a bounded rate.

import { z } from 'zod';
import { isInterim, type LiveWatchers, type Watcher } from '../call/events/live-watchers.ts';
import type { FeedbackItem } from '../call/events/realtime-feedback.ts';
import { liveItemsDropped } from '../metrics/metrics.ts';
import type { Clock } from '../std/clock.ts';
import type { IpcChannel } from './ipc-channel.ts';
import { API } from './ipc-message.ts';

/** Live items per second and worker: the API process handles those of all workers. */
const LIVE_PER_S_MAX = 500;
/** Interim words among them, so that they do not displace other items. */
const INTERIM_PER_S_MAX = LIVE_PER_S_MAX / 2;

/** Watched runs of one worker: the API process has at most 500 event streams. */
const RUNS_MAX = 1_000;

/** Message: a change of the watched runs; `isAll`: the complete list. */
const watched = z.object({
  runIds: z.array(z.string()),
  isWatched: z.boolean(),
  isAll: z.boolean(),
});
const news = z.union([
  z.object({ storedOf: z.string() }),
  z.object({
    runId: z.string(),
    item: z.object({
      type: z.string(),
      payload: z.record(z.string(), z.unknown()),
      timestamp: z.string(),
    }),
  }),
]);

/** Relays to the watchers, at the API process. The returned function sends the watched runs to a new worker. */
export function relayFromWorkers(
  link: IpcChannel,
  live: LiveWatchers,
  workers: () => readonly number[],
): (joined: number) => void {
  // Sent to all workers: which one has the run is not known here.
  live.onWatched = (runId, isWatched) => {
    const change = { runIds: [runId], isWatched, isAll: false };
    for (const worker of workers()) link.notify(worker, 'watched', change);
  };
  link.onNotification('news', (body) => {
    const taken = news.parse(body);
    if ('storedOf' in taken) live.notifyStored([taken.storedOf]);
    else live.emit(taken.runId, taken.item);
  });
  return (worker) => {
    const all = { runIds: live.runIds, isWatched: true, isAll: true };
    link.notify(worker, 'watched', all);
  };
}

/** Relays to the API process, at a call worker. */
export function relayToApi(link: IpcChannel, live: LiveWatchers, clock: Clock): void {
  const unwatch = new Map<string, () => void>();
  const limit = new LiveRate(clock);

  link.onNotification('watched', (body) => {
    const { runIds, isWatched, isAll } = watched.parse(body);
    if (isAll) stop([...unwatch.keys()]);
    if (isWatched) start(runIds);
    else stop(runIds);
  });

  function start(runIds: readonly string[]): void {
    for (const runId of runIds) {
      if (unwatch.size >= RUNS_MAX || unwatch.has(runId)) continue;
      unwatch.set(runId, live.watch(runId, watcherOf(runId)));
    }
  }

  function stop(runIds: readonly string[]): void {
    for (const runId of runIds) {
      unwatch.get(runId)?.();
      unwatch.delete(runId);
    }
  }

  function watcherOf(runId: string): Watcher {
    return {
      onStored: () => void link.notify(API, 'news', { storedOf: runId }),
      onLive: (_, item) => {
        if (limit.allows(item)) link.notify(API, 'news', { runId, item });
        else liveItemsDropped.inc();
      },
    };
  }
}

class LiveRate {
  readonly #clock: Clock;
  #sinceMs = Number.NEGATIVE_INFINITY;
  #sent = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  allows(item: FeedbackItem): boolean {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#sinceMs >= 1_000) {
      this.#sinceMs = nowMs;
      this.#sent = 0;
    }
    if (this.#sent >= (isInterim(item) ? INTERIM_PER_S_MAX : LIVE_PER_S_MAX)) return false;
    this.#sent += 1;
    return true;
  }
}
