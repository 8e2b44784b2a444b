// Shares equal reads of one name while they wait for the database. The shared read begins after each of them was
// requested, so none gets stale data. The longer the wait, the fewer statements: clients of a dashboard request the
// same pages again and again.

import { type Clock, nextTick } from '../../std/clock.ts';

/** Readers of one shared read. The last one continues as many turns of the event loop after the first. */
const READERS_MAX = 32;
/** Age from which no reader joins a read: its deadline would be too early for a new reader. */
const JOINED_MS_MAX = 2_000;

interface Waiting<Result> {
  readers: number;
  sinceMs: number;
  /** Promise of the reader that joined last. */
  last: Promise<Result>;
}

export class WaitingReads<Result> {
  readonly #clock: Clock;
  /** Reads that have not begun, by key. */
  readonly #waiting = new Map<string, Waiting<Result>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The result of `read`, or of the waiting one with that key. The result is shared and must not be changed; each
   *  reader has an error of its own. `read` calls `onBegin` when it has its turn, asynchronously. Readers continue one
   *  by one, each in its own turn of the event loop: building a page takes milliseconds, for which others would
   *  wait. */
  get(key: string, read: (onBegin: () => void) => Promise<Result>): Promise<Result> {
    const nowMs = this.#clock.monotonicMs();
    const waiting = this.#waiting.get(key);
    if (
      waiting !== undefined &&
      waiting.readers < READERS_MAX &&
      nowMs - waiting.sinceMs < JOINED_MS_MAX
    ) {
      waiting.readers += 1;
      waiting.last = oneTurnAfter(waiting.last);
      return waiting.last;
    }
    const onBegin = (): void => {
      if (this.#waiting.get(key) === own) this.#waiting.delete(key);
    };
    const result: Promise<Result> = read(onBegin).finally(onBegin);
    const own: Waiting<Result> = { readers: 1, sinceMs: nowMs, last: result };
    this.#waiting.set(key, own);
    return result;
  }
}

async function oneTurnAfter<Result>(result: Promise<Result>): Promise<Result> {
  try {
    return await result;
  } catch (error) {
    // The sender of a statement adds to the stack of its error.
    throw error instanceof Error ? copyOf(error) : error;
  } finally {
    await nextTick();
  }
}

function copyOf(error: Error): Error {
  return Object.create(Object.getPrototypeOf(error), Object.getOwnPropertyDescriptors(error));
}

const READ = /^\s*select\b/i;

/** Key of a read. Undefined for another statement, or for values that JSON does not distinguish. Functions in a read
 *  must not have side effects. */
export function readKey(
  name: string,
  text: string,
  values: readonly unknown[],
): string | undefined {
  if (!READ.test(text) || !values.every(isPlain)) return undefined;
  return `${name}\n${text}\n${JSON.stringify(values)}`;
}

function isPlain(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isPlain);
  if (typeof value === 'number') return Number.isFinite(value);
  return value == null || typeof value === 'string' || typeof value === 'boolean';
}
