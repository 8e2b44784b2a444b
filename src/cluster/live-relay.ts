// Relays live items to the watchers of calls: from the workers to the API process, and from there to other gateways. Only
// those of watched runs are sent over the inter-process channel, at a bounded rate.

import { z } from 'zod';
import {
  isInterim,
  type LiveWatchers,
  type Place,
  type Watcher,
} from '../call/events/live-watchers.ts';
import type { FeedbackItem } from '../call/events/realtime-feedback.ts';
import { liveItemsDropped } from '../metrics/metrics.ts';
import type { Clock } from '../std/clock.ts';
import type { IpcChannel } from './ipc-channel.ts';
import { type Address, ALL_GATEWAYS } from './ipc-message.ts';

/** Live items per second and worker or gateway: an API process handles those of all. */
const LIVE_PER_S_MAX = 500;
/** Interim words among them, so that they do not displace other items. */
const INTERIM_PER_S_MAX = LIVE_PER_S_MAX / 2;

/** Watched runs that a worker or a gateway notes for another: those of all event streams of a few gateways. Watchers of
 *  more get what is stored a second later, and no live items. */
const RUNS_MAX = 5_000;

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

/** Relays to the watchers what happens at the workers, at the API process. The returned function sends the watched runs
 *  to a new worker. */
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
  link.onNotification('news', (body) => take(live, body, 'here'));
  return (worker) => tellAll(link, worker, live.runIds);
}

/** Relays to the watchers of this gateway what happens at other gateways. The returned function sends the watched runs to
 *  a new gateway. */
export function relayFromGateways(
  bus: IpcChannel<string>,
  live: LiveWatchers,
): (joined: string) => void {
  // Sent to all gateways: a run may get another owner while it is watched.
  live.onWatchedHere = (runId, isWatched) => {
    bus.notify(ALL_GATEWAYS, 'watched', { runIds: [runId], isWatched, isAll: false });
  };
  bus.onNotification('news', (body) => take(live, body, 'elsewhere'));
  return (gateway) => {
    tellAll(bus, gateway, live.runIdsHere);
    // What has happened before it watches these runs was not relayed.
    live.notifyStored(live.runIdsHere, 'elsewhere');
  };
}

function take(live: LiveWatchers, body: unknown, origin: Place): void {
  const taken = news.parse(body);
  if ('storedOf' in taken) live.notifyStored([taken.storedOf], origin);
  else live.emit(taken.runId, taken.item, origin);
}

function tellAll<A extends Address>(channel: IpcChannel<A>, to: A, runIds: string[]): void {
  channel.notify(to, 'watched', { runIds, isWatched: true, isAll: true });
}

/** Relays what happens here to those that watch it, each at a bounded rate: at a call worker to the API process, at an API
 *  process to other gateways (`place`: elsewhere). The returned function removes one of them. */
export function relayTo<A extends Address>(
  channel: IpcChannel<A>,
  live: LiveWatchers,
  { clock, place = 'here' }: { clock: Clock; place?: Place },
): (peer: A) => void {
  const watches = new Map<A, Watches<A>>();
  channel.onNotification('watched', (body, { from }) => {
    const { runIds, isWatched, isAll } = watched.parse(body);
    const its = watches.get(from) ?? new Watches(channel, from, { live, clock, place });
    watches.set(from, its);
    if (isAll) its.stopAll();
    if (isWatched) its.start(runIds);
    else its.stop(runIds);
  });
  return (peer) => {
    watches.get(peer)?.stopAll();
    watches.delete(peer);
  };
}

/** Runs that one process or gateway watches. */
class Watches<A extends Address> {
  readonly #channel: IpcChannel<A>;
  readonly #peer: A;
  readonly #live: LiveWatchers;
  readonly #place: Place;
  readonly #rate: LiveRate;
  readonly #unwatch = new Map<string, () => void>();

  constructor(
    channel: IpcChannel<A>,
    peer: A,
    { live, clock, place }: { live: LiveWatchers; clock: Clock; place: Place },
  ) {
    this.#channel = channel;
    this.#peer = peer;
    this.#live = live;
    this.#place = place;
    this.#rate = new LiveRate(clock);
  }

  start(runIds: readonly string[]): void {
    for (const runId of runIds) {
      if (this.#unwatch.size >= RUNS_MAX || this.#unwatch.has(runId)) continue;
      this.#unwatch.set(runId, this.#live.watch(runId, this.#watcherOf(runId), this.#place));
    }
  }

  stop(runIds: readonly string[]): void {
    for (const runId of runIds) {
      this.#unwatch.get(runId)?.();
      this.#unwatch.delete(runId);
    }
  }

  stopAll(): void {
    this.stop([...this.#unwatch.keys()]);
  }

  #watcherOf(runId: string): Watcher {
    const tell = (body: unknown): void => void this.#channel.notify(this.#peer, 'news', body);
    return {
      onStored: () => tell({ storedOf: runId }),
      onLive: (_, item) => {
        if (this.#rate.allows(item)) tell({ runId, item });
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
