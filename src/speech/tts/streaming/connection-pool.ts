// Connection pool of one synthesiser with one key, voice and format, shared by calls. A connection is idle again when
// the service has confirmed the end of its last utterance. It closes when it is idle for long or too old.

import type { Clock, Timer } from '../../../std/clock.ts';

export interface PooledConnection {
  /** Whether it can take one more utterance. */
  readonly hasRoom: boolean;
  readonly isIdle: boolean;
  close(): void;
}

export interface ConnectionListener {
  /** Called when the service confirmed the end of its last utterance. */
  onIdle(): void;
  /** Called when the connection broke or closed itself. Exactly once, unless `close` came first. */
  onEnd(): void;
}

export interface ConnectionPoolOptions<C extends PooledConnection> {
  clock: Clock;
  open(listener: ConnectionListener): C;
  /** Longest idle time, shorter than the service's. */
  idleMsMax: number;
  /** Age after which no utterance begins on a connection. */
  ageMsMax: number;
}

/** Connections for one voice in one process: 500 calls that all speak, with two utterances on each. */
const CONNECTIONS_MAX = 256;

interface Entry<C> {
  connection: C;
  untilMs: number;
  idle: Timer | undefined;
}

export class ConnectionPool<C extends PooledConnection> {
  readonly #options: ConnectionPoolOptions<C>;
  readonly #entries = new Set<Entry<C>>();

  constructor(options: ConnectionPoolOptions<C>) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  get hasIdle(): boolean {
    for (const { connection } of this.#entries) if (connection.isIdle) return true;
    return false;
  }

  /** Returns a connection with room, preferably an idle one. Opens one if there is none or if `isNew`. Undefined when
   *  the pool is full. The caller begins an utterance on it at once. */
  take(isNew = false): C | undefined {
    const opened = isNew ? this.#open() : undefined;
    if (opened !== undefined) return opened.connection;
    const now = this.#options.clock.monotonicMs();
    let found: Entry<C> | undefined;
    for (const entry of this.#entries) {
      if (!entry.connection.hasRoom || entry.untilMs <= now) continue;
      found ??= entry;
      if (!entry.connection.isIdle) continue;
      found = entry;
      break;
    }
    found ??= this.#open();
    found?.idle?.cancel();
    return found?.connection;
  }

  close(): void {
    for (const entry of this.#entries) this.#discard(entry);
  }

  #open(): Entry<C> | undefined {
    if (this.#entries.size >= CONNECTIONS_MAX) return undefined;
    const { clock, open, ageMsMax } = this.#options;
    const connection = open({
      onIdle: () => this.#idle(entry),
      onEnd: () => this.#forget(entry),
    });
    const untilMs = clock.monotonicMs() + ageMsMax;
    const entry: Entry<C> = { connection, untilMs, idle: undefined };
    this.#entries.add(entry);
    return entry;
  }

  #idle(entry: Entry<C>): void {
    const { clock, idleMsMax } = this.#options;
    entry.idle?.cancel();
    const leftMs = Math.min(idleMsMax, entry.untilMs - clock.monotonicMs());
    if (leftMs <= 0) this.#discard(entry);
    else entry.idle = clock.after(leftMs, () => this.#discard(entry));
  }

  #discard(entry: Entry<C>): void {
    this.#forget(entry);
    entry.connection.close();
  }

  #forget(entry: Entry<C>): void {
    entry.idle?.cancel();
    this.#entries.delete(entry);
  }
}
