// Order of statements for the database (start-time fair queueing): a bounded number runs at once, and names share the
// time that their statements take. The next turn goes to the name that has used least, so a name with few statements
// waits only for running ones. Source: Goyal, Vin, Cheng, "Start-time fair queueing", SIGCOMM 1996.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { Clock } from '../../std/clock.ts';

export interface TurnLimits {
  /** Turns at once, of which one name takes at most all but one. */
  max: number;
  /** Waiting statements of all names; those with a name have half of it together. */
  waitingMax: number;
  /** Waiting statements of each name; the gateway's own work has only the limit `waitingMax`. */
  waitingOfNameMax: number;
  waitMsMax: number;
  /** Whether the database serves one statement at a time, in order: a turn has then taken the time since the one before
   *  it ended. */
  isSerial: boolean;
}

/** Undefined: the gateway's own work. */
type Name = string | undefined;

interface Line {
  name: Name;
  /** Waiting statements in the order of arrival. */
  waiting: Waiting[];
  underWay: number;
  /** Milliseconds by weight, on the scale of `#served`. */
  used: number;
  weight: number;
}

interface Waiting {
  admit(): void;
}

/** Milliseconds for which a turn counts until it ends, so that turns of a name that begin together are not free. */
const EXPECTED_MS = 5;
/** Weight of the gateway's own work: its share is this many times that of a name, as it includes calls. */
const OWN_WEIGHT = 4;
/** Idle names that have used more than others and are remembered. Beyond, they are forgotten. */
const IDLE_NAMES_MAX = 1_000;

export class StatementTurns {
  readonly #clock: Clock;
  readonly #limits: TurnLimits;
  readonly #lines = new Map<Name, Line>();
  #underWay = 0;
  #waiting = 0;
  /** Time that the last served name had used, from which an idle name begins, without credit. */
  #served = 0;
  #lastEndMs = 0;

  constructor(clock: Clock, limits: TurnLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Resolves with the function that ends the turn, which may be called repeatedly. Rejects with STORE_UNAVAILABLE
   *  after the deadline, and if too many wait. */
  async take(name: Name): Promise<() => void> {
    const line = this.#lineOf(name);
    if (line.waiting.length === 0 && this.#hasPlaceFor(line)) return this.#begin(line);
    if (this.#isFull(line)) {
      this.#forget(line);
      throw unavailable('too many statements wait');
    }
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        timer.cancel();
        line.waiting.splice(line.waiting.indexOf(piece), 1);
        this.#waiting -= 1;
      };
      const piece: Waiting = {
        admit: () => {
          leave();
          resolve(this.#begin(line));
        },
      };
      const timer = this.#clock.after(this.#limits.waitMsMax, () => {
        leave();
        this.#forget(line);
        reject(unavailable('no connection became free in time'));
      });
      line.waiting.push(piece);
      this.#waiting += 1;
    });
  }

  #lineOf(name: Name): Line {
    let line = this.#lines.get(name);
    if (line === undefined) {
      const weight = name === undefined ? OWN_WEIGHT : 1;
      line = { name, waiting: [], underWay: 0, used: this.#served, weight };
      this.#lines.set(name, line);
    } else if (isIdle(line)) line.used = Math.max(line.used, this.#served);
    return line;
  }

  #isFull({ name, waiting }: Line): boolean {
    const { waitingMax, waitingOfNameMax } = this.#limits;
    if (name === undefined) return this.#waiting >= waitingMax;
    return this.#waiting >= waitingMax / 2 || waiting.length >= waitingOfNameMax;
  }

  /** Whether the name may take a turn now. Each name leaves one turn for others, the gateway's own work does not. */
  #hasPlaceFor({ name, underWay }: Line): boolean {
    const { max } = this.#limits;
    if (this.#underWay >= max) return false;
    return name === undefined || max === 1 || underWay < max - 1;
  }

  #begin(line: Line): () => void {
    const sinceMs = this.#clock.monotonicMs();
    this.#served = Math.max(this.#served, line.used);
    this.#underWay += 1;
    line.underWay += 1;
    line.used += EXPECTED_MS / line.weight;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#underWay -= 1;
      line.underWay -= 1;
      line.used += (this.#msSince(sinceMs) - EXPECTED_MS) / line.weight;
      this.#serve();
      this.#forget(line);
    };
  }

  #msSince(sinceMs: number): number {
    const now = this.#clock.monotonicMs();
    const ms = now - (this.#limits.isSerial ? Math.max(sinceMs, this.#lastEndMs) : sinceMs);
    this.#lastEndMs = now;
    return ms;
  }

  #serve(): void {
    while (this.#underWay < this.#limits.max) {
      const waiting = [...this.#lines.values()].filter((line) => line.waiting.length > 0);
      const [first, ...others] = waiting;
      if (first === undefined || (others.length === 0 && !this.#hasPlaceFor(first))) return;
      const next = others.reduce((least, line) => (line.used < least.used ? line : least), first);
      next.waiting[0]?.admit();
    }
  }

  /** Forgets a name, unless it has used more than others. While no turn runs or waits, all are forgotten. */
  #forget(line: Line): void {
    if (this.#underWay === 0 && this.#waiting === 0) {
      this.#lines.clear();
      this.#served = 0;
      return;
    }
    if (!isIdle(line)) return;
    if (line.used <= this.#served || this.#lines.size > IDLE_NAMES_MAX)
      this.#lines.delete(line.name);
  }
}

function isIdle({ waiting, underWay }: Line): boolean {
  return waiting.length === 0 && underWay === 0;
}

function unavailable(reason: string): GatewayError {
  return new GatewayError('STORE_UNAVAILABLE', {}, new Error(reason));
}
