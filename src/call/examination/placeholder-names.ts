// Placeholders of one capture: the same value always has the same one. A placeholder keeps the form of its value, so
// that a provider's parser accepts it: numbers have digits, host names are host names.

/** Different values of one kind; a capture has a few dozen. Further ones share the last placeholder. */
const VALUES_MAX = 500;

/** Numbers, hosts and ids that no configuration names. */
type Kind = 'number' | 'host' | 'id' | 'mailbox' | 'address';

export class PlaceholderNames {
  readonly #known = new Map<Kind, Map<string, number>>();

  /** Placeholder of a telephone number, digits only: 1 555 0 and six more, which no real number has. */
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

  /** Placeholder of an IP address, from the range for documentation (RFC 5737). */
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
