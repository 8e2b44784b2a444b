// The connections to the database, of either engine, and the meaning of their errors. Every statement goes through
// here: it has a deadline, is measured, and a connection that failed is not used again.

import {
  Kysely,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
  type PostgresQueryResult,
  type RawBuilder,
  sql,
} from 'kysely';
import { DatabaseError, Pool, type PoolClient, type PoolConfig } from 'pg';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import { storeSeconds } from '../../metrics/metrics.ts';
import type { Clock } from '../../std/clock.ts';
import { currentShare } from '../../std/work-share.ts';
import type { Traffic } from '../embedded/turn-queue.ts';
import { APPLICATION_NAMES } from '../embedded/wire-protocol.ts';
import { plainText } from './column-values.ts';
import { StatementTurns, type TurnLimits } from './statement-turns.ts';
import type { Tables } from './tables.ts';
import { readKey, WaitingReads } from './waiting-reads.ts';

/** Enough for a few hundred calls; the embedded engine runs one statement at a time anyway. */
const CONNECTIONS_MAX = 10;
/** For each process, where several share the embedded engine. */
const CONNECTIONS_SHARED_MAX = 5;
/** Wait for a free connection. */
const CONNECT_MS_MAX = 5_000;
/** Of requests and jobs at the embedded engine: one that it works on, one that is next, one whose answer is read. More
 *  would wait there in the order of arrival, whoever's they are. */
const TURNS_EMBEDDED_MAX = 3;
/** Requests have their own limits; these are for a fault in them. Half is for the gateway's own work alone. */
const STATEMENTS_WAITING_MAX = 10_000;
/** The embedded engine completes as many in the wait for a turn. */
const STATEMENTS_OF_NAME_MAX = 2_000;
/** As long as one statement. The answer to a call's webhook does not wait for it (api/telephony/answer-deadline.ts). */
const TURN_MS_MAX = 10_000;
/** A server that ends loses all connections at once: one line of the log says so. */
const SAME_LOSS_MS = 1_000;
/** Wait for the report of the embedded engine's death. */
const RECONNECT_MS_MAX = 500;
/** For the engine to be started again, where no event of it arrives; for a server that is restarted: a provider waits 10 to
 *  15 s for the answer to a call. */
const RECONNECT_SHARED_MS_MAX = 5_000;
const RECONNECT_STEP_MS = 50;
/** One statement at the server; the client waits a little longer for its answer. */
const STATEMENT_MS_MAX = 9_000;
const ANSWER_MS_MAX = 10_000;
/** For a transaction in which nothing happens. */
const IDLE_IN_TRANSACTION_MS_MAX = 15_000;

/** `shared`: the embedded engine of another process of this gateway. */
export type DatabaseTarget =
  | { kind: 'server'; url: string }
  | { kind: 'embedded' | 'shared'; socketFolder: string };

/** `traffic`: what the connection is for, by which the embedded engine serves it first or last. */
export function connectionConfig(target: DatabaseTarget, traffic: Traffic): PoolConfig {
  return target.kind === 'server'
    ? {
        connectionString: target.url,
        application_name: APPLICATION_NAMES[traffic],
        ...(isPooled(target.url) ? {} : sessionSettings(target.url)),
        keepAlive: true,
      }
    : {
        host: target.socketFolder,
        user: 'postgres',
        database: 'postgres',
        application_name: APPLICATION_NAMES[traffic],
      };
}

/** No statement is worth compiling (JIT): where PostgreSQL thought so by a wrong guess of its cost, a start of calls took up
 *  to 3 s in place of milliseconds. None is worth several processes, which take processors from those of calls. A page at
 *  random costs hardly more than the next one, of memory or a solid-state disk: with the default of 4, each piece of a
 *  list by tag read all runs. */
const SETTINGS = '-c jit=off -c max_parallel_workers_per_gather=0 -c random_page_cost=1.1';

/** Options of the address go before ours. */
function sessionSettings(url: string): PoolConfig & { connectionString: string } {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  const asked = address?.searchParams.get('options');
  if (asked != null) address?.searchParams.delete('options'); // The driver would take it in place of ours.
  return {
    connectionString: asked == null ? url : String(address),
    options: `${SETTINGS} ${asked ?? ''}`.trimEnd(),
    statement_timeout: STATEMENT_MS_MAX,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS_MAX,
  };
}

/** `?pgbouncer=1`: a pooler is between us and the server, which refuses startup parameters. Timeouts of statements and SETTINGS
 *  are then those of the role; our own wait for an answer ends all the same. Nothing else here needs a session:
 *  statements are unnamed, and there is no LISTEN, no advisory lock and no setting beyond a transaction. */
function isPooled(url: string): boolean {
  const asked = URL.canParse(url) ? new URL(url).searchParams.get('pgbouncer') : null;
  return asked !== null && asked !== '0' && asked !== 'false';
}

export interface DatabaseOptions {
  /** Default: `api`. */
  traffic?: Traffic | undefined;
  /** Awaited before a connection is taken: the embedded engine may be starting again. */
  ready: () => Promise<void>;
  clock: Clock;
  log: Log;
}

export function openDatabase(target: DatabaseTarget, options: DatabaseOptions): Kysely<Tables> {
  const { clock, log } = options;
  const pool = new Pool({
    ...connectionConfig(target, options.traffic ?? 'api'),
    max: target.kind === 'shared' ? CONNECTIONS_SHARED_MAX : CONNECTIONS_MAX,
    connectionTimeoutMillis: CONNECT_MS_MAX,
    query_timeout: ANSWER_MS_MAX,
    idleTimeoutMillis: 30_000,
  });
  let lostAtMs = Number.NEGATIVE_INFINITY;
  pool.on('error', ({ message: reason }) => {
    const nowMs = clock.monotonicMs();
    const level = nowMs - lostAtMs < SAME_LOSS_MS ? 'debug' : 'warn';
    lostAtMs = nowMs;
    log[level]({ reason }, 'an idle database connection was lost');
  });
  // The pool only handles errors of idle connections; an error of one in use would end the process.
  pool.on('connect', (client) => {
    client.on('error', (error) => log.debug({ err: error }, 'a database connection was lost'));
  });
  return new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: new CheckedPool(pool, target, options) }),
  });
}

/** The constraint (unique or foreign key) that was violated, if `error` is such an error. */
export function violated(error: unknown): string | undefined {
  if (!(error instanceof DatabaseError)) return undefined;
  return error.code === '23505' || error.code === '23503' ? error.constraint : undefined;
}

/** A driver's error as one of ours, where the statement is not the cause. */
export function asStoreError(error: unknown): unknown {
  if (error instanceof GatewayError) return error;
  if (!(error instanceof DatabaseError)) return new GatewayError('STORE_UNAVAILABLE', {}, error);
  // These may quote rows: names, numbers, credentials.
  error.detail = undefined;
  error.where = undefined;
  error.internalQuery = undefined;
  const [, parameter] =
    /unsupported startup parameter(?: in options)?: (\w+)/.exec(error.message) ?? [];
  if (parameter !== undefined) return new GatewayError('STORE_POOLER', { parameter }, error);
  if (error.code === '53100') return new GatewayError('STORE_FULL', {}, error);
  const unavailable = /^(08|53|57|58|40001|40P01|25P03|55P03)/.test(error.code ?? '');
  return unavailable ? new GatewayError('STORE_UNAVAILABLE', {}, error) : error;
}

/** Before a statement that the server ended for a deadlock is sent again, each time. At once it may take the lock that
 *  the other waits for, and the two are in a deadlock again. A second deadlock was seen on a full processor. */
const DEADLOCK_PAUSES_MS = [50, 200];

/** How long a lost database is waited for, from when it was lost: in a longer outage everything fails at once. */
const RECONNECT_MS = {
  server: RECONNECT_SHARED_MS_MAX,
  embedded: RECONNECT_MS_MAX,
  shared: RECONNECT_SHARED_MS_MAX,
};

class CheckedPool implements PostgresPool {
  readonly #pool: Pool;
  readonly #turns: StatementTurns;
  readonly #reads = new WaitingReads<unknown>();
  readonly #reconnectMsMax: number;
  readonly #options: DatabaseOptions;
  /** Undefined while it answers. */
  #lostAtMs: number | undefined;

  constructor(pool: Pool, target: DatabaseTarget, options: DatabaseOptions) {
    this.#pool = pool;
    this.#turns = new StatementTurns(options.clock, turnLimits(pool, target, options));
    this.#reconnectMsMax = RECONNECT_MS[target.kind];
    this.#options = options;
  }

  /** It takes its turn with its first statement. */
  async connect(): Promise<PostgresPoolClient> {
    return new CheckedClient({
      clock: this.#options.clock,
      reads: this.#reads,
      takeTurn: () => this.#turns.take(currentShare()?.name),
      connect: () => this.#connect(),
    });
  }

  async #connect(): Promise<PoolClient> {
    const { clock, ready } = this.#options;
    const begunAtMs = clock.monotonicMs();
    for (;;) {
      await ready();
      try {
        const client = await this.#pool.connect();
        this.#lostAtMs = undefined;
        return client;
      } catch (error) {
        const now = clock.monotonicMs();
        this.#lostAtMs ??= now;
        const isOver = now >= Math.min(this.#lostAtMs, begunAtMs) + this.#reconnectMsMax;
        if (isOver || !isStarting(error)) throw asStoreError(error);
      }
      // Nothing was sent, so nothing is sent twice.
      await new Promise<void>((resolve) => clock.after(RECONNECT_STEP_MS, resolve));
    }
  }

  end(): Promise<void> {
    return this.#pool.end();
  }
}

function turnLimits(
  { options: { max } }: Pool,
  { kind }: DatabaseTarget,
  { traffic = 'api' }: DatabaseOptions,
): TurnLimits {
  const isSerial = kind !== 'server';
  return {
    max: isSerial && traffic === 'api' ? TURNS_EMBEDDED_MAX : max,
    waitingMax: STATEMENTS_WAITING_MAX,
    waitingOfNameMax: STATEMENTS_OF_NAME_MAX,
    waitMsMax: TURN_MS_MAX,
    isSerial,
  };
}

/** Whether the database may be there in a moment: it does not answer, says that it starts or stops, or has as many
 *  connections as it takes, of all processes, of which one may be given back. */
function isStarting(error: unknown): boolean {
  return !(error instanceof DatabaseError) || /^(57P0[123]|53300)$/.test(error.code ?? '');
}

interface ClientOptions {
  clock: Clock;
  reads: WaitingReads<unknown>;
  /** Resolves with what ends the turn. */
  takeTurn(): Promise<() => void>;
  connect(): Promise<PoolClient>;
}

/** One use of a connection, in one turn: a transaction is one. After a deadline or a broken socket the connection is thrown
 *  away. */
class CheckedClient implements PostgresPoolClient {
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
    if (key === undefined) await this.#begin();
    else {
      return this.#options.reads.get(key, async (onBegin) => {
        await this.#begin();
        onBegin();
        return withFrozenRows(await this.#send(text, values));
      });
    }
    return this.#send(text, values);
  }

  async #begin(): Promise<void> {
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
      const result = await this.#client?.query(text, values.map(acceptable));
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

/** The server ends one of the statements that wait for each other. */
function isDeadlock(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '40P01';
}

/** Not an answer that is late: the database may be busy with the statement. */
function isConnectionLost(error: unknown): boolean {
  if (error instanceof DatabaseError) return /^57P0[123]$/.test(error.code ?? '');
  return error instanceof Error && /terminated|ECONNRESET|EPIPE/.test(error.message);
}

function isUnusable(error: unknown): boolean {
  return !(error instanceof DatabaseError) || /^(57P|08)/.test(error.code ?? '');
}

function acceptable(value: unknown): unknown {
  if (typeof value === 'string') return plainText(value);
  if (Array.isArray(value)) return value.map(acceptable);
  return value;
}
