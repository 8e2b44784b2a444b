// Watchers of this process's calls. A watcher is notified when a call's events are stored, and gets live items that
// are never stored, such as the start of the agent's speech. Without watchers nothing happens here.

import type { FeedbackItem } from './realtime-feedback.ts';

export interface Watcher {
  /** There is more in the run's log. */
  onStored(): void;
  /** Sent once, to the watchers of that moment. */
  onLive(runId: string, item: FeedbackItem): void;
}

/** Live items that are not stored (contract §8.10). Of transcriptions these are interim words. */
export type LiveType =
  | 'rtf-user-transcription'
  | 'rtf-bot-started-speaking'
  | 'rtf-bot-stopped-speaking'
  | 'rtf-user-mute-started'
  | 'rtf-user-mute-stopped';

/** Interim words: the next item, or the final words, replace them, so they are the first to be dropped. */
export function isInterim({ type }: FeedbackItem): boolean {
  return type === ('rtf-user-transcription' satisfies LiveType);
}

/** Gets the items of all calls, watched or not. */
export interface LiveRelay {
  onStored(runIds: string[]): void;
  onLive(runId: string, item: FeedbackItem): void;
}

export class LiveWatchers {
  relay: LiveRelay | undefined;
  /** Called when the first watcher arrives and when the last has left. */
  onWatched: (isWatched: boolean) => void = () => undefined;
  /** By run; the number of event streams bounds it. */
  readonly #watchers = new Map<string, Set<Watcher>>();

  /** Until the returned function is called. */
  watch(runId: string, watcher: Watcher): () => void {
    const watchers = this.#watchers.get(runId) ?? new Set();
    if (this.#watchers.size === 0) this.onWatched(true);
    this.#watchers.set(runId, watchers.add(watcher));
    return () => {
      watchers.delete(watcher);
      if (watchers.size > 0 || !this.#watchers.delete(runId)) return;
      if (this.#watchers.size === 0) this.onWatched(false);
    };
  }

  isWatched(runId: string): boolean {
    return this.relay !== undefined || this.#watchers.has(runId);
  }

  notifyStored(runIds: Iterable<string>): void {
    if (this.#watchers.size === 0 && this.relay === undefined) return;
    const runs = new Set(runIds);
    this.relay?.onStored([...runs]);
    for (const runId of runs) {
      for (const watcher of this.#watchers.get(runId) ?? []) watcher.onStored();
    }
  }

  emit(runId: string, item: FeedbackItem): void {
    this.relay?.onLive(runId, item);
    for (const watcher of this.#watchers.get(runId) ?? []) watcher.onLive(runId, item);
  }
}
