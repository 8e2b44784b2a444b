// Guesses of a PBX's password: how many different wrong logins a client has sent. An Asterisk whose password is wrong sends
// the same one every half second, which counts once, so that it is admitted as soon as the password is right. A PBX that has
// logged in from the same address is never locked out: its calls end with its connection. In memory; a restart forgives.

import type { Clock } from '../../../std/clock.ts';
import { KnownClients } from '../../../std/known-clients.ts';

/** As many as of log-ins of one client: an office has several PBXs. */
const GUESSES_MAX = 50;
const WINDOW_MS = 15 * 60_000;
/** Clients that are kept. Beyond, the oldest is removed: filling this takes that many of them. */
const CLIENTS_MAX = 10_000;
/** PBXs that logged in, each from an address; beyond, the oldest is removed. As many as a node connects to. */
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

  /** How long nothing that the client sends for `app` is looked at; 0: it may try. */
  lockedMs(client: string, app: string): number {
    const guesses = this.#current(client);
    if (this.#loggedIn.has(app, client)) return 0;
    if (guesses === undefined || guesses.count < GUESSES_MAX) return 0;
    return guesses.endsAtMs - this.#clock.monotonicMs();
  }

  /** A login was wrong. `login`: what was sent and where to, as a digest. */
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

  /** `app` logged in from there. */
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
