// Fair queueing: a bounded number of concurrent pieces of work, shared between names. A free place goes in turn to the
// name with the fewest pieces in progress. Waiting is bounded in total and for each name, and has a deadline. A name
// whose piece has ended may have to rest before the next one (HeavyRests). Knows nothing of requests.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { Clock, Timer } from '../../std/clock.ts';

/** Seconds after which a refused client may try again. */
const RETRY_AFTER_S = 2;
/** Longest time of one piece; then its place is freed. Handlers have deadlines; a fault in one must not lock a name
 *  out. */
const PLACE_MS_MAX = 150_000;
/** Rest as a multiple of the time of a piece, which includes its waits for the processor. */
const RESTS_OF_WORK = 3;
/** Longest rest: a large report is read slowly by its client, and uses the event loop for only part of its time. */
const REST_MS_MAX = 2_000;
/** Time for which a name counts as active: a dashboard requests every few seconds, calls come more often. */
const ACTIVE_MS = 2_000;
/** Resting names; beyond, the oldest rest is cancelled. Each name has ended a piece within its rest. */
const RESTING_MAX = 1_000;
/** Active names that are kept. Two would be enough to see whether another name is active; further ones expire
 *  sooner. */
const ACTIVE_MAX = 16;

export interface QueueLimits {
  /** Pieces in progress at most. */
  max: number;
  /** Pieces of one name in progress at most. */
  ofNameMax: number;
  waitingMax: number;
  waitingOfNameMax: number;
  waitMsMax: number;
}

/** Names that have to rest between pieces of work. */
interface Rests {
  isResting(name: string): boolean;
  noteWork(name: string, workMs: number): void;
  onOver(serve: () => void): void;
}

interface Waiting {
  name: string;
  admit(): void;
  refuse(error: Error): void;
}

export class FairQueue {
  readonly #limits: QueueLimits;
  readonly #clock: Clock;
  readonly #underWay = new Map<string, number>();
  /** Waiting pieces by name, the name served last at the end. Names without a waiting piece are removed. */
  readonly #lines = new Map<string, Waiting[]>();
  /** Pieces in progress, the oldest first. */
  readonly #begun = new Set<{ sinceMs: number; end: () => void }>();
  readonly #rests: Rests | undefined;
  #waiting = 0;

  /** `rests`: names that have to rest. Default: none. */
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

  /** Waits for a place. Resolves with a function that ends the piece, which may be called repeatedly. Rejects with
   *  TOO_MANY_REQUESTS if the name has too many waiting pieces, with API_BUSY after the deadline or in favour of
   *  other names, and with the signal's reason. */
  async enter(name: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    this.#takeBack();
    if (this.#mayBegin(name)) return this.#begin(name);
    return this.#wait(name, signal);
  }

  /** Whether the name has as many pieces in progress and waiting as it may have. */
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

  /** Makes place in a full queue: the name with the most waiting pieces loses its newest one. */
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

  /** The name to serve next; undefined if no waiting piece may begin. */
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

/** Rests between pieces of heavy work: while the event loop is busy and other names use it, a name gets a quarter of it
 *  for heavy work, however much it has waiting. On an idle machine, or with one organization alone, no name rests.
 *  route-admissions.ts lists the heavy routes. */
export class HeavyRests {
  readonly #clock: Clock;
  readonly #isLoopBusy: () => boolean;
  /** Time of the last request by name, the latest at the end. */
  readonly #active = new Map<string, number>();
  readonly #resting = new Map<string, { untilMs: number; timer: Timer }>();
  readonly #onOver: (() => void)[] = [];

  constructor(clock: Clock, isLoopBusy: () => boolean) {
    this.#clock = clock;
    this.#isLoopBusy = isLoopBusy;
  }

  /** Notes a request of the name. */
  note(name: string): void {
    this.#active.delete(name);
    this.#active.set(name, this.#clock.monotonicMs());
    const [oldest] = this.#active.keys();
    if (this.#active.size > ACTIVE_MAX && oldest !== undefined) this.#active.delete(oldest);
  }

  /** Whether the name rests, in every queue of heavy work. */
  isResting(name: string): boolean {
    return this.#resting.has(name);
  }

  /** Sets a function that is called at the end of each rest. */
  onOver(serve: () => void): void {
    this.#onOver.push(serve);
  }

  /** Notes the end of a piece that took `workMs`. */
  noteWork(name: string, workMs: number): void {
    if (workMs <= 0 || !this.#hasOthers(name) || !this.#isLoopBusy()) return;
    const now = this.#clock.monotonicMs();
    const restMs = Math.min(workMs * RESTS_OF_WORK, REST_MS_MAX);
    const untilMs = Math.max(this.#resting.get(name)?.untilMs ?? 0, now + restMs);
    this.#endRest(name);
    const timer = this.#clock.after(untilMs - now, () => {
      this.#endRest(name);
      for (const serve of this.#onOver) serve();
    });
    this.#resting.set(name, { untilMs, timer });
    const [oldest] = this.#resting.keys();
    if (this.#resting.size > RESTING_MAX && oldest !== undefined) this.#endRest(oldest);
  }

  #endRest(name: string): void {
    this.#resting.get(name)?.timer.cancel();
    this.#resting.delete(name);
  }

  #hasOthers(name: string): boolean {
    const sinceMs = this.#clock.monotonicMs() - ACTIVE_MS;
    return [...this.#active].some(([each, lastMs]) => each !== name && lastMs >= sinceMs);
  }
}
