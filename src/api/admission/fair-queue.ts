// A bounded number of pieces of work at once, shared fairly between names (fair queueing): a place that becomes free
// goes to the name with the fewest under way, in turn. The waiting line is bounded, in all and of each name, and has a
// deadline. A name whose piece has ended may have to rest before the next (heavy-rests.ts). Knows no request.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { Clock, Timer } from '../../std/clock.ts';

export interface QueueLimits {
  /** Under way at once. */
  max: number;
  /** Of one name. */
  ofNameMax: number;
  waitingMax: number;
  waitingOfNameMax: number;
  waitMsMax: number;
}

/** Of names that rest between pieces of work. */
export interface Rests {
  isResting(name: string): boolean;
  noteWork(name: string, workMs: number): void;
  onOver(serve: () => void): void;
}

interface Waiting {
  name: string;
  admit(): void;
  refuse(error: Error): void;
}

/** What a refused client waits before it comes again. */
const RETRY_AFTER_S = 2;
/** A place is taken back for others then: handlers have deadlines, and a fault in one must not lock a name out. */
const PLACE_MS_MAX = 150_000;

export class FairQueue {
  readonly #limits: QueueLimits;
  readonly #clock: Clock;
  readonly #underWay = new Map<string, number>();
  /** By name, the one that was served last at the end. No name without a piece. */
  readonly #lines = new Map<string, Waiting[]>();
  /** The oldest first. */
  readonly #begun = new Set<{ sinceMs: number; end: () => void }>();
  readonly #rests: Rests | undefined;
  #waiting = 0;

  /** Default: nobody rests. */
  constructor(clock: Clock, limits: QueueLimits, rests?: Rests) {
    this.#clock = clock;
    this.#limits = limits;
    this.#rests = rests;
    rests?.onOver(() => this.#serve());
  }

  get size(): number {
    return this.#begun.size;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Resolves with what ends the piece, which may be called again without effect. Rejects with TOO_MANY_REQUESTS if
   *  the name has too many waiting, with API_BUSY after the deadline or to make room for others, and with the
   *  signal's reason. */
  async enter(name: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    this.#takeBack();
    if (this.#mayBegin(name)) return this.#begin(name);
    return this.#wait(name, signal);
  }

  /** Whether the name has as many pieces under way and waiting as it may. */
  isFullFor(name: string): boolean {
    const own = this.#lines.get(name)?.length ?? 0;
    return own >= this.#limits.waitingOfNameMax && !this.#mayBegin(name);
  }

  #mayBegin(name: string): boolean {
    const { max, ofNameMax } = this.#limits;
    return this.size < max && this.#of(name) < ofNameMax && !this.#isResting(name);
  }

  #of(name: string): number {
    return this.#underWay.get(name) ?? 0;
  }

  #begin(name: string): () => void {
    this.#underWay.set(name, this.#of(name) + 1);
    const piece = {
      sinceMs: this.#clock.monotonicMs(),
      end: (): void => {
        if (!this.#begun.delete(piece)) return;
        this.#rests?.noteWork(name, this.#clock.monotonicMs() - piece.sinceMs);
        this.#end(name);
      },
    };
    this.#begun.add(piece);
    return piece.end;
  }

  #end(name: string): void {
    const left = this.#of(name) - 1;
    if (left === 0) this.#underWay.delete(name);
    else this.#underWay.set(name, left);
    this.#serve();
  }

  #isResting(name: string): boolean {
    return this.#rests?.isResting(name) === true;
  }

  #takeBack(): void {
    const beforeMs = this.#clock.monotonicMs() - PLACE_MS_MAX;
    for (const { sinceMs, end } of this.#begun) {
      if (sinceMs > beforeMs) return;
      end();
    }
  }

  #wait(name: string, signal: AbortSignal): Promise<() => void> {
    this.#makeRoom(name);
    return new Promise((resolve, reject) => {
      const settle = (run: () => void): void => {
        timer.cancel();
        signal.removeEventListener('abort', onAbort);
        this.#remove(piece);
        run();
      };
      const piece: Waiting = {
        name,
        admit: () => settle(() => resolve(this.#begin(name))),
        refuse: (error) => settle(() => reject(error)),
      };
      const onAbort = (): void => piece.refuse(signal.reason);
      const timer: Timer = this.#clock.after(this.#limits.waitMsMax, () =>
        piece.refuse(new GatewayError('API_BUSY')),
      );
      signal.addEventListener('abort', onAbort, { once: true });
      const line = this.#lines.get(name);
      if (line === undefined) this.#lines.set(name, [piece]);
      else line.push(piece);
      this.#waiting += 1;
    });
  }

  /** The longest line loses its newest piece when all lines together are full. */
  #makeRoom(name: string): void {
    const { waitingMax, waitingOfNameMax } = this.#limits;
    const own = this.#lines.get(name)?.length ?? 0;
    if (own >= waitingOfNameMax) throw tooMany();
    if (this.#waiting < waitingMax) return;
    const [longest] = [...this.#lines.values()].sort((a, b) => b.length - a.length);
    if (longest === undefined || longest.length <= own + 1) throw tooMany();
    longest.at(-1)?.refuse(new GatewayError('API_BUSY'));
  }

  #remove(piece: Waiting): void {
    const line = this.#lines.get(piece.name) ?? [];
    line.splice(line.indexOf(piece), 1);
    this.#waiting -= 1;
    if (line.length === 0) this.#lines.delete(piece.name);
  }

  #serve(): void {
    while (this.size < this.#limits.max) {
      const name = this.#nextName();
      if (name === undefined) return;
      const line = this.#lines.get(name) ?? [];
      this.#lines.delete(name);
      this.#lines.set(name, line);
      line[0]?.admit();
    }
  }

  /** Undefined if no waiting request may begin. */
  #nextName(): string | undefined {
    let next: string | undefined;
    for (const name of this.#lines.keys()) {
      if (this.#of(name) >= this.#limits.ofNameMax || this.#isResting(name)) continue;
      if (next === undefined || this.#of(name) < this.#of(next)) next = name;
    }
    return next;
  }
}

export function tooMany(): GatewayError {
  return new GatewayError('TOO_MANY_REQUESTS', { retryAfterS: RETRY_AFTER_S });
}
