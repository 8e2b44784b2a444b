// From which clients each account has logged in: an attacker elsewhere cannot lock out its owner there. In memory, per
// process, as the failures are; a restart empties both.

/** Pairs of an account and a client that are kept, the least recently used removed first. */
const PAIRS_MAX = 10_000;

export class KnownClients {
  readonly #pairs = new Set<string>();

  /** The account has logged in from there. */
  note(account: string, client: string): void {
    const pair = pairOf(account, client);
    this.#pairs.delete(pair);
    this.#pairs.add(pair);
    const [oldest] = this.#pairs;
    if (this.#pairs.size > PAIRS_MAX && oldest !== undefined) this.#pairs.delete(oldest);
  }

  has(account: string, client: string): boolean {
    return this.#pairs.has(pairOf(account, client));
  }
}

/** No client's name has a space. */
function pairOf(account: string, client: string): string {
  return `${client} ${account}`;
}
