// Limits guesses of a PBX's password: counts the different wrong logins of a client. An Asterisk with a wrong password
// repeats one login every half second, which counts once. A PBX that has logged in from the same address is never
// locked out: its calls end with its connection. In memory; cleared by a restart.

import type { Clock } from '../../../std/clock.ts';
import { KnownClients } from '../../../std/known-clients.ts';

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
