// Connections of PBXs that were refused because of their login or their application, for people who look for the reason:
// from where, why, how often. One log line each, not one an attempt: Asterisk tries again every half second. In memory;
// bounded.

import type { Log } from '../../../log.ts';
import type { Clock } from '../../../std/clock.ts';

/** `password`: the user is right. `application`: no configuration waits for the one in its path. */
export type RefusalCause = 'password' | 'user' | 'no-login' | 'application';

export interface RefusedConnection {
  /** As the path names it. */
  app: string;
  cause: RefusalCause;
  client: string;
  attempts: number;
  /** Milliseconds since 1970. */
  lastAt: number;
}

/** Different ones; the one whose last attempt is oldest goes first. */
const NOTED_MAX = 100;
/** The same one is logged again after that time. */
const LOG_EVERY_MS = 600_000;
/** Log lines in that time: anybody on the network can cause them. */
const LINES_MAX = 20;
/** Of a path, which anybody may have written. */
const APP_CHARACTERS_MAX = 80;

export class RefusedConnections {
  readonly #clock: Clock;
  readonly #log: Log | undefined;
  readonly #noted = new Map<string, RefusedConnection>();
  readonly #loggedAtMs = new Map<string, number>();

  constructor(clock: Clock, log: Log | undefined) {
    this.#clock = clock;
    this.#log = log;
  }

  note(refusal: Pick<RefusedConnection, 'app' | 'cause' | 'client'>): void {
    const app = refusal.app.replace(/[^\x20-\x7e]/g, '?').slice(0, APP_CHARACTERS_MAX);
    const { cause, client } = refusal;
    const key = `${app} ${cause} ${client}`;
    const attempts = (this.#noted.get(key)?.attempts ?? 0) + 1;
    this.#noted.delete(key);
    const [oldest] = this.#noted.keys();
    if (this.#noted.size >= NOTED_MAX && oldest !== undefined) this.#noted.delete(oldest);
    this.#noted.set(key, { app, cause, client, attempts, lastAt: this.#clock.now() });
    if (!this.#mayLog(key)) return;
    this.#log?.warn({ application: app, cause, client }, 'connection of a PBX refused');
  }

  /** For that application; the last first. */
  of(app: string): RefusedConnection[] {
    return [...this.#noted.values()].filter((each) => each.app === app).reverse();
  }

  /** For applications that no configuration has; the last first. */
  unknown(): RefusedConnection[] {
    return [...this.#noted.values()].filter(({ cause }) => cause === 'application').reverse();
  }

  #mayLog(key: string): boolean {
    const nowMs = this.#clock.monotonicMs();
    for (const [each, atMs] of this.#loggedAtMs) {
      if (nowMs - atMs >= LOG_EVERY_MS) this.#loggedAtMs.delete(each);
    }
    if (this.#loggedAtMs.has(key) || this.#loggedAtMs.size >= LINES_MAX) return false;
    this.#loggedAtMs.set(key, nowMs);
    return true;
  }
}
