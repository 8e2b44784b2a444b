// The budget of sockets that have not been admitted: their call is not named or proved yet. It is apart
// from that of calls. When it is full, the client with the most of them loses its oldest, so that one who opens thousands
// evicts itself, and a newcomer gets in. Clients from which a PBX has proved itself before have a budget of their own.

import { mediaFaults } from '../metrics/metrics.ts';
import { clientName } from '../std/client-address.ts';

export interface UnadmittedLimits {
  /** Of all clients that are not known. A socket that has not been admitted lives for seconds. */
  socketsMax: number;
  /** Of one client. A provider's upgrade with the right token does not count. */
  socketsOfClientMax: number;
  /** Of all known PBXs: as many calls as may begin within the seconds that a socket waits. */
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

  /** Counts a socket from `address` until the function that it returns is called. `evict` ends the socket: room is
   *  needed for another. It is not called after that. */
  enter(address: string, evict: Evict): () => void {
    const client = clientName(address);
    const budget = this.#isPbx(client) ? this.#pbxs : this.#others;
    return budget.enter(client, evict);
  }
}

class FairBudget {
  readonly #max: number;
  readonly #holderMax: number;
  /** Oldest first. */
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

  /** Of several, the one that came first. */
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
