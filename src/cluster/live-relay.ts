// What happens in calls of other workers, for those who watch it at the front. Workers send it over the
// inter-process channel only while somebody watches, and at a bounded rate.

import { z } from 'zod';
import { isInterim, type LiveWatchers } from '../call/log/live-watchers.ts';
import type { FeedbackItem } from '../call/log/realtime-feedback.ts';
import { liveItemsDropped } from '../metrics/metrics.ts';
import type { Clock } from '../std/clock.ts';
import type { IpcChannel } from './ipc-channel.ts';
import { FRONT } from './ipc-message.ts';

/** Live items that one worker sends in a second: the front handles those of all workers beside its calls. */
const LIVE_PER_S_MAX = 500;
/** Of these, interim words, so that they do not displace the others. */
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

/** At the front. The function that it gives tells a worker that has joined whether somebody watches. */
export function relayFromWorkers(
  link: IpcChannel,
  live: LiveWatchers,
  others: () => readonly number[],
): (joined: number) => void {
  let isWatched = false;
  const tell = (worker: number): void => {
    link.notify(worker, 'watched', { isWatched });
  };
  live.onWatched = (is) => {
    isWatched = is;
    for (const worker of others()) tell(worker);
  };
  link.onNotification('news', (body) => {
    const told = news.parse(body);
    if ('runIds' in told) live.notifyStored(told.runIds);
    else live.emit(told.runId, told.item);
  });
  return tell;
}

/** At another worker. */
export function relayToFront(link: IpcChannel, live: LiveWatchers, clock: Clock): void {
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
    link.notify(FRONT, 'news', { runId, item });
  };
  link.onNotification('watched', (body) => {
    live.relay = watched.parse(body).isWatched
      ? { onStored: (runIds) => link.notify(FRONT, 'news', { runIds }), onLive }
      : undefined;
  });
}
