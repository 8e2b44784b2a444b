// What happens in calls of other workers, for those who watch it at the front. Workers tell of it only while
// somebody watches.

import { z } from 'zod';
import type { LiveWatchers } from '../call/log/live-watchers.ts';
import type { IpcChannel } from './ipc-channel.ts';
import { FRONT } from './ipc-message.ts';

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
export function relayToFront(link: IpcChannel, live: LiveWatchers): void {
  link.onNotification('watched', (body) => {
    live.relay = watched.parse(body).isWatched
      ? {
          onStored: (runIds) => link.notify(FRONT, 'news', { runIds }),
          onLive: (runId, item) => link.notify(FRONT, 'news', { runId, item }),
        }
      : undefined;
  });
}
