// Connections to the database, of either engine: a pool, and turns for it. Every statement goes through here: it has a
// deadline, is measured (checked-client.ts), and a failed connection is not used again.

import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient } from 'kysely';
import { DatabaseError, Pool, type PoolClient, type PoolConfig } from 'pg';
import type { Log } from '../../log.ts';
import type { Clock } from '../../std/clock.ts';
import { currentShare } from '../../std/work-share.ts';
import type { Traffic } from '../embedded/turn-queue.ts';
import { APPLICATION_NAMES } from '../embedded/wire-protocol.ts';
import { CheckedClient } from './checked-client.ts';
import { asStoreError } from './database-errors.ts';
import { StatementTurns, type TurnLimits } from './statement-turns.ts';
import type { Tables } from './tables.ts';
import { WaitingReads } from './waiting-reads.ts';

/** Connections of a process, enough for a few hundred calls. The embedded engine runs one statement at a time
 *  anyway. */
const CONNECTIONS_MAX = 10;
/** Connections of each process where several share the embedded engine. */
const CONNECTIONS_SHARED_MAX = 5;
/** Longest wait for a free connection. */
const CONNECT_MS_MAX = 5_000;
/** Parallel turns of requests and jobs at the embedded engine: one that runs, one that is next, one whose answer is
 *  read. The engine would serve more in the order of arrival, which is not fair. */
const TURNS_EMBEDDED_MAX = 3;
/** Waiting statements of a process. Requests have limits of their own; this one is for a fault in them. Half is for the
 *  gateway's own work only. */
const STATEMENTS_WAITING_MAX = 10_000;
/** Waiting statements of one name, as many as the embedded engine completes during the longest wait. */
const STATEMENTS_OF_NAME_MAX = 2_000;
/** Longest wait for a turn, as long as one statement. The answer to a call's webhook does not wait for it
 *  (api/telephony/provider-webhook-routes.ts). */
const TURN_MS_MAX = 10_000;
/** Time in which lost connections are logged once: a server that ends loses all of them together. */
const SAME_LOSS_MS = 1_000;
/** Longest wait for the report that the embedded engine died. */
const RECONNECT_MS_MAX = 500;
/** Longest wait for a restarted server, or for a restart of the engine by another process. A provider waits 10 to 15 s
 *  for the answer to a call. */
const RECONNECT_SHARED_MS_MAX = 5_000;
const RECONNECT_STEP_MS = 50;
/** Deadline of one statement at the server; the client waits a little longer for its answer. */
const STATEMENT_MS_MAX = 9_000;
const ANSWER_MS_MAX = 10_000;
/** Deadline of a heartbeat and of a check for others': after it, another connection is made within the time in which
 *  this process is declared dead. */
const PRESENCE_MS_MAX = 2_500;
/** Longest idle time inside a transaction. */
const IDLE_IN_TRANSACTION_MS_MAX = 15_000;

/** `shared`: the embedded engine of another process of this gateway. */
export type DatabaseTarget =
  | { kind: 'server'; url: string }
  | { kind: 'embedded' | 'shared'; socketFolder: string };

/** Pool settings. `traffic`: the connection's purpose, which sets its priority at the embedded engine. */
export function connectionConfig(
  target: DatabaseTarget,
  traffic: Traffic,
  statementMs = STATEMENT_MS_MAX,
): PoolConfig {
  return target.kind === 'server'
    ? {
        connectionString: target.url,
        application_name: APPLICATION_NAMES[traffic],
        ...(isPooled(target.url) ? {} : sessionSettings(target.url, statementMs)),
        keepAlive: true,
      }
    : {
        host: target.socketFolder,
        user: 'postgres',
        database: 'postgres',
        application_name: APPLICATION_NAMES[traffic],
      };
}

/** Session settings. No statement is worth compiling (JIT): with a wrong cost estimate, a start of calls took up to 3 s
 *  in place of milliseconds. None is worth parallel workers, which take processors from calls. A random page costs
 *  hardly more than the next one, in memory or on a solid-state disk: with the default of 4, each piece of a list by
 *  tag read all runs. */
const SETTINGS = '-c jit=off -c max_parallel_workers_per_gather=0 -c random_page_cost=1.1';

/** Adds our settings after the options of the URL. */
function sessionSettings(
  url: string,
  statementMs: number,
): PoolConfig & { connectionString: string } {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  const asked = address?.searchParams.get('options');
  if (asked != null) address?.searchParams.delete('options'); // The driver would take it in place of ours.
  return {
    connectionString: asked == null ? url : String(address),
    options: `${SETTINGS} ${asked ?? ''}`.trimEnd(),
    statement_timeout: statementMs,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS_MAX,
  };
}

/** Whether the URL has `?pgbouncer=1`: a pooler is between us and the server, which refuses startup parameters.
 *  Statement timeouts and SETTINGS are then those of the role; our own deadline for an answer still applies. Nothing
 *  else here needs a session: statements are unnamed, and there is no LISTEN, no advisory lock and no setting beyond a
 *  transaction. */
function isPooled(url: string): boolean {
  const asked = URL.canParse(url) ? new URL(url).searchParams.get('pgbouncer') : null;
  return asked !== null && asked !== '0' && asked !== 'false';
}

export interface DatabaseOptions {
  /** Default: `api`. */
  traffic?: Traffic | undefined;
  /** Awaited before a connection is taken: the embedded engine may be restarting. */
  ready: () => Promise<void>;
  clock: Clock;
  log: Log;
}

/** One connection to a server for heartbeats and checks, which wait for no other statement. */
export function openPresence(target: DatabaseTarget, options: DatabaseOptions): Kysely<Tables> {
  return openPool(target, options, {
    ...connectionConfig(target, options.traffic ?? 'api', PRESENCE_MS_MAX),
    max: 1,
    connectionTimeoutMillis: PRESENCE_MS_MAX,
    query_timeout: PRESENCE_MS_MAX,
  });
}

export function openDatabase(target: DatabaseTarget, options: DatabaseOptions): Kysely<Tables> {
  return openPool(target, options, {
    ...connectionConfig(target, options.traffic ?? 'api'),
    max: target.kind === 'shared' ? CONNECTIONS_SHARED_MAX : CONNECTIONS_MAX,
    connectionTimeoutMillis: CONNECT_MS_MAX,
    query_timeout: ANSWER_MS_MAX,
    idleTimeoutMillis: 30_000,
  });
}

function openPool(
  target: DatabaseTarget,
  options: DatabaseOptions,
  config: PoolConfig,
): Kysely<Tables> {
  const { clock, log } = options;
  const pool = new Pool(config);
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

/** Milliseconds after its loss for which statements wait for the database. After that they fail at once. */
const RECONNECT_MS = {
  server: RECONNECT_SHARED_MS_MAX,
  embedded: RECONNECT_MS_MAX,
  shared: RECONNECT_SHARED_MS_MAX,
};

class CheckedPool implements PostgresPool {
  readonly #pool: Pool;
  readonly #turns: StatementTurns;
  readonly #reads: WaitingReads<unknown>;
  readonly #reconnectMsMax: number;
  readonly #options: DatabaseOptions;
  /** Time when the database was lost; undefined while it answers. */
  #lostAtMs: number | undefined;

  constructor(pool: Pool, target: DatabaseTarget, options: DatabaseOptions) {
    this.#pool = pool;
    this.#turns = new StatementTurns(options.clock, turnLimits(pool, target, options));
    this.#reads = new WaitingReads(options.clock);
    this.#reconnectMsMax = RECONNECT_MS[target.kind];
    this.#options = options;
  }

  /** A client that takes its turn with its first statement. */
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
      // Nothing was sent yet, so nothing is sent twice.
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

/** Whether the database may be available in a moment: it does not answer, is starting or stopping, or has no free
 *  connection (of all processes). */
function isStarting(error: unknown): boolean {
  return !(error instanceof DatabaseError) || /^(57P0[123]|53300)$/.test(error.code ?? '');
}
