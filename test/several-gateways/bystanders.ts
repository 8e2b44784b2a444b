// Calls of gateways to which nothing happens, while something happens elsewhere: they must go on where they are.

import type { Findings } from './findings.ts';
import type { Ledger } from './ledger.ts';

export class Bystanders {
  readonly #ledger: Ledger;
  readonly #owners: ReadonlyMap<string, string>;

  private constructor(ledger: Ledger, owners: ReadonlyMap<string, string>) {
    this.#ledger = ledger;
    this.#owners = owners;
  }

  /** The calls that talk now, but for those of the gateway `lost`. */
  static async of(ledger: Ledger, lost?: string): Promise<Bystanders> {
    const runs = (await ledger.open()).filter(
      ({ owner, state }) => owner !== lost && state === 'running',
    );
    return new Bystanders(ledger, new Map(runs.map(({ id, owner }) => [id, owner])));
  }

  get count(): number {
    return this.#owners.size;
  }

  /** To be asked before anybody hangs up. */
  async check(findings: Findings): Promise<void> {
    const runs = await this.#ledger.of([...this.#owners.keys()]);
    const lost = runs.filter(({ state }) => state !== 'running');
    const moved = runs.filter(({ id, owner }) => owner !== this.#owners.get(id));
    findings.note('calls elsewhere', this.count);
    findings.exactly('calls lost elsewhere', lost.length, 0);
    findings.exactly('calls elsewhere with another owner', moved.length, 0);
  }
}
