// Reads that wait for their turn at the database: those of one name that are the same share one, which begins after each of
// them was asked for, so that nobody gets what was read before. The longer the wait, the fewer statements: a dashboard
// that many look at asks for the same pages again and again. Knows no database.

import { type Clock, nextTick } from '../../std/clock.ts';

/** Of one read. The last one goes on so many turns of the event loop after the first. */
const READERS_MAX = 32;
/** After that a read is joined by nobody: it ends by its deadline, which would be too early for them. */
const JOINED_MS_MAX = 2_000;

interface Waiting<Result> {
  readers: number;
  sinceMs: number;
  /** Of whoever joined last. */
  last: Promise<Result>;
}

export class WaitingReads<Result> {
  readonly #clock: Clock;
  /** Those that have not begun. */
  readonly #waiting = new Map<string, Waiting<Result>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The result of `read`, or of the one with that key which waits; what it gives is shared and must not be changed, and
   *  each has an error of its own. `read` calls `onBegin` when it has its turn, later than at once. Those who joined go on one
   *  by one, each in a turn of the event loop of its own: a page takes milliseconds to be made, in which others would wait. */
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
    // Who sends a statement adds to the stack of its error.
    throw error instanceof Error ? copyOf(error) : error;
  } finally {
    await nextTick();
  }
}

function copyOf(error: Error): Error {
  return Object.create(Object.getPrototypeOf(error), Object.getOwnPropertyDescriptors(error));
}

const READ = /^\s*select\b/i;

/** Undefined for a statement that is no read, or has values that JSON would not tell apart. Functions in a read must change
 *  nothing that its reader needs for itself. */
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
