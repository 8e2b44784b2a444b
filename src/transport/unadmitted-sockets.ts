// Budget of unadmitted sockets, whose call is not named or proved yet, separate from that of calls. When it is full,
// the client with the most of them loses its oldest: a client that opens thousands evicts itself, and others still get
// in. Clients from which a PBX has authenticated before have a separate budget.

import { mediaFaults } from '../metrics/metrics.ts';
import { clientName } from '../std/client-address.ts';

export interface UnadmittedLimits {
  /** Sockets of all unknown clients. An unadmitted socket lives for seconds. */
  socketsMax: number;
  /** Sockets of one client. A provider's upgrade with the right token does not count. */
  socketsOfClientMax: number;
  /** Sockets of all known PBXs: the calls that may begin within the seconds that a socket waits. */
  socketsOfPbxsMax: number;
}

export const UNADMITTED_LIMITS: UnadmittedLimits = {
  socketsMax: 1_000,
  socketsOfClientMax: 64,
  socketsOfPbxsMax: 1_000,
};

export interface UnadmittedOptions {
  limits?: Partial<UnadmittedLimits>;
  /** Whether a PBX of a configuration is at that client. Default: none is known. */
  isPbx?: (client: string) => boolean;
}

type Evict = () => void;

export class UnadmittedSockets {
  readonly #isPbx: (client: string) => boolean;
  readonly #others: FairBudget;
  readonly #pbxs: FairBudget;

  constructor({ limits, isPbx = () => false }: UnadmittedOptions = {}) {
    const { socketsMax, socketsOfClientMax, socketsOfPbxsMax } = {
      ...UNADMITTED_LIMITS,
      ...limits,
    };
    this.#isPbx = isPbx;
    this.#others = new FairBudget(socketsMax, socketsOfClientMax);
    this.#pbxs = new FairBudget(socketsOfPbxsMax, socketsOfPbxsMax);
  }

  get size(): number {
    return this.#others.size + this.#pbxs.size;
  }

  /** Counts a socket from `address` until the returned function is called. `evict` ends the socket in favour of
   *  another; it is not called after that. */
  enter(address: string, evict: Evict): () => void {
    const client = clientName(address);
    const budget = this.#isPbx(client) ? this.#pbxs : this.#others;
    return budget.enter(client, evict);
  }
}

class FairBudget {
  readonly #max: number;
  readonly #holderMax: number;
  /** Sockets of each client, oldest first. */
  readonly #held = new Map<string, Set<Evict>>();
  #size = 0;

  constructor(max: number, holderMax: number) {
    this.#max = max;
    this.#holderMax = holderMax;
  }

  get size(): number {
    return this.#size;
  }

  enter(holder: string, evict: Evict): () => void {
    const own = this.#held.get(holder)?.size ?? 0;
    if (own >= this.#holderMax) this.#evictOldest(holder);
    else if (this.#size >= this.#max) this.#evictOldest(this.#largest());
    const place: Evict = () => evict();
    const places = this.#held.get(holder) ?? new Set<Evict>();
    this.#held.set(holder, places.add(place));
    this.#size += 1;
    return () => this.#leave(holder, place);
  }

  #evictOldest(holder: string): void {
    const [oldest] = this.#held.get(holder) ?? [];
    if (oldest === undefined) return;
    this.#leave(holder, oldest);
    mediaFaults.inc({ code: 'MEDIA_FLOOD' });
    oldest();
  }

  /** Client with the most sockets; of several, the first one. */
  #largest(): string {
    let largest = '';
    let most = 0;
    for (const [holder, { size }] of this.#held) {
      if (size <= most) continue;
      largest = holder;
      most = size;
    }
    return largest;
  }

  #leave(holder: string, place: Evict): void {
    const places = this.#held.get(holder);
    if (places?.delete(place) !== true) return;
    this.#size -= 1;
    if (places.size === 0) this.#held.delete(holder);
  }
}
