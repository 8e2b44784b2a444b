// Watched lines: their settings, which of them is due, and what their test calls found. A claim moves the line's next time
// on in one statement, so that of several gateways one makes each test call; a gateway that dies during one costs that
// call. Callers have checked the configuration's organization.

import { type Insertable, type Selectable, type SqlBool, sql } from 'kysely';
import { GatewayError } from '../../errors/gateway-error.ts';
import {
  CALLS_PER_HOUR_MAX,
  LINES_EXPORTED_MAX,
  LINES_PER_ORGANIZATION_MAX,
  type LineSettings,
  type LineTest,
  type LineWatch,
  MESSAGE_MAX,
  RESULTS_KEPT_MAX,
  stateAfter,
} from '../../model/line-watch.ts';
import type { ConfiguredProviderName } from '../../model/provider.ts';
import { isRowId, plainText } from '../db/column-values.ts';
import { shifted } from '../db/database-time.ts';
import type { StoreContext, TransactionContext } from '../db/store-context.ts';
import type { LineTestTable, LineWatchTable } from '../db/tables.ts';

const HOUR_MS = 3_600_000;

export interface LineClaim {
  /** Providers whose lines are tested by the gateway that holds the connection. */
  pbxProviders: readonly ConfiguredProviderName[];
  /** Factor of the interval until the next test call, around 1, so that lines do not stay in step. */
  factor: number;
  /** Configurations whose lines are not claimed. */
  except: readonly string[];
}

/** A test call as it is kept. */
type KeptLineTest = LineTest & { at: Date };

export type LineWatchStore = Pick<LineWatches, keyof LineWatches>;

export class LineWatches {
  readonly #context: StoreContext;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  /** The configuration's lines, oldest first. */
  async list(configurationId: string): Promise<LineWatch[]> {
    if (!isRowId(configurationId)) return [];
    const rows = await this.#context.db
      .selectFrom('line_watches')
      .selectAll()
      .where('configuration_id', '=', configurationId)
      .orderBy('id')
      .limit(LINES_PER_ORGANIZATION_MAX)
      .execute();
    return rows.map(toLine);
  }

  /** Adds a line, whose first test call is due after `firstMs`. Throws LINES_FULL. */
  async create(
    of: { organizationId: string; configurationId: string },
    settings: LineSettings,
    firstMs: number,
  ): Promise<LineWatch> {
    const { db, clock, time } = this.#context;
    const now = new Date(clock.now());
    return await db.transaction().execute(async (tx) => {
      await sql`select from organizations where id = ${of.organizationId} for no key update`.execute(
        tx,
      );
      const { count } = await tx
        .selectFrom('line_watches')
        .select((each) => each.fn.countAll<string>().as('count'))
        .where('organization_id', '=', of.organizationId)
        .executeTakeFirstOrThrow();
      if (Number(count) >= LINES_PER_ORGANIZATION_MAX) {
        throw new GatewayError('LINES_FULL', { max: LINES_PER_ORGANIZATION_MAX });
      }
      const row = await tx
        .insertInto('line_watches')
        .values({
          organization_id: of.organizationId,
          configuration_id: of.configurationId,
          ...columnsOf(settings),
          next_at: shifted(time(), firstMs),
          created_at: now,
          updated_at: now,
        })
        .returningAll()
        .executeTakeFirstOrThrow();
      return toLine(row);
    });
  }

  /** Changes a line; undefined if there is none of that id. What it was found to be is kept, unless what is called has
   *  changed. */
  async update(
    configurationId: string,
    id: string,
    settings: LineSettings,
    firstMs: number,
  ): Promise<LineWatch | undefined> {
    if (!isRowId(configurationId) || !isRowId(id)) return undefined;
    const { db, clock, time } = this.#context;
    const columns = columnsOf(settings);
    const isOther = sql<SqlBool>`(kind, number, context) is distinct from
      (${columns.kind}, ${columns.number}, ${columns.context})`;
    const row = await db
      .updateTable('line_watches')
      .set({
        ...columns,
        next_at: shifted(time(), firstMs),
        state: sql`case when ${isOther} or not is_enabled then 'untested' else state end`,
        fault: sql`case when ${isOther} or not is_enabled then null else fault end`,
        failures: sql`case when ${isOther} or not is_enabled then 0 else failures end`,
        updated_at: new Date(clock.now()),
      })
      .where('configuration_id', '=', configurationId)
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirst();
    return row === undefined ? undefined : toLine(row);
  }

  /** Deletes a line with its results. False if there is none with that id. */
  async delete(configurationId: string, id: string): Promise<boolean> {
    if (!isRowId(configurationId) || !isRowId(id)) return false;
    const { numDeletedRows } = await this.#context.db
      .deleteFrom('line_watches')
      .where('configuration_id', '=', configurationId)
      .where('id', '=', id)
      .executeTakeFirst();
    return numDeletedRows > 0n;
  }

  /** The last test calls of a line, newest first. */
  async results(configurationId: string, id: string): Promise<KeptLineTest[]> {
    if (!isRowId(configurationId) || !isRowId(id)) return [];
    const rows = await this.#context.db
      .selectFrom('line_tests as test')
      .innerJoin('line_watches as line', 'line.id', 'test.line_id')
      .selectAll('test')
      .where('line.configuration_id', '=', configurationId)
      .where('line.id', '=', id)
      .orderBy('test.id', 'desc')
      .limit(RESULTS_KEPT_MAX)
      .execute();
    return rows.map(toTest);
  }

  /** Claims one line that is due, for this gateway: no other one gets it before its next time. Undefined if none is. */
  async claimDue({ pbxProviders, factor, except }: LineClaim): Promise<LineWatch | undefined> {
    const { db, time } = this.#context;
    const gateway = this.#gateway;
    const now = time();
    const isHere = sql<SqlBool>`(lease.lease_until > ${now} and
      (lease.node = ${gateway} or starts_with(lease.node, ${`${gateway}#`})))`;
    const { rows } = await sql<Selectable<LineWatchTable>>`
      update line_watches as line
      set next_at = ${now} + line.interval_minutes * ${factor}::double precision * interval '1 minute'
      where line.id = (
        select due.id from line_watches as due
        join telephony_configurations as of on of.id = due.configuration_id
        left join configuration_leases as lease on lease.configuration_id = due.configuration_id
        where due.is_enabled and due.next_at <= ${now}
          and due.configuration_id <> all(${except}::bigint[])
          and (of.provider <> all(${pbxProviders}::text[]) or ${isHere})
          and (
            select count(*) from line_tests as test
            join line_watches as other on other.id = test.line_id
            where other.organization_id = due.organization_id
              and test.at > ${shifted(now, -HOUR_MS)}
          ) < ${CALLS_PER_HOUR_MAX}
        order by due.next_at limit 1 for update of due skip locked
      )
      returning line.*`.execute(db);
    const [row] = rows;
    return row === undefined ? undefined : toLine(row);
  }

  /** Moves a claimed line's next test call to `ms` from now: this one was not made. */
  async postpone(id: string, ms: number): Promise<void> {
    const { db, time } = this.#context;
    await db
      .updateTable('line_watches')
      .set({ next_at: shifted(time(), ms) })
      .where('id', '=', id)
      .execute();
  }

  /** Keeps what a test call found; a doubtful line is tested again after `retestMs`. Returns the line; undefined if it was
   *  deleted, or switched off, meanwhile. */
  async record(id: string, test: LineTest, retestMs: number): Promise<LineWatch | undefined> {
    const { db, time } = this.#context;
    const found = columnsOfTest(test);
    return await db.transaction().execute(async (tx) => {
      const before = await tx
        .selectFrom('line_watches')
        .selectAll()
        .where('id', '=', id)
        .where('is_enabled', '=', true)
        .forUpdate()
        .executeTakeFirst();
      if (before === undefined) return undefined;
      const { state, fault, failures } = stateAfter(before, test);
      const now = time();
      const row = await tx
        .updateTable('line_watches')
        .set({
          ...found,
          state,
          fault,
          failures,
          ...(state === before.state ? {} : { since: now }),
          ...(state === 'doubtful'
            ? { next_at: sql<Date>`least(next_at, ${shifted(now, retestMs)})` }
            : {}),
          tested_at: now,
          tested_by: this.#gateway,
        })
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirstOrThrow();
      await tx
        .insertInto('line_tests')
        .values({ line_id: id, at: now, ...found })
        .execute();
      await dropOld(tx, id);
      return toLine(row);
    });
  }

  /** The lines whose last test call this gateway has made: their state is its to export. */
  async exported(): Promise<LineWatch[]> {
    const rows = await this.#context.db
      .selectFrom('line_watches')
      .selectAll()
      .where('is_enabled', '=', true)
      .where('tested_by', '=', this.#gateway)
      .orderBy('id')
      .limit(LINES_EXPORTED_MAX)
      .execute();
    return rows.map(toLine);
  }

  /** Number of calls of customers that run over a configuration. */
  async placesTaken(configurationId: string): Promise<number> {
    const { rows } = await sql<{ count: string }>`
      select count(*) from runs
      where configuration_id = ${configurationId} and state <> 'completed' and not is_idle`.execute(
      this.#context.db,
    );
    return Number(rows[0]?.count ?? 0);
  }

  get #gateway(): string {
    const { node, gateway = node } = this.#context;
    return gateway;
  }
}

async function dropOld(tx: TransactionContext, lineId: string): Promise<void> {
  await sql`
    delete from line_tests where line_id = ${lineId} and id <= (
      select id from line_tests where line_id = ${lineId}
      order by id desc offset ${RESULTS_KEPT_MAX} limit 1
    )`.execute(tx);
}

function columnsOf(
  settings: LineSettings,
): Omit<
  Insertable<LineWatchTable>,
  'organization_id' | 'configuration_id' | 'next_at' | 'created_at' | 'updated_at'
> & { number: string | null; context: string | null } {
  const { name, kind, number, context, isEnabled, intervalMinutes, places, testsKeys } = settings;
  return {
    name: plainText(name),
    kind,
    number: number === null ? null : plainText(number),
    context: context === null ? null : plainText(context),
    is_enabled: isEnabled,
    interval_minutes: intervalMinutes,
    places,
    tests_keys: testsKeys,
  };
}

function columnsOfTest({ fault, message, delayMs, lossShare, codec }: LineTest) {
  const text = plainText(message).slice(0, MESSAGE_MAX);
  return { fault, message: text, delay_ms: delayMs, loss_share: lossShare, codec };
}

function toTest(row: Pick<Selectable<LineTestTable>, keyof LineTestTable>): KeptLineTest {
  const { at, fault, message, delay_ms: delayMs, loss_share: lossShare, codec } = row;
  return { at, fault, message, delayMs, lossShare, codec };
}

function toLine(row: Selectable<LineWatchTable>): LineWatch {
  const { tested_at: at, message, delay_ms: delayMs, loss_share: lossShare, codec, fault } = row;
  return {
    id: row.id,
    organizationId: row.organization_id,
    configurationId: row.configuration_id,
    name: row.name,
    kind: row.kind,
    number: row.number,
    context: row.context,
    isEnabled: row.is_enabled,
    intervalMinutes: row.interval_minutes,
    places: row.places,
    testsKeys: row.tests_keys,
    state: row.state,
    fault,
    failures: row.failures,
    since: row.since,
    nextAt: row.next_at,
    lastTest: at === null ? null : { at, fault, message: message ?? '', delayMs, lossShare, codec },
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
