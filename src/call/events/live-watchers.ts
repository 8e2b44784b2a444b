// Watchers of this process's calls. A watcher is notified when a call's events are stored, and gets live items that
// are never stored, such as the start of the agent's speech. Without watchers nothing happens here.

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

export class LiveWatchers {
  /** Called when a run gets its first watcher and when its last has gone. */
  onWatched: (runId: string, isWatched: boolean) => void = () => undefined;
  /** Watchers by run; the number of event streams bounds it. */
  readonly #watchers = new Map<string, Set<Watcher>>();

  /** Runs that have a watcher. */
  get runIds(): string[] {
    return [...this.#watchers.keys()];
  }

  /** Watches a run until the returned function is called. */
  watch(runId: string, watcher: Watcher): () => void {
    const watchers = this.#watchers.get(runId) ?? new Set();
    const isFirst = watchers.size === 0;
    this.#watchers.set(runId, watchers.add(watcher));
    if (isFirst) this.onWatched(runId, true);
    return () => {
      if (!watchers.delete(watcher) || watchers.size > 0) return;
      this.#watchers.delete(runId);
      this.onWatched(runId, false);
    };
  }

  isWatched(runId: string): boolean {
    return this.#watchers.has(runId);
  }

  notifyStored(runIds: Iterable<string>): void {
    if (this.#watchers.size === 0) return;
    for (const runId of new Set(runIds)) {
      for (const watcher of this.#watchers.get(runId) ?? []) watcher.onStored();
    }
  }

  emit(runId: string, item: FeedbackItem): void {
    for (const watcher of this.#watchers.get(runId) ?? []) watcher.onLive(runId, item);
  }
}
