// From which clients each account, a user's or a PBX's, has logged in: an attacker elsewhere cannot lock out its owner there.
// In memory, per process, as the failures are; a restart empties both.

export class KnownClients {
  readonly #pairsMax: number;
  readonly #pairs = new Set<string>();

  /** `pairsMax`: pairs of an account and a client that are kept, the least recently used removed first. */
  constructor({ pairsMax }: { pairsMax: number }) {
    this.#pairsMax = pairsMax;
  }

  /** The account has logged in from there. */
  note(account: string, client: string): void {
    const pair = pairOf(account, client);
    this.#pairs.delete(pair);
    this.#pairs.add(pair);
    const [oldest] = this.#pairs;
    if (this.#pairs.size > this.#pairsMax && oldest !== undefined) this.#pairs.delete(oldest);
  }

  has(account: string, client: string): boolean {
    return this.#pairs.has(pairOf(account, client));
  }
}

/** No client's name has a space. */
function pairOf(account: string, client: string): string {
  return `${client} ${account}`;
}
