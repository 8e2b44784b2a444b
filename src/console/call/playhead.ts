// The moment of a call at which its page stands. It moves sixty times a second while the recording plays, so it is a
// store of its own: the waveform reads it for each frame, other parts only when what they show changes.

import { useSyncExternalStore } from 'react';

export class Playhead {
  /** Media time in milliseconds; undefined: the end of what is known, which a live call moves. */
  #atMs: number | undefined;
  readonly #listeners = new Set<() => void>();

  get atMs(): number | undefined {
    return this.#atMs;
  }

  set(atMs: number | undefined): void {
    if (this.#atMs === atMs) return;
    this.#atMs = atMs;
    for (const listener of this.#listeners) listener();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
}

/** A value of the moment; the component is rendered when the value changes, which must be a primitive. */
export function useAtPlayhead<Value>(
  playhead: Playhead,
  read: (atMs: number | undefined) => Value,
): Value {
  return useSyncExternalStore(playhead.subscribe, () => read(playhead.atMs));
}

/** The moment in an address: `#t=12.4`, in milliseconds. */
export function momentIn(hash: string): number | undefined {
  const [, seconds] = /^#t=(\d{1,6}(?:\.\d{1,3})?)$/.exec(hash) ?? [];
  return seconds === undefined ? undefined : Math.round(Number(seconds) * 1_000);
}

/** Address of this page at a moment. */
export function addressAt(atMs: number | undefined): string {
  const { origin, pathname } = location;
  return `${origin}${pathname}${atMs === undefined ? '' : `#t=${(atMs / 1_000).toFixed(1)}`}`;
}
