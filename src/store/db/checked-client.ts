// One use of a connection to the database: its turn, shared reads, repeated statements, and their measured duration.

import { type PostgresPoolClient, type PostgresQueryResult, type RawBuilder, sql } from 'kysely';
import type { PoolClient } from 'pg';
import { GatewayError } from '../../errors/gateway-error.ts';
import { storeSeconds } from '../../metrics/metrics.ts';
import type { Clock } from '../../std/clock.ts';
import { currentShare } from '../../std/work-share.ts';
import { plainText } from './column-values.ts';
import { asStoreError, isConnectionLost, isDeadlock, isUnusable } from './database-errors.ts';
import { readKey, type WaitingReads } from './waiting-reads.ts';

/** Pauses before each repetition of a statement that the server ended for a deadlock. Without a pause it may take the
 *  lock that the other waits for, and deadlock again. A second deadlock was seen on a busy processor. */
const DEADLOCK_PAUSES_MS = [50, 200];

export interface ClientOptions {
  clock: Clock;
  reads: WaitingReads<unknown>;
  /** Resolves with the function that ends the turn. */
  takeTurn(): Promise<() => void>;
  connect(): Promise<PoolClient>;
}

/** One use of a connection in one turn; a transaction is one use. After a deadline or a broken socket the connection is
 *  discarded. */
export class CheckedClient implements PostgresPoolClient {
  readonly #options: ClientOptions;
  #endTurn: (() => void) | undefined;
  /** The connection; undefined before the turn, and after it was released. */
  #client: PoolClient | undefined;
  #broken = false;
  /** Whether a statement was sent, so that another connection would not have the same state. */
  #isUsed = false;
  /** The statement that began a transaction, until the next one is answered. The embedded engine answers it at once;
   *  the wait for the engine is that of the next statement. */
  #begun: string | undefined;

  /** Number of deadlocks of the current statement. */
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
      // A single statement is a transaction, which the server has rolled back.
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

  /** Pauses before a repetition. False if the statement was sent often enough. */
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

/** The result with frozen rows, as several readers may share them: code that changes them in place fails each time. */
function withFrozenRows(result: unknown): unknown {
  const { rows } = result as PostgresQueryResult<object>;
  for (const row of rows) Object.freeze(row);
  Object.freeze(rows);
  return result;
}

/** Key of the request whose read may be shared; undefined for other statements: the gateway's own work may change what
 *  it reads. */
function ofRequest(text: string, values: readonly unknown[]): string | undefined {
  const share = currentShare();
  return share && readKey(share.name, text, values);
}

/** Start of a statement that recognises its own change if it is sent a second time. */
export const REPEATABLE: RawBuilder<unknown> = sql.raw('/* repeatable */');

/** Statements that may be sent twice without harm. */
const HARMLESS = /^\s*(select\b|begin\b|start transaction\b|\/\* repeatable \*\/)/i;
const BEGINS = /^\s*(begin|start transaction)\b/i;
/** Commits: without an answer it is not known whether the transaction took place. */
const COMMITS = /^\s*commit\b/i;

function acceptable(value: unknown): unknown {
  if (typeof value === 'string') return plainText(value);
  if (Array.isArray(value)) return value.map(acceptable);
  return value;
}
