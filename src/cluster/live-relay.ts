// Relays live items of the workers' calls to watchers at the API process. Workers send them over the inter-process
// channel only while there is a watcher, and at a bounded rate.

import { z } from 'zod';
import { isInterim, type LiveWatchers } from '../call/log/live-watchers.ts';
import type { FeedbackItem } from '../call/log/realtime-feedback.ts';
import { liveItemsDropped } from '../metrics/metrics.ts';
import type { Clock } from '../std/clock.ts';
import type { IpcChannel } from './ipc-channel.ts';
import { API } from './ipc-message.ts';

/** Live items per second and worker: the API process handles those of all workers. */
const LIVE_PER_S_MAX = 500;
/** Interim words among them, so that they do not displace other items. */
const INTERIM_PER_S_MAX = LIVE_PER_S_MAX / 2;

const watched = z.object({ isWatched: z.boolean() });
const news = z.union([
  z.object({ runIds: z.array(z.string()) }),
  z.object({
    runId: z.string(),
    item: z.object({
      type: z.string(),
      payload: z.record(z.string(), z.unknown()),
      timestamp: z.string(),
    }),
  }),
]);

/** At the API process. The returned function informs a new worker whether there is a watcher. */
export function relayFromWorkers(
  link: IpcChannel,
  live: LiveWatchers,
  workers: () => readonly number[],
): (joined: number) => void {
  let isWatched = false;
  const report = (worker: number): void => {
    link.notify(worker, 'watched', { isWatched });
  };
  live.onWatched = (is) => {
    isWatched = is;
    for (const worker of workers()) report(worker);
  };
  link.onNotification('news', (body) => {
    const taken = news.parse(body);
    if ('runIds' in taken) live.notifyStored(taken.runIds);
    else live.emit(taken.runId, taken.item);
  });
  return report;
}

/** At a call worker. */
export function relayToApi(link: IpcChannel, live: LiveWatchers, clock: Clock): void {
  let sinceMs = Number.NEGATIVE_INFINITY;
  let sent = 0;
  const onLive = (runId: string, item: FeedbackItem): void => {
    const nowMs = clock.monotonicMs();
    if (nowMs - sinceMs >= 1_000) {
      sinceMs = nowMs;
      sent = 0;
    }
    if (sent >= (isInterim(item) ? INTERIM_PER_S_MAX : LIVE_PER_S_MAX)) {
      liveItemsDropped.inc();
      return;
    }
    sent += 1;
    link.notify(API, 'news', { runId, item });
  };
  link.onNotification('watched', (body) => {
    live.relay = watched.parse(body).isWatched
      ? { onStored: (runIds) => link.notify(API, 'news', { runIds }), onLive }
      : undefined;
  });
}
