// Calls as CSV, read from the store page by page while they are sent: a hundred thousand calls use no more memory than
// a few hundred. Fields that a spreadsheet would run as a formula become text. Source: contract §9.11, RFC 4180.

import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { reportColumns } from '../../model/run.ts';
import { inOwnShare } from '../../std/work-share.ts';
import type { ReportRow } from '../../store/runs/reports.ts';
import type { RunFilter, RunScope } from '../../store/runs/run-filters.ts';
import { publicUrlOf } from '../files/run-artifacts.ts';
import type { ApiDeps } from '../http/api-deps.ts';
import { isoTime, momentIn } from '../http/values.ts';

const AFTER_VARIABLES = ['Call Tags', 'Transcript URL', 'Recording URL'] as const;

export const reportQuery = z.object({
  start_date: momentIn.optional().meta({
    description:
      'Only calls that were created from this moment on, in ISO 8601: a day is its first moment in UTC. Default: from the first call.',
  }),
  end_date: momentIn.optional().meta({
    description:
      'Only calls that were created until this moment, in ISO 8601: a day is its first moment in UTC. Default: until now.',
  }),
});

/** The response schema of a report. */
export const reportOut = {
  description: 'Completed calls that have a length, newest first, with a column for each variable.',
  content: { 'text/csv': { schema: z.string() } },
};

export function filterOf(query: z.infer<typeof reportQuery>): RunFilter {
  const { start_date: from, end_date: to } = query;
  return {
    ...(from === undefined ? {} : { createdFrom: from }),
    ...(to === undefined ? {} : { createdTo: to }),
  };
}

/** Sends the report; `name` is the file's name without extension. */
export function sendReport(
  deps: ApiDeps,
  reply: FastifyReply,
  report: { scope: RunScope; filter: RunFilter; name: string },
): FastifyReply {
  return reply
    .type('text/csv; charset=utf-8')
    .header('Content-Disposition', `attachment; filename="${report.name}.csv"`)
    .header('Cache-Control', 'no-store')
    .send(Readable.from(inOwnShare(reportLines(deps, report.scope, report.filter))));
}

/** The header line, then the lines of a page of calls at a time. */
export async function* reportLines(
  deps: Pick<ApiDeps, 'store' | 'publicUrl'>,
  scope: RunScope,
  filter: RunFilter,
): AsyncGenerator<string> {
  const { reports } = deps.store;
  const variables = await reports.variables(scope, filter);
  yield csvLine([...Object.keys(reportColumns), ...variables, ...AFTER_VARIABLES]);
  let rows = await reports.rows(scope, filter, undefined);
  while (rows.length > 0) {
    const urls = await urlsOf(deps, rows);
    yield rows.map((row) => lineOf(row, variables, urls)).join('');
    rows = await reports.rows(scope, filter, rows.at(-1));
  }
}

type Urls = (row: ReportRow, artifact: 'transcript' | 'recording') => string | null;

async function urlsOf(
  deps: Pick<ApiDeps, 'store' | 'publicUrl'>,
  rows: readonly ReportRow[],
): Promise<Urls> {
  const withFiles = rows.filter(({ hasTranscript, hasRecording }) => hasTranscript || hasRecording);
  const tokens = await deps.store.runs.publicTokens(withFiles.map(({ id }) => id));
  return (row, artifact) => {
    const token = tokens.get(row.id);
    const has = artifact === 'transcript' ? row.hasTranscript : row.hasRecording;
    return token === undefined || !has ? null : publicUrlOf(deps, token, artifact);
  };
}

function lineOf(row: ReportRow, variables: readonly string[], urls: Urls): string {
  return csvLine([
    ...Object.values(reportColumns).map((name) => cellOf(row[name])),
    ...variables.map((name) => (Object.hasOwn(row.extracted, name) ? row.extracted[name] : null)),
    row.tags.join(', '),
    urls(row, 'transcript'),
    urls(row, 'recording'),
  ]);
}

function cellOf(value: unknown): unknown {
  return value instanceof Date ? isoTime(value) : value;
}

/** Characters that may begin a formula, or hide one. */
const FORMULA = /^[=+\-@\t\r]/;
/** Numbers, including telephone numbers, that begin like formulas. */
const NUMBER = /^[+-]?\d{1,30}(\.\d{1,30})?$/;

/** One line with its end. Null is an empty field; objects and arrays are JSON. */
export function csvLine(fields: readonly unknown[]): string {
  return `${fields.map(csvField).join(',')}\r\n`;
}

function csvField(value: unknown): string {
  const text = harmless(textOf(value));
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function harmless(text: string): string {
  return FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
