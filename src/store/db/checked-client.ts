// One use of a connection to the database: its turn, reads that others wait for as well, statements that are sent again,
// and their duration.

import { type PostgresPoolClient, type PostgresQueryResult, type RawBuilder, sql } from 'kysely';
import type { PoolClient } from 'pg';
import { GatewayError } from '../../errors/gateway-error.ts';
import { storeSeconds } from '../../metrics/metrics.ts';
import type { Clock } from '../../std/clock.ts';
import { currentShare } from '../../std/work-share.ts';
import { plainText } from './column-values.ts';
import { asStoreError, isConnectionLost, isDeadlock, isUnusable } from './database-errors.ts';
import { readKey, type WaitingReads } from './waiting-reads.ts';

/** Before a statement that the server ended for a deadlock is sent again, each time. At once it may take the lock that
 *  the other waits for, and the two are in a deadlock again. A second deadlock was seen on a full processor. */
const DEADLOCK_PAUSES_MS = [50, 200];

export interface ClientOptions {
  clock: Clock;
  reads: WaitingReads<unknown>;
  /** Resolves with what ends the turn. */
  takeTurn(): Promise<() => void>;
  connect(): Promise<PoolClient>;
}

/** One use of a connection, in one turn: a transaction is one. After a deadline or a broken socket the connection is thrown
 *  away. */
export class CheckedClient implements PostgresPoolClient {
  readonly #options: ClientOptions;
  #endTurn: (() => void) | undefined;
  /** Undefined until the turn has come, and once it is given back. */
  #client: PoolClient | undefined;
  #broken = false;
  /** A statement was sent, so that another connection is not in the same state. */
  #isUsed = false;
  /** The statement that has begun a transaction, until the next one is answered. The embedded engine answers it at once:
   *  the wait for the engine is the next one's. */
  #begun: string | undefined;

  /** Of the statement that is sent again. */
  #deadlocks = 0;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  query(cursor: never): never;
  query<R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>>;
  async query(text: string, values: readonly unknown[] = []): Promise<unknown> {
    if (this.#endTurn !== undefined) return this.#send(text, values);
    const key = ofRequest(text, values);
    if (key === undefined) await this.#takeTurn();
    else {
      return this.#options.reads.get(key, async (onBegin) => {
        await this.#takeTurn();
        onBegin();
        return withFrozenRows(await this.#send(text, values));
      });
    }
    return this.#send(text, values);
  }

  async #takeTurn(): Promise<void> {
    this.#endTurn = await this.#options.takeTurn();
    this.#client = await this.#options.connect();
  }

  async #send(text: string, values: readonly unknown[]): Promise<unknown> {
    const isFirst = !this.#isUsed;
    const begun = this.#begun;
    this.#isUsed = true;
    this.#begun = undefined;
    try {
      const result = await this.#measured(text, values);
      if (isFirst && BEGINS.test(text)) this.#begun = text;
      return result;
    } catch (error) {
      this.#broken = isUnusable(error);
      // Alone it is a transaction, which the server has rolled back so that others could go on.
      if (isFirst && isDeadlock(error) && (await this.#pauseAfterDeadlock())) {
        return this.#send(text, values);
      }
      // The database may have restarted while the connection was idle, or while this waited for the embedded engine.
      const isHarmless = begun === undefined ? isFirst && HARMLESS.test(text) : !COMMITS.test(text);
      if (!isHarmless || !isConnectionLost(error)) throw asStoreError(error);
    }
    this.#giveBack();
    this.#client = await this.#options.connect();
    this.#broken = false;
    if (begun !== undefined) await this.#send(begun, []);
    return this.#send(text, values);
  }

  async #measured(text: string, values: readonly unknown[]): Promise<unknown> {
    const { clock } = this.#options;
    const sinceMs = clock.monotonicMs();
    let outcome = 'failed';
    try {
      const client = this.#client;
      if (client === undefined) throw new GatewayError('STORE_UNAVAILABLE');
      const result = await client.query(text, values.map(acceptable));
      outcome = 'ok';
      return result;
    } finally {
      storeSeconds.labels(outcome).observe((clock.monotonicMs() - sinceMs) / 1_000);
    }
  }

  /** False if the statement was sent often enough. */
  async #pauseAfterDeadlock(): Promise<boolean> {
    const pauseMs = DEADLOCK_PAUSES_MS[this.#deadlocks];
    if (pauseMs === undefined) return false;
    this.#deadlocks += 1;
    this.#isUsed = false;
    await new Promise<void>((resolve) => this.#options.clock.after(pauseMs, resolve));
    return true;
  }

  release(): void {
    this.#giveBack();
    this.#endTurn?.();
    this.#endTurn = undefined;
  }

  #giveBack(): void {
    this.#client?.release(this.#broken);
    this.#client = undefined;
  }
}

/** Others may get the same rows: who changes them in place fails, each time. */
function withFrozenRows(result: unknown): unknown {
  const { rows } = result as PostgresQueryResult<object>;
  for (const row of rows) Object.freeze(row);
  Object.freeze(rows);
  return result;
}

/** Undefined for all but reads of a request: the gateway's own work may change what it reads. */
function ofRequest(text: string, values: readonly unknown[]): string | undefined {
  const share = currentShare();
  return share && readKey(share.name, text, values);
}

/** Opens a statement that finds what it has changed if it is sent a second time. */
export const REPEATABLE: RawBuilder<unknown> = sql.raw('/* repeatable */');

/** Sent once more it does no harm. */
const HARMLESS = /^\s*(select\b|begin\b|start transaction\b|\/\* repeatable \*\/)/i;
const BEGINS = /^\s*(begin|start transaction)\b/i;
/** Without its answer, nobody knows whether the transaction took place. */
const COMMITS = /^\s*commit\b/i;

function acceptable(value: unknown): unknown {
  if (typeof value === 'string') return plainText(value);
  if (Array.isArray(value)) return value.map(acceptable);
  return value;
}
