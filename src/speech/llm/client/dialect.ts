// Dialect of a server: the request fields that it has refused. It is learned from refusals and kept for the process, so
// that later clients of the same service do not repeat the failed request.

import { createHash } from 'node:crypto';

export interface Dialect {
  /** Fields that the server does not accept. */
  without: Set<string>;
  /** Whether the server wants the other name of a field that has two. */
  renamed: boolean;
}

/** An optional request field, and the text by which a refusal names it. */
export type OptionalField = readonly [field: string, named: RegExp];

export interface DialectRules {
  optional: readonly OptionalField[];
  /** Text by which a refusal names the field that has two names. */
  renamed?: RegExp;
}

/** Dialects of one process. Each belongs to a server, key and model, so that one account's configuration never changes
 *  the requests of another. */
const DIALECTS_MAX = 500;

const known = new Map<string, Dialect>();

export function dialectOf(baseUrl: string, model: string, apiKey: string | undefined): Dialect {
  const account = createHash('sha256')
    .update(apiKey ?? '')
    .digest('base64');
  const key = `${baseUrl} ${account} ${model}`;
  const dialect = known.get(key) ?? { without: new Set(), renamed: false };
  if (!known.has(key) && known.size >= DIALECTS_MAX) known.clear();
  known.set(key, dialect);
  return dialect;
}

/** Adapts `dialect` to a refusal. Returns whether the request may succeed in the new form. `said`: the server's
 *  text. */
export function adaptDialect(dialect: Dialect, said: string, rules: DialectRules): boolean {
  if (!dialect.renamed && rules.renamed?.test(said)) {
    dialect.renamed = true;
    return true;
  }
  const refused = rules.optional.find(
    ([field, named]) => !dialect.without.has(field) && named.test(said),
  );
  if (refused === undefined) return false;
  dialect.without.add(refused[0]);
  return true;
}
