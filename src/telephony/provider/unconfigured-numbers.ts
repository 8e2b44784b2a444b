// Dialled numbers that a PBX's configuration does not have, for administrators who look for the reason: the number, its
// count, and the most similar configured number. In memory; bounded.

export interface UnconfiguredNumber {
  /** The dialled number as the PBX sent it. */
  dialled: string;
  /** The most similar configured address; null if none is similar. */
  nearest: string | null;
}

export interface NotedNumber extends UnconfiguredNumber {
  calls: number;
  /** Milliseconds since 1970. */
  lastAt: number;
}

/** Different numbers that are kept. Beyond, the one with the oldest last call is removed. */
const NUMBERS_MAX = 20;
/** Characters of a dialled number that are shown: a SIP user part may have any length. */
const DIALLED_CHARACTERS_MAX = 40;
/** Equal digits at the end that make two numbers similar: a national number with another prefix. */
const SUFFIX_DIGITS_MIN = 4;
/** Digits that may differ for a mistyped number. */
const MISTYPED_MAX = 2;
/** Fewest digits of a number that may count as mistyped. */
const MISTYPED_DIGITS_MIN = 7;

export class UnconfiguredNumbers {
  readonly #noted = new Map<string, NotedNumber>();

  note({ dialled, nearest }: UnconfiguredNumber, nowMs: number): void {
    const shown = shownNumber(dialled);
    const calls = (this.#noted.get(shown)?.calls ?? 0) + 1;
    this.#noted.delete(shown);
    const [oldest] = this.#noted.keys();
    if (this.#noted.size >= NUMBERS_MAX && oldest !== undefined) this.#noted.delete(oldest);
    this.#noted.set(shown, { dialled: shown, nearest, calls, lastAt: nowMs });
  }

  /** The dialled numbers, the last one first. */
  list(): NotedNumber[] {
    return [...this.#noted.values()].reverse();
  }
}

/** The number without control characters, shortened. */
export function shownNumber(dialled: string): string {
  return dialled.replace(/[^\x20-\x7e]/g, '?').slice(0, DIALLED_CHARACTERS_MAX);
}

/** The address whose last digits are equal, or that differs as in a typing error; null if there is none. */
export function nearestAddress(dialled: string, addresses: readonly string[]): string | null {
  const wanted = digitsOf(shownNumber(dialled));
  let best: { address: string; suffix: number } | undefined;
  for (const address of addresses) {
    const suffix = equalAtEnd(wanted, digitsOf(address));
    if (suffix >= SUFFIX_DIGITS_MIN && suffix > (best?.suffix ?? 0)) best = { address, suffix };
  }
  if (best !== undefined) return best.address;
  return addresses.find((address) => isMistyped(wanted, digitsOf(address))) ?? null;
}

function digitsOf(text: string): string {
  return text.replace(/\D/g, '');
}

function equalAtEnd(a: string, b: string): number {
  let equal = 0;
  while (equal < a.length && equal < b.length && a.at(-1 - equal) === b.at(-1 - equal)) equal += 1;
  return equal;
}

/** Whether both have equal length and differ in few digits. */
function isMistyped(a: string, b: string): boolean {
  if (a.length !== b.length || a.length < MISTYPED_DIGITS_MIN) return false;
  let different = 0;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) different += 1;
  return different <= MISTYPED_MAX;
}
