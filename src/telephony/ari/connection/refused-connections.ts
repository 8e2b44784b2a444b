// Refused connections of PBXs, with wrong login or unknown application, for administrators who look for the reason:
// address, cause, attempts. Each is logged once, not at each attempt: Asterisk retries every half second. And the limit
// of guesses: a client is locked out by different wrong logins, but never a PBX that has logged in from the same
// address, as its calls end with its connection. In memory, cleared by a restart; bounded.

import type { Log } from '../../../log.ts';
import type { Clock } from '../../../std/clock.ts';
import { KnownClients } from '../../../std/known-clients.ts';

/** `password`: the user is right. `application`: no configuration has the application in its path. */
export type RefusalCause = 'password' | 'user' | 'no-login' | 'application';

export interface RefusedConnection {
  /** The application in the path. */
  app: string;
  cause: RefusalCause;
  client: string;
  attempts: number;
  /** Milliseconds since 1970. */
  lastAt: number;
}

/** Refused connections that are kept, of configurations and of unknown applications each. Beyond, the one with the
 *  oldest last attempt is removed. */
const NOTED_MAX = 100;
/** Time after which the same refused connection is logged again. */
const LOG_EVERY_MS = 600_000;
/** Log lines in that time, of each kind too: anybody on the network can cause them. */
const LINES_MAX = 20;
/** Characters of an application's name that are kept: it comes from a path that anybody can send. */
const APP_CHARACTERS_MAX = 80;

interface Noted {
  /** In the order of their last attempts, the oldest first. */
  connections: Map<string, RefusedConnection>;
  loggedAtMs: Map<string, number>;
}

export class RefusedConnections {
  readonly #clock: Clock;
  readonly #log: Log | undefined;
  readonly #ofConfigurations: Noted = { connections: new Map(), loggedAtMs: new Map() };
  /** Kept apart, because anybody on the network can cause any number of them. */
  readonly #ofNone: Noted = { connections: new Map(), loggedAtMs: new Map() };

  constructor(clock: Clock, log: Log | undefined) {
    this.#clock = clock;
    this.#log = log;
  }

  note(refusal: Pick<RefusedConnection, 'app' | 'cause' | 'client'>): void {
    const app = refusal.app.replace(/[^\x20-\x7e]/g, '?').slice(0, APP_CHARACTERS_MAX);
    const { cause, client } = refusal;
    const noted = cause === 'application' ? this.#ofNone : this.#ofConfigurations;
    const { connections } = noted;
    const key = `${app} ${cause} ${client}`;
    const attempts = (connections.get(key)?.attempts ?? 0) + 1;
    connections.delete(key);
    const [oldest] = connections.keys();
    if (connections.size >= NOTED_MAX && oldest !== undefined) connections.delete(oldest);
    connections.set(key, { app, cause, client, attempts, lastAt: this.#clock.now() });
    if (!this.#mayLog(noted, key)) return;
    this.#log?.warn({ application: app, cause, client }, 'connection of a PBX refused');
  }

  /** Refused connections for that application, the last first. */
  of(app: string): RefusedConnection[] {
    const both = [this.#ofNone, this.#ofConfigurations];
    const all = both.flatMap(({ connections }) => [...connections.values()]);
    const ofApp = all.filter((each) => each.app === app).reverse();
    return ofApp.sort((one, other) => other.lastAt - one.lastAt);
  }

  /** Refused connections for applications that no configuration has, the last first. */
  unknown(): RefusedConnection[] {
    return [...this.#ofNone.connections.values()].reverse();
  }

  #mayLog({ loggedAtMs }: Noted, key: string): boolean {
    const nowMs = this.#clock.monotonicMs();
    for (const [each, atMs] of loggedAtMs) {
      if (nowMs - atMs >= LOG_EVERY_MS) loggedAtMs.delete(each);
    }
    if (loggedAtMs.has(key) || loggedAtMs.size >= LINES_MAX) return false;
    loggedAtMs.set(key, nowMs);
    return true;
  }
}

/** Different wrong logins of one client, as many as the API's login accepts: an office has several PBXs. */
const GUESSES_MAX = 50;
const WINDOW_MS = 15 * 60_000;
/** Clients that are remembered. Beyond, the oldest is removed: to remove one, an attacker needs that many addresses. */
const CLIENTS_MAX = 10_000;
/** PBXs with a login, each with its address. Beyond, the oldest is removed. As many as a node connects to. */
const LOGGED_IN_MAX = 1_000;

interface Guesses {
  count: number;
  last: string;
  endsAtMs: number;
}

/** Counts the different wrong logins of a client. An Asterisk with a wrong password repeats one login every half second,
 *  which counts once. */
export class LoginGuesses {
  readonly #clock: Clock;
  readonly #clients = new Map<string, Guesses>();
  readonly #loggedIn = new KnownClients({ pairsMax: LOGGED_IN_MAX });

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds for which requests of the client for `app` are ignored; 0 if it may try. */
  lockedMs(client: string, app: string): number {
    const guesses = this.#current(client);
    if (this.#loggedIn.has(app, client)) return 0;
    if (guesses === undefined || guesses.count < GUESSES_MAX) return 0;
    return guesses.endsAtMs - this.#clock.monotonicMs();
  }

  /** Counts a wrong login. `login`: a digest of the credentials and the path. */
  note(client: string, login: string): void {
    const guesses = this.#current(client);
    if (guesses?.last === login) return;
    if (guesses !== undefined) {
      guesses.count += 1;
      guesses.last = login;
      return;
    }
    const [oldest] = this.#clients.keys();
    if (this.#clients.size >= CLIENTS_MAX && oldest !== undefined) this.#clients.delete(oldest);
    const endsAtMs = this.#clock.monotonicMs() + WINDOW_MS;
    this.#clients.set(client, { count: 1, last: login, endsAtMs });
  }

  /** Notes a successful login of `app` from the client's address. */
  noteLogin(client: string, app: string): void {
    this.#loggedIn.note(app, client);
  }

  #current(client: string): Guesses | undefined {
    const guesses = this.#clients.get(client);
    if (guesses === undefined || guesses.endsAtMs > this.#clock.monotonicMs()) return guesses;
    this.#clients.delete(client);
    return undefined;
  }
}
