// Watchers of calls. A watcher is notified when a call's events are stored, and gets live items that are never stored,
// such as the start of the agent's speech. Watchers here get what happens in any process; watchers elsewhere stand for
// the watchers of another gateway, and get only what happens in this one. Without watchers nothing happens here.

import type { FeedbackItem } from './realtime-feedback.ts';

export interface Watcher {
  /** Called when the run's log has new events. */
  onStored(): void;
  /** Called once with a live item, for the watchers of that moment. */
  onLive(runId: string, item: FeedbackItem): void;
}

/** Types of live items, which are not stored (contract §8.10). Transcriptions among them are interim words. */
export type LiveType =
  | 'rtf-user-transcription'
  | 'rtf-bot-started-speaking'
  | 'rtf-bot-stopped-speaking'
  | 'rtf-user-mute-started'
  | 'rtf-user-mute-stopped';

/** Whether the item has interim words: the next item or the final words replace them, so they are the first to be
 *  dropped. */
export function isInterim({ type }: FeedbackItem): boolean {
  return type === ('rtf-user-transcription' satisfies LiveType);
}

/** This gateway, or another one. */
export type Place = 'here' | 'elsewhere';

export class LiveWatchers {
  /** Called when a run gets its first watcher and when its last has gone. */
  onWatched: (runId: string, isWatched: boolean) => void = () => undefined;
  /** The same for the watchers here. */
  onWatchedHere: (runId: string, isWatched: boolean) => void = () => undefined;
  /** Watchers by run; the number of event streams bounds them. */
  readonly #watchers: Record<Place, Map<string, Set<Watcher>>> = {
    here: new Map(),
    elsewhere: new Map(),
  };

  /** Runs that have a watcher. */
  get runIds(): string[] {
    const { here, elsewhere } = this.#watchers;
    return [...new Set([...here.keys(), ...elsewhere.keys()])];
  }

  /** Runs that have a watcher here. */
  get runIdsHere(): string[] {
    return [...this.#watchers.here.keys()];
  }

  /** Watches a run until the returned function is called. */
  watch(runId: string, watcher: Watcher, place: Place = 'here'): () => void {
    const all = this.#watchers[place];
    const watchers = all.get(runId) ?? new Set();
    const isFirst = watchers.size === 0;
    all.set(runId, watchers.add(watcher));
    if (isFirst) this.#changed(runId, place, true);
    return () => {
      if (!watchers.delete(watcher) || watchers.size > 0) return;
      all.delete(runId);
      this.#changed(runId, place, false);
    };
  }

  isWatched(runId: string): boolean {
    return this.#watchers.here.has(runId) || this.#watchers.elsewhere.has(runId);
  }

  /** `origin`: where it happened. */
  notifyStored(runIds: Iterable<string>, origin: Place = 'here'): void {
    const { here, elsewhere } = this.#watchers;
    if (here.size === 0 && elsewhere.size === 0) return;
    for (const runId of new Set(runIds)) {
      for (const watcher of this.#watchersOf(runId, origin)) watcher.onStored();
    }
  }

  emit(runId: string, item: FeedbackItem, origin: Place = 'here'): void {
    for (const watcher of this.#watchersOf(runId, origin)) watcher.onLive(runId, item);
  }

  #watchersOf(runId: string, origin: Place): Watcher[] {
    const { here, elsewhere } = this.#watchers;
    const others = origin === 'here' ? elsewhere.get(runId) : undefined;
    return [...(here.get(runId) ?? []), ...(others ?? [])];
  }

  #changed(runId: string, place: Place, isWatched: boolean): void {
    if (place === 'here') this.onWatchedHere(runId, isWatched);
    const others = this.#watchers[place === 'here' ? 'elsewhere' : 'here'];
    if (!others.has(runId)) this.onWatched(runId, isWatched);
  }
}
