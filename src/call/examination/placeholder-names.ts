// The placeholders of one capture: the same value has the same one wherever it stands. A placeholder keeps the form of
// its value, so that a provider's parser takes it: numbers have digits, host names are host names.

/** Different values of one kind; a capture has a few dozen. Further ones share the last placeholder. */
const VALUES_MAX = 500;

/** Numbers, hosts and ids that no configuration names. */
type Kind = 'number' | 'host' | 'id' | 'mailbox' | 'address';

export class PlaceholderNames {
  readonly #known = new Map<Kind, Map<string, number>>();

  /** Telephone numbers as digits alone: 1 555 01 and five more, as many as no real number has. */
  number(digits: string): string {
    return `15550${String(this.#index('number', digits)).padStart(6, '0')}`;
  }

  host(name: string): string {
    return `host-${this.#index('host', name.toLowerCase())}.invalid`;
  }

  id(value: string): string {
    return `id-${this.#index('id', value)}`;
  }

  mailbox(value: string): string {
    return `mailbox-${this.#index('mailbox', value.toLowerCase())}@redacted.invalid`;
  }

  /** Of the network for documentation (RFC 5737). */
  address(value: string): string {
    return `192.0.2.${this.#index('address', value) % 255}`;
  }

  #index(kind: Kind, value: string): number {
    const known = this.#known.get(kind) ?? new Map<string, number>();
    this.#known.set(kind, known);
    const index = known.get(value) ?? Math.min(known.size + 1, VALUES_MAX);
    if (known.size < VALUES_MAX) known.set(value, index);
    return index;
  }
}
