// The connections to the database, of either engine: a pool, and the turns of those who wait for it. Every statement goes
// through here: it has a deadline, is measured (checked-client.ts), and a connection that failed is not used again.

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

/** How long a lost database is waited for, from when it was lost: in a longer outage everything fails at once. */
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
  /** Undefined while it answers. */
  #lostAtMs: number | undefined;

  constructor(pool: Pool, target: DatabaseTarget, options: DatabaseOptions) {
    this.#pool = pool;
    this.#turns = new StatementTurns(options.clock, turnLimits(pool, target, options));
    this.#reads = new WaitingReads(options.clock);
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
