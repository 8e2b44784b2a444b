// Addresses of PBXs that have proved themselves: by a login, or by the id of a media channel that nobody else knows.
// Their sockets are still accepted when unknown clients open many. In memory: a PBX proves itself again after a start.

import { clientName } from '../../../std/client-address.ts';

/** Addresses that are kept, as many as a node has connections. Beyond, the least recently seen one is removed. */
const CLIENTS_MAX = 1_000;

export class KnownPbxAddresses {
  readonly #names = new Set<string>();

  /** Notes an address; undefined or empty is ignored. */
  note(address: string | undefined): void {
    if (address === undefined || address === '') return;
    const name = clientName(address);
    this.#names.delete(name);
    this.#names.add(name);
    const [oldest] = this.#names;
    if (this.#names.size > CLIENTS_MAX && oldest !== undefined) this.#names.delete(oldest);
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }
}
