// Reports over the stored runs. Tables are read page by page behind a cursor; sums walk an index in pieces of some days
// each, so that other statements can run in between.

import { sql } from 'kysely';
import { type Run, reportColumns, runFields } from '../../model/run.ts';
import { isObject } from '../../std/json.ts';
import { isRowId } from '../db/column-values.ts';
import type { StoreContext } from '../db/store-context.ts';
import { isOwned, matchesFilter, namesRows } from './run-conditions.ts';
import { spansOfRuns } from './run-counts.ts';
import type { RunFilter, RunScope } from './run-filters.ts';
import { fieldsOf } from './runs.ts';

type ReportField = Exclude<(typeof reportColumns)[keyof typeof reportColumns], 'phoneNumber'>;

/** A completed call in a report: the fields of `reportColumns`, and more. */
export interface ReportRow extends Pick<Run, ReportField> {
  /** Number of the callee, or of the caller of an inbound call. */
  phoneNumber: string | null;
  durationS: number;
  /** Values by the name of the variable. */
  extracted: Record<string, unknown>;
  tags: string[];
  hasTranscript: boolean;
  hasRecording: boolean;
}

export interface UsageSums {
  calls: number;
  durationS: number;
  /** Tokens of language models. */
  tokens: number;
}

/** The time from `from` on and before `to`. */
export interface Span {
  from: Date;
  to: Date;
}

export interface DayOfCalls {
  calls: number;
  /** Most frequent first. */
  dispositions: { disposition: string; calls: number }[];
  /** Calls in each range of length; see `LENGTHS_S`. */
  lengths: number[];
}

/** Upper ends of the ranges of length, in seconds; the last range has none. */
export const LENGTHS_S = [10, 30, 60, 120, 180] as const;

const REPORT_FIELDS: readonly ReportField[] = Object.values(reportColumns).filter(
  (name) => name !== 'phoneNumber',
);

/** Rows of a page: some hundred kilobytes. */
const ROWS_MAX = 500;
/** Columns for variables in a table. Names come from agents, and models may invent some. */
const VARIABLES_MAX = 200;
/** Runs of one statement that searches variables, so that no other request waits long for the engine. */
const RUNS_LOOKED_AT_MAX = 1_000;
/** Runs that one statement sums up, in some five milliseconds. */
const RUNS_SUMMED_MAX = 20_000;
/** Different dispositions of a day that are counted. */
const DISPOSITIONS_MAX = 1_000;

const NOTHING: UsageSums = { calls: 0, durationS: 0, tokens: 0 };

interface Cursor {
  id: string;
  createdAt: Date;
}

export type ReportStore = Pick<ReportRepository, keyof ReportRepository>;

export class ReportRepository {
  readonly #context: StoreContext;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  /** One page of completed runs with a length, newest first, behind `after`; empty at the end. */
  async rows(
    scope: RunScope,
    filter: RunFilter,
    after: ReportRow | undefined,
  ): Promise<ReportRow[]> {
    if (!(await this.#mayMatch(scope, filter))) return [];
    const rows = await this.#finished(scope, filter, after)
      .select(REPORT_FIELDS.map((name) => runFields[name].column))
      .select('call_tags')
      .select((of) => [
        of('transcript_key', 'is not', null).as('has_transcript'),
        of('recording_key', 'is not', null).as('has_recording'),
        sql<unknown>`gathered_context -> 'extracted_variables'`.as('extracted'),
        sql<string | null>`coalesce(left(initial_context ->> 'phone_number', 255),
          case call_type when 'inbound' then caller_number else called_number end)`.as('number'),
      ])
      .limit(ROWS_MAX)
      .execute();
    return rows.map((row) => ({
      ...fieldsOf(REPORT_FIELDS, row),
      phoneNumber: row.number,
      durationS: row.duration_s ?? 0,
      extracted: isObject(row.extracted) ? row.extracted : {},
      tags: Array.isArray(row.call_tags) ? row.call_tags.map(String) : [],
      hasTranscript: Boolean(row.has_transcript),
      hasRecording: Boolean(row.has_recording),
    }));
  }

  /** Names of the variables that were extracted in those runs, sorted; at most two hundred. */
  async variables(scope: RunScope, filter: RunFilter): Promise<string[]> {
    if (!(await this.#mayMatch(scope, filter))) return [];
    const names = new Set<string>();
    let after: Cursor | undefined;
    do {
      const found: LookedThrough = await this.#variablesAfter(scope, filter, after);
      for (const name of found.names) if (names.size < VARIABLES_MAX) names.add(name);
      after = found.last;
    } while (after !== undefined && names.size < VARIABLES_MAX);
    return [...names].sort();
  }

  async #variablesAfter(
    scope: RunScope,
    filter: RunFilter,
    after: Cursor | undefined,
  ): Promise<LookedThrough> {
    const { db } = this.#context;
    const portion = this.#finished(scope, filter, after)
      .select(['id', 'created_at'])
      .select(sql<unknown>`gathered_context -> 'extracted_variables'`.as('extracted'))
      .limit(RUNS_LOOKED_AT_MAX);
    const rows = await db
      .with('portion', () => portion)
      .selectFrom('portion')
      .select((of) => [
        sql<string | null>`(array_agg(id order by created_at, id))[1]`.as('id'),
        sql<Date | null>`min(created_at)`.as('created_at'),
        of.fn.countAll<string>().as('looked_at'),
        sql<string[] | null>`(
          select array_agg(name) from (
            select distinct name from portion, jsonb_object_keys(
              case jsonb_typeof(extracted) when 'object' then extracted else '{}' end
            ) as name limit ${VARIABLES_MAX}
          ) as names)`.as('names'),
      ])
      .execute();
    const [row] = rows;
    const isWhole = row === undefined || Number(row.looked_at) < RUNS_LOOKED_AT_MAX;
    const { id = null, created_at: createdAt = null, names = null } = row ?? {};
    return {
      names: names ?? [],
      last: isWhole || id === null || createdAt === null ? undefined : { id, createdAt },
    };
  }

  /** Query for completed runs, newest first. A run without a length had no call. */
  #finished(scope: RunScope, filter: RunFilter, after: Cursor | undefined) {
    const finished = this.#context.db
      .selectFrom('runs')
      .where((of) => matchesFilter(of, scope, { ...filter, completed: true }))
      .where('duration_s', 'is not', null)
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc');
    if (after === undefined) return finished;
    return finished.where(sql<boolean>`(created_at, id) < (${after.createdAt}, ${after.id})`);
  }

  async #mayMatch(scope: RunScope, filter: RunFilter): Promise<boolean> {
    return namesRows(scope, filter) && (await isOwned(this.#context, scope));
  }

  /** Sums of every matching run. */
  async sums(scope: RunScope, filter: RunFilter): Promise<UsageSums> {
    if (!(await this.#mayMatch(scope, filter))) return NOTHING;
    const span = { from: filter.createdFrom, to: filter.createdTo, runs: RUNS_SUMMED_MAX };
    const sums: Summed[] = [];
    for (const piece of await spansOfRuns(this.#context, scope, span)) {
      sums.push(await this.#within(scope, filter, piece).select(SUMS).executeTakeFirstOrThrow());
    }
    return sumOf(sums);
  }

  /** Sums of each of `spans`, which follow one another. */
  async sumsBySpan(scope: RunScope, spans: readonly Span[]): Promise<UsageSums[]> {
    const [first] = spans;
    const last = spans.at(-1);
    if (first === undefined || last === undefined) return [];
    if (!(await this.#mayMatch(scope, {}))) return spans.map(() => NOTHING);
    const begins = spans.map(({ from }) => from);
    const whole = { from: first.from, to: last.to, runs: RUNS_SUMMED_MAX };
    const rows: (Summed & { span: number })[] = [];
    for (const piece of await spansOfRuns(this.#context, scope, whole)) {
      rows.push(
        ...(await this.#within(scope, {}, piece)
          .where('created_at', '>=', first.from)
          .where('created_at', '<', last.to)
          .select(sql<number>`width_bucket(created_at, ${begins}::timestamptz[])`.as('span'))
          .select(SUMS)
          .groupBy('span')
          .execute()),
      );
    }
    return spans.map((_span, i) => sumOf(rows.filter(({ span }) => Number(span) === i + 1)));
  }

  #within(scope: RunScope, filter: RunFilter, { from, to }: Span) {
    return this.#context.db
      .selectFrom('runs')
      .where((of) => matchesFilter(of, scope, filter))
      .where('created_at', '>=', from)
      .where('created_at', '<', to);
  }

  /** Sums of the completed runs that began in `span`. */
  async day(scope: RunScope, span: Span): Promise<DayOfCalls> {
    const lengths = [...LENGTHS_S, Number.POSITIVE_INFINITY].map(() => 0);
    if (!(await this.#mayMatch(scope, {}))) return { calls: 0, dispositions: [], lengths };
    const completed = this.#within(scope, { completed: true }, span);
    const byDisposition = await completed
      .select((of) => [
        of.fn.coalesce('disposition', sql<string>`'unknown'`).as('disposition'),
        of.fn.countAll<string>().as('calls'),
      ])
      .groupBy((of) => of.fn.coalesce('disposition', sql<string>`'unknown'`))
      .orderBy('calls', 'desc')
      .orderBy('disposition')
      .limit(DISPOSITIONS_MAX)
      .execute();
    const byLength = await completed
      .select((of) => [
        sql<number>`width_bucket(coalesce(duration_s, 0), ${[...LENGTHS_S]}::float8[])`.as('range'),
        of.fn.countAll<string>().as('calls'),
      ])
      .groupBy('range')
      .execute();
    for (const { range, calls } of byLength) lengths[Number(range)] = Number(calls);
    return {
      calls: lengths.reduce((sum, calls) => sum + calls, 0),
      dispositions: byDisposition.map((row) => ({ ...row, calls: Number(row.calls) })),
      lengths,
    };
  }

  /** Names of agents by id, without those of other organizations. */
  async workflowNames(
    organizationId: string,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, string>> {
    const wanted = ids.filter(isRowId);
    if (!isRowId(organizationId) || wanted.length === 0) return new Map();
    const rows = await this.#context.db
      .selectFrom('workflows')
      .select(['id', 'name'])
      .where('organization_id', '=', organizationId)
      .where('id', '=', (of) => of.fn.any(of.val(wanted)))
      .execute();
    return new Map(rows.map(({ id, name }) => [id, name]));
  }
}

interface Summed {
  calls: string;
  seconds: number;
  tokens: number;
}

const SUMS = [
  sql<string>`count(*)`.as('calls'),
  sql<number>`coalesce(sum(duration_s), 0)`.as('seconds'),
  sql<number>`coalesce(sum(tokens), 0)`.as('tokens'),
] as const;

function sumOf(pieces: readonly Summed[]): UsageSums {
  return pieces.reduce(
    (sum, { calls, seconds, tokens }) => ({
      calls: sum.calls + Number(calls),
      durationS: sum.durationS + Number(seconds),
      tokens: sum.tokens + Number(tokens),
    }),
    NOTHING,
  );
}

interface LookedThrough {
  names: string[];
  /** The oldest run of the piece; undefined at the end. */
  last: Cursor | undefined;
}
