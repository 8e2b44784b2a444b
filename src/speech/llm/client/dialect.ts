// The dialect of a server: what it has refused in requests. It is learned from the refusals and kept for the
// process, so that a service's next client does not lose the same round trip in a call.

import { createHash } from 'node:crypto';

export interface Dialect {
  /** Fields that the server does not accept. */
  without: Set<string>;
  /** The server wants the other name of a field that has two. */
  renamed: boolean;
}

/** Optional parts of a request, each with the words by which a refusal names it. */
export type OptionalField = readonly [field: string, named: RegExp];

export interface DialectRules {
  optional: readonly OptionalField[];
  /** By which a refusal names the field with two names. */
  renamed?: RegExp;
}

/** Dialects of one process: each belongs to a server, a key and a model, so that the odd configuration of one account
 *  changes no other's requests. */
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

/** Whether the request may succeed in another form, which is stored in `dialect`. `said` is the server's refusal. */
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
