// Reads that wait for their turn at the database: those of one name that are the same share one, which begins after each of
// them was asked for, so that nobody gets what was read before. The longer the wait, the fewer statements: a dashboard
// that many look at asks for the same pages again and again. Knows no database.

export class WaitingReads<Result> {
  /** Those that have not begun. */
  readonly #waiting = new Map<string, Promise<Result>>();

  /** The result of `read`, or of the one with that key which waits; what it gives is shared and must not be changed. `read`
   *  calls `onBegin`, later than at once, when it has its turn. */
  get(key: string, read: (onBegin: () => void) => Promise<Result>): Promise<Result> {
    const waiting = this.#waiting.get(key);
    if (waiting !== undefined) return waiting;
    const onBegin = (): void => {
      if (this.#waiting.get(key) === result) this.#waiting.delete(key);
    };
    const result: Promise<Result> = read(onBegin).finally(onBegin);
    this.#waiting.set(key, result);
    return result;
  }
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
