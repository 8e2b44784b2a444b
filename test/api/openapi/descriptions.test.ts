// What the API's description says of fields: every field of a request and every parameter is described, and every
// number of a reply, since it has a unit.

import { describe, expect, it } from 'vitest';
import { isObject } from '../../../src/std/json.ts';
import { operationsOf } from '../operations.ts';
import { withApi } from '../served.ts';

const served = withApi();
type Json = Record<string, unknown>;

const document = async (): Promise<Json> =>
  (await served.call('GET', '/api/v1/openapi.json', { key: null })).body;

describe("the API's description", () => {
  it('describes every field of a request', async () => {
    const whole = await document();
    const bodies = operationsOf(whole).map(({ operationId, body }) => [operationId, body] as const);
    const fields = fieldsOf(whole, bodies);
    expect(fields.length).toBeGreaterThan(250);
    expect(undescribed(fields)).toEqual([]);
  });

  it('describes every parameter', async () => {
    const parameters = operationsOf(await document()).flatMap((operation) =>
      operation.parameters.map((each) => [`${operation.operationId} ${each.name}`, each] as const),
    );
    expect(parameters.length).toBeGreaterThan(180);
    expect(undescribed(parameters)).toEqual([]);
  });

  it('describes every response by more than the words of a tool', async () => {
    const own = operationsOf(await document()).flatMap(({ operationId, responses }) =>
      Object.entries(responses)
        .filter(([, response]) => response.$ref === undefined)
        .map(([status, response]) => [`${operationId} ${status}`, response] as const),
    );
    const said = own.map(([name, response]) => [name, (response as Json)['description']]);
    expect(said.filter(([, text]) => text === 'Default Response')).toEqual([]);
    expect(undescribed(own)).toEqual([]);
  });

  it('describes every number of a reply', async () => {
    const whole = await document();
    const bodies = operationsOf(whole).flatMap(({ operationId, responses }) =>
      Object.entries(responses)
        .filter(([status]) => status === '200')
        .flatMap(([, { content = {} }]) => Object.values(content))
        .map(({ schema }) => [operationId, schema] as const),
    );
    const numbers = fieldsOf(whole, bodies).filter(([, field]) => isNumber(field));
    expect(numbers.length).toBeGreaterThan(60);
    expect(undescribed(numbers)).toEqual([]);
  });
});

type Named = readonly [name: string, schema: unknown];

function undescribed(all: readonly Named[]): string[] {
  return all
    .filter(([, schema]) => !(isObject(schema) && String(schema['description'] ?? '').length > 4))
    .map(([name]) => name);
}

function isNumber(schema: unknown): boolean {
  const text = JSON.stringify(schema);
  return /"type":"(integer|number)"/.test(text) && !/"type":"(object|array|string)"/.test(text);
}

/** All fields of the schemas, those of fields too, under the names of the objects around them. A field that refers to a
 *  component has its description. */
function fieldsOf(whole: Json, schemas: readonly Named[]): Named[] {
  const found: Named[] = [];
  const seen = new Set<unknown>();
  const waiting = [...schemas];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [path, schema] = next;
    const whatItIs = resolved(whole, schema);
    if (!isObject(whatItIs) || seen.has(whatItIs)) continue;
    seen.add(whatItIs);
    const { properties, items, anyOf, oneOf, allOf } = whatItIs;
    for (const [name, field] of Object.entries(isObject(properties) ? properties : {})) {
      const own = isObject(field) && field['description'] !== undefined;
      found.push([`${path}.${name}`, own ? field : resolved(whole, field)]);
      waiting.push([`${path}.${name}`, field]);
    }
    for (const part of [items, anyOf, oneOf, allOf].flat()) waiting.push([path, part]);
  }
  return found;
}

function resolved(whole: Json, schema: unknown): unknown {
  const reference = isObject(schema) ? schema['$ref'] : undefined;
  if (typeof reference !== 'string') return schema;
  const { schemas } = whole['components'] as { schemas: Json };
  return schemas[reference.split('/').at(-1) ?? ''];
}
