// Clients from which each account (a PBX's) has logged in: an attacker elsewhere cannot lock out the owner there. In
// memory, per process, like the failures; a restart clears both.

export class KnownClients {
  readonly #pairsMax: number;
  readonly #pairs = new Set<string>();

  /** `pairsMax`: stored pairs of an account and a client. The least recently used is removed first. */
  constructor({ pairsMax }: { pairsMax: number }) {
    this.#pairsMax = pairsMax;
  }

  /** Records that the account has logged in from this client. */
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

/** Key of a pair. No client's name contains a space. */
function pairOf(account: string, client: string): string {
  return `${client} ${account}`;
}
