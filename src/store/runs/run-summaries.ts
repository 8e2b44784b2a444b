// Summaries of runs that are over (migrations/036): written in the statement that completes the run, and read with
// lists of all runs.

import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { type RunSummary, searchWords } from '../../model/run-summary.ts';

/** Characters from which a word of a search also finds the words that it begins; shorter ones begin too many. */
const PREFIX_CHARACTERS_MIN = 3;

/** Part of the statement that completes run `id`: stores its summary, unless it has one or `isBarred` holds. */
export function summarizing(
  id: string,
  { attention, faults, answers, endedBy, words }: RunSummary,
  isBarred: RawBuilder<SqlBool>,
): RawBuilder<unknown> {
  return sql`summarized as (
    insert into run_summaries (run_id, organization_id, created_at, attention, faults,
      answer_p50_ms, answer_p95_ms, answer_max_ms, ended_by, words)
    select id, organization_id, created_at,
      ${attention.length === 0 ? null : [...attention]}::text[], ${faults}::integer,
      ${answers?.p50Ms ?? null}::integer, ${answers?.p95Ms ?? null}::integer,
      ${answers?.maxMs ?? null}::integer, ${endedBy}::text,
      array_to_tsvector(${[...words]}::text[])
    from runs where id = ${id} and not ${isBarred}
    on conflict (run_id) do nothing
  )`;
}

/** Condition for the runs whose summary has all words of `text`; undefined for a text without words. A word of three
 *  characters or more also finds the words that it begins. */
export function hasWords(text: string): RawBuilder<SqlBool> | undefined {
  const words = searchWords([text]);
  if (words.length === 0) return undefined;
  // Words have letters and digits only: nothing in them is an operator.
  const query = words.map((word) => (isLong(word) ? `'${word}':*` : `'${word}'`)).join(' & ');
  return sql<SqlBool>`words @@ ${query}::tsquery`;
}

function isLong(word: string): boolean {
  return word.length >= PREFIX_CHARACTERS_MIN;
}
