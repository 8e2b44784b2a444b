// Numbers that were called at a PBX and are no number of its configuration, for people who look for the reason: what was
// dialled, how often, and the configured number that is most like it. In memory; bounded.

export interface UnconfiguredNumber {
  /** As the PBX sent it. */
  dialled: string;
  /** The configured address that is most like it; null if none is. */
  nearest: string | null;
}

export interface NotedNumber extends UnconfiguredNumber {
  calls: number;
  /** Milliseconds since 1970. */
  lastAt: number;
}

/** Different numbers; the one whose last call is oldest goes first. */
const NUMBERS_MAX = 20;
/** Of a dialled number that is shown: a SIP user part may be anything. */
const DIALLED_CHARACTERS_MAX = 40;
/** Equal digits at the end that make two numbers alike: a national number with another prefix. */
const SUFFIX_DIGITS_MIN = 4;
/** Digits that may differ for a mistyped number. */
const MISTYPED_MAX = 2;
/** Digits of a number for which that says anything. */
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

  /** Those called last first. */
  list(): NotedNumber[] {
    return [...this.#noted.values()].reverse();
  }
}

/** Without control characters, and short. */
export function shownNumber(dialled: string): string {
  return dialled.replace(/[^\x20-\x7e]/g, '?').slice(0, DIALLED_CHARACTERS_MAX);
}

/** The address whose digits end alike, or differ as in a typing error; null if there is none. */
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

/** Equally long, with a few other digits. */
function isMistyped(a: string, b: string): boolean {
  if (a.length !== b.length || a.length < MISTYPED_DIGITS_MIN) return false;
  let different = 0;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) different += 1;
  return different <= MISTYPED_MAX;
}
