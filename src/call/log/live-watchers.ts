// Who watches which call of this process: told when something about it is stored, and of what is never
// stored, such as when the agent begins to speak. Without watchers nothing happens here.

import type { FeedbackItem } from './realtime-feedback.ts';

export interface Watcher {
  /** There is more in the run's log. */
  onStored(): void;
  /** Said once; whoever was not there has missed it. */
  onLive(runId: string, item: FeedbackItem): void;
}

/** What happens in a call and is not kept (contract §8.10). */
export type LiveType =
  | 'rtf-bot-started-speaking'
  | 'rtf-bot-stopped-speaking'
  | 'rtf-user-mute-started'
  | 'rtf-user-mute-stopped';

/** Hears of all calls, watched or not. */
export interface LiveRelay {
  onStored(runIds: string[]): void;
  onLive(runId: string, item: FeedbackItem): void;
}

export class LiveWatchers {
  relay: LiveRelay | undefined;
  /** Called when the first watcher comes and when the last has gone. */
  onWatched: (isWatched: boolean) => void = () => undefined;
  /** By run; whoever opens streams bounds how many there are. */
  readonly #watchers = new Map<string, Set<Watcher>>();

  /** Until the function that it gives is called. */
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
