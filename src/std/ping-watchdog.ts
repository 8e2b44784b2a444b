// Watchdog for half-open websockets: the peer must answer pings, and may otherwise be silent for long.

import type { Clock, Timer } from './clock.ts';

const PING_MS = 10_000;
const PONG_MS_MAX = 8_000;

/** Part of a websocket that this file uses. */
export interface PingedSocket {
  ping(): void;
  on(event: 'pong', listener: () => void): unknown;
}

export class PingWatchdog {
  readonly #socket: PingedSocket;
  readonly #clock: Clock;
  readonly #onDead: () => void;
  #hasPong = true;
  #timer: Timer;

  /** Watches an open socket. `onDead` is called at most once. */
  constructor(socket: PingedSocket, clock: Clock, onDead: () => void) {
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
