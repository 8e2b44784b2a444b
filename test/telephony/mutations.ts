// Messages made from real ones by small changes, for fuzzing: cheap enough for a hundred thousand, and the same ones in
// every run.

const TOKENS = [
  ...['"', '{', '}', '[]', ',', ':', 'null', 'true', '-1', '1e9', '0', '00', '\\u0000', '\\', '='],
  ...['&', '%', '%00', '+', ' ', '\n', 'é', '\u2028', '__proto__', 'A'.repeat(300), '9'.repeat(20)],
];
const VALUES: readonly unknown[] = [
  ...[null, true, 0, -1, 1.5, 1e300, '', '0', ' ', '\u0000', 'é', 'x'.repeat(300), '9'.repeat(20)],
  ...[[], {}, [null], { a: 1 }, '__proto__'],
];

/** Marsaglia's xorshift, 32 bits. */
export class Sequence {
  #state = 0x9e3779b9;

  /** Below `limit`. */
  next(limit: number): number {
    let state = this.#state;
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    this.#state = state >>> 0;
    return this.#state % limit;
  }

  of<T>(items: readonly T[]): T {
    return items[this.next(items.length)] as T;
  }
}

/** A change of one of the messages; one in eight is as it was. */
export function mutated(messages: readonly string[], sequence: Sequence): string {
  const message = sequence.of(messages);
  const kind = sequence.next(8);
  if (kind === 0) return message;
  if (kind < 4 && message.startsWith('{')) return withOtherValue(message, sequence);
  const at = sequence.next(message.length + 1);
  const end = at + sequence.next(6);
  if (kind === 4) return message.slice(0, at) + message.slice(end);
  if (kind === 5) return message.slice(0, at) + sequence.of(messages).slice(at);
  const put = kind === 6 ? String.fromCharCode(sequence.next(128)) : sequence.of(TOKENS);
  return message.slice(0, at) + put + message.slice(sequence.next(2) === 0 ? at : end);
}

/** JSON of which one value, at any depth, is another one, or is not there. */
function withOtherValue(message: string, sequence: Sequence): string {
  const whole: unknown = JSON.parse(message);
  let parent = whole;
  for (;;) {
    if (typeof parent !== 'object' || parent === null) return message;
    const key = sequence.of(Object.keys(parent));
    if (key === undefined) return message;
    const fields = parent as Record<string, unknown>; // An array's indices are keys too.
    const child = fields[key];
    const isDeep = typeof child === 'object' && child !== null && Object.keys(child).length > 0;
    if (isDeep && sequence.next(4) > 0) {
      parent = child;
      continue;
    }
    if (sequence.next(6) === 0) delete fields[key];
    else fields[key] = sequence.of(VALUES);
    return JSON.stringify(whole);
  }
}
