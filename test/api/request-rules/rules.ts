// The rules of every request as the API's description has them: one for each field of a body, query or header. In text
// (rules.txt) they are the contract's: a bound that is loosened or tightened is a change of that file, which
// `npx vitest run -u test/api/request-rules` writes.

import { isObject } from '../../../src/std/json.ts';
import { type Operation, operationsOf } from '../operations.ts';

export type Schema = Record<string, unknown>;

/** A field, and what the description says of it. */
export interface Rule {
  /** `body.config.<twilio>.auth_token`: `<…>` is the branch of a tagged union, 0 the first item of a list. */
  place: string;
  isRequired: boolean;
  /** Keywords of JSON Schema; of a tagged union `tag` and `tags`. */
  keywords: Schema;
}

/** What a rule is made of. The rest describes. */
const KEYWORDS = [
  ...['type', 'const', 'enum', 'minLength', 'maxLength', 'pattern', 'format'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'minItems', 'maxItems'],
];
const DEPTH_MAX = 14;

/** A schema without its references; `isNullable` if null fits beside it. */
export function plain(document: Schema, schema: unknown): { schema: Schema; isNullable: boolean } {
  if (!isObject(schema)) return { schema: {}, isNullable: false };
  if (typeof schema['$ref'] === 'string') {
    const pieces = schema['$ref'].slice(2).split('/');
    return plain(
      document,
      pieces.reduce<unknown>((at, key) => (at as Schema)[key], document),
    );
  }
  const branches = schema['anyOf'];
  if (!Array.isArray(branches)) return { schema, isNullable: false };
  const values = branches.filter((each) => each.type !== 'null' && !isWithoutTag(each));
  if (values.length !== 1) return { schema: {}, isNullable: values.length < branches.length };
  return { schema: plain(document, values[0]).schema, isNullable: true };
}

/** Whether it is the form of a tagged union that has no tag: the gateway adds the tag, and checks it as the others. */
function isWithoutTag({ properties }: Schema): boolean {
  const tag = isObject(properties) ? properties['provider'] : undefined;
  return isObject(tag) && tag['type'] === 'null';
}

/** The branches of a tagged union by their tags, and the field that holds the tag. */
export function unionOf(document: Schema, { oneOf }: Schema) {
  if (!Array.isArray(oneOf)) return undefined;
  const branches = oneOf.map((each) => plain(document, each).schema);
  const tagsOf = (name: string) =>
    branches.map((branch) => {
      const field = (branch['properties'] as Record<string, Schema>)[name];
      return field?.['const'] ?? (field?.['enum'] as string[] | undefined)?.[0];
    });
  const tag = ['provider', 'type'].find((name) => !tagsOf(name).includes(undefined));
  if (tag === undefined) throw new Error(`a union without a tag: ${JSON.stringify(oneOf)}`);
  const byTag = new Map(tagsOf(tag).map((each, i) => [String(each), branches[i] ?? {}]));
  return { tag, byTag };
}

export function rulesOf(document: Schema, { parameters, body }: Operation): Rule[] {
  const rules: Rule[] = [];
  const add = (place: string, field: unknown, isRequired: boolean, depth = 0): void => {
    const { schema, isNullable } = plain(document, field);
    const union = unionOf(document, schema);
    rules.push({ place, isRequired, keywords: keywordsOf(schema, isNullable, union) });
    if (depth > DEPTH_MAX) return;
    for (const [tag, branch] of union?.byTag ?? []) {
      addFields(`${place}.<${tag}>`, branch, depth, union?.tag);
    }
    addFields(place, schema, depth);
    if (schema['items'] !== undefined) add(`${place}.0`, schema['items'], false, depth + 1);
  };
  const addFields = (place: string, schema: Schema, depth: number, tag?: string): void => {
    const required = (schema['required'] ?? []) as string[];
    for (const [name, each] of Object.entries((schema['properties'] ?? {}) as Schema)) {
      if (name !== tag) add(`${place}.${name}`, each, required.includes(name), depth + 1);
    }
    const { additionalProperties: values } = schema;
    if (isObject(values) && values['type'] !== undefined) {
      add(`${place}.any-key`, values, false, depth + 1);
    }
  };
  for (const { in: part, name, schema, required } of parameters) {
    if (part !== 'path') add(`${part}.${name}`, schema, required === true);
  }
  if (body !== undefined) add('body', body, !plain(document, body).isNullable);
  return rules;
}

function keywordsOf(
  schema: Schema,
  isNullable: boolean,
  union: ReturnType<typeof unionOf>,
): Schema {
  const found = Object.fromEntries(
    KEYWORDS.filter((name) => name in schema).map((name) => [name, schema[name]]),
  );
  if (union !== undefined) {
    Object.assign(found, { type: 'object', tag: union.tag, tags: [...union.byTag.keys()] });
  }
  if (schema['propertyNames'] !== undefined) found['type'] = 'record';
  else if (schema['additionalProperties'] !== undefined) {
    found['unknown'] = schema['additionalProperties'] === false ? 'refused' : 'kept';
  }
  if (isNullable) found['type'] = [found['type'], 'null'].flat();
  return found;
}

/** Rules in text: those of operations that have equal ones stand together, under the names of the operations. */
export function rulesInText(document: Schema): string {
  const users = new Map<string, string[]>();
  for (const operation of operationsOf(document)) {
    for (const { place, isRequired, keywords } of rulesOf(document, operation)) {
      const line = `${place}${isRequired ? '!' : ''} ${JSON.stringify(keywords)}`;
      users.set(line, [...(users.get(line) ?? []), operation.operationId]);
    }
  }
  const sections = new Map<string, string[]>();
  for (const [line, operations] of users) {
    const name = operations.join(' ');
    sections.set(name, [...(sections.get(name) ?? []), line]);
  }
  return [...sections].map(([name, lines]) => `${[name, ...lines].join('\n  ')}\n`).join('\n');
}

/** What `rulesInText` wrote, by operation. */
export function rulesFromText(text: string): Map<string, Rule[]> {
  const rules = new Map<string, Rule[]>();
  for (const section of text.split('\n\n')) {
    const [names = '', ...lines] = section.trim().split('\n  ');
    for (const name of names.split(' ')) {
      rules.set(name, [...(rules.get(name) ?? []), ...lines.map(ruleFromLine)]);
    }
  }
  return rules;
}

function ruleFromLine(line: string): Rule {
  const [, place = '', mark, keywords = ''] = /^(\S+?)(!?) (.+)$/.exec(line) ?? [];
  return { place, isRequired: mark === '!', keywords: JSON.parse(keywords) };
}
