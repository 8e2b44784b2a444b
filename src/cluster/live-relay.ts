// What happens in calls of other workers, for those who watch it at the front. Workers tell of it only while
// somebody watches.

import { z } from 'zod';
import type { LiveCalls } from '../call/log/live-watchers.ts';
import type { Link } from './ipc-channel.ts';
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
export function hearOthers(
  link: Link,
  live: LiveCalls,
  others: () => readonly number[],
): (joined: number) => void {
  let isWatched = false;
  const tell = (worker: number): void => {
    link.note(worker, 'watched', { isWatched });
  };
  live.onWatched = (is) => {
    isWatched = is;
    for (const worker of others()) tell(worker);
  };
  link.onNote('news', (body) => {
    const told = news.parse(body);
    if ('runIds' in told) live.stored(told.runIds);
    else live.tell(told.runId, told.item);
  });
  return tell;
}

/** At another worker. */
export function tellNews(link: Link, live: LiveCalls): void {
  link.onNote('watched', (body) => {
    live.relay = watched.parse(body).isWatched
      ? {
          onStored: (runIds) => link.note(FRONT, 'news', { runIds }),
          onLive: (runId, item) => link.note(FRONT, 'news', { runId, item }),
        }
      : undefined;
  });
}
