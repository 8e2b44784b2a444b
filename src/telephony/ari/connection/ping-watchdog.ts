// Watchdog for a half-open socket: Asterisk answers pings and sends none. Source: asterisk §4.

import type { WebSocket } from 'ws';
import type { Clock, Timer } from '../../../std/clock.ts';

const PING_MS = 10_000;
const PONG_MS_MAX = 8_000;

export class PingWatchdog {
  readonly #socket: WebSocket;
  readonly #clock: Clock;
  readonly #onDead: () => void;
  #hasPong = true;
  #timer: Timer;

  /** For an open socket. `onDead` is called at most once. */
  constructor(socket: WebSocket, clock: Clock, onDead: () => void) {
    this.#socket = socket;
    this.#clock = clock;
    this.#onDead = onDead;
    socket.on('pong', () => {
      this.#hasPong = true;
    });
    this.#timer = clock.after(PING_MS, () => this.#ping());
  }

  stop(): void {
    this.#timer.cancel();
  }

  #ping(): void {
    this.#hasPong = false;
    this.#socket.ping();
    this.#timer = this.#clock.after(PONG_MS_MAX, () => {
      if (!this.#hasPong) this.#onDead();
      else this.#timer = this.#clock.after(PING_MS, () => this.#ping());
    });
  }
}
