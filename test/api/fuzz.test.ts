// Requests of every operation, made from the API's own description, and good ones with one thing wrong.

import { Ajv2020 } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { serviceProblem } from '../../src/model/speech-services/services-refused.ts';
import { isObject } from '../../src/std/json.ts';
import { rounds } from '../rounds.ts';
import type { Example } from './example.ts';
import { type Operation, operationsOf } from './operations.ts';
import { smallWorkflow, twilioConfig, withApi } from './served.ts';
import { makeWorld, SECRETS } from './world.ts';

const served = withApi();
/** Requests of either kind for every operation. */
const REQUESTS_PER_OPERATION = rounds(4, 15);

/** Names of rows that are there. */
const known: string[] = ['1'];

const text = fc.oneof(
  fc.nat().map((n) => known[n % known.length] ?? '1'),
  fc.constantFrom('', '1', '2', '-1', '0', 'x', '+15550100', 'recording', 'active', 'null', 'NaN'),
  fc.constantFrom('\u0000', '\ud800', '__proto__', '9'.repeat(30), '[{"attribute":"duration"}]'),
  fc.string({ maxLength: 20, unit: 'grapheme' }),
);
const json = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  text,
  fc.constantFrom<unknown>({}, [], null, smallWorkflow, twilioConfig('http://127.0.0.1:9'), 1e300),
);

/** Values that fit the schema's outline, and some that do not. */
function valueFor(schema: unknown, depth = 0): fc.Arbitrary<unknown> {
  if (!isObject(schema) || depth > 4) return json;
  const branches = schema['oneOf'] ?? schema['anyOf'];
  if (Array.isArray(branches)) {
    return fc.oneof(...branches.map((branch) => valueFor(branch, depth + 1)));
  }
  const fitting = fittingValue(schema, depth);
  return fc.oneof({ weight: 9, arbitrary: fitting }, { weight: 1, arbitrary: json });
}

function fittingValue(schema: Record<string, unknown>, depth: number): fc.Arbitrary<unknown> {
  if ('const' in schema) return fc.constant(schema['const']);
  if (Array.isArray(schema['enum'])) return fc.constantFrom(...schema['enum']);
  switch (schema['type']) {
    case 'object':
      return objectFor(schema, depth);
    case 'array':
      return fc.array(valueFor(schema['items'], depth + 1), { maxLength: 3 });
    case 'string':
      return text;
    case 'integer':
      return fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer());
    case 'number':
      return fc.double();
    case 'boolean':
      return fc.boolean();
    default:
      return json;
  }
}

function objectFor(schema: Record<string, unknown>, depth: number): fc.Arbitrary<unknown> {
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const members = Object.entries(properties).map(([name, each]) => [
    name,
    fc.option(valueFor(each, depth + 1), { nil: undefined, freq: 8 }),
  ]);
  const known: fc.Arbitrary<object> = fc.record(Object.fromEntries(members));
  return fc
    .tuple(known, fc.dictionary(text, json, { maxKeys: 2 }))
    .map(([own, more]) => ({ ...more, ...own }));
}

interface Request {
  method: string;
  url: string;
  payload: string | undefined;
}

function requestFor({ method, path, parameters, body }: Operation): fc.Arbitrary<Request> {
  const of = (place: string) =>
    fc.record(
      Object.fromEntries(
        parameters.filter((each) => each.in === place).map(({ name }) => [name, text]),
      ),
    );
  const payload = body === undefined ? fc.constant(undefined) : valueFor(body);
  return fc.tuple(of('path'), of('query'), payload).map(([pieces, query, value]) => {
    const filled = path.replace(/\{(.+?)\}/g, (_all, name: string) =>
      encoded(segment(String(pieces[name]))),
    );
    const search = Object.entries(query).map(([name, each]) => `${name}=${encoded(String(each))}`);
    return {
      method: method.toUpperCase(),
      url: search.length === 0 ? filled : `${filled}?${search.join('&')}`,
      payload: value === undefined ? undefined : JSON.stringify(value),
    };
  });
}

/** A piece of a path. Empty ones and dots would name another path before the gateway sees them. */
function segment(piece: string): string {
  return /^\.*$/.test(piece) ? `1${piece}` : piece;
}

function encoded(piece: string): string {
  return encodeURIComponent(Buffer.from(piece).toString());
}

/** The example with one value changed, anywhere in its path, query or body. */
function spoiled(operation: Operation, example: Example): fc.Arbitrary<Request> {
  const { path = {}, query = {}, body } = example;
  const whole = { path, query, ...(body === undefined ? {} : { body }) };
  const spots = spotsOf(whole).filter(([place, name]) => place === 'body' || name !== undefined);
  return fc.tuple(fc.nat(), json).map(([pick, value]) => {
    const changed = structuredClone(whole);
    const spot = spots[pick % Math.max(1, spots.length)];
    if (spot !== undefined) {
      const piece = typeof value === 'string' ? value : JSON.stringify(value).slice(0, 100);
      change(changed, spot, spot[0] === 'body' ? value : segment(piece));
    }
    return requestOf(operation, changed);
  });
}

/** Where in the body there is a value, as paths of keys. */
function spotsOf(body: object, above: string[] = []): string[][] {
  return Object.entries(body).flatMap(([key, value]) => {
    const here = [...above, key];
    return typeof value === 'object' && value !== null ? [here, ...spotsOf(value, here)] : [here];
  });
}

function change(body: Record<string, unknown>, [...spot]: string[], value: unknown): void {
  const last = spot.pop() ?? '';
  const holder = spot.reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], body);
  (holder as Record<string, unknown>)[last] = value;
}

function requestOf(
  { method, path }: Operation,
  { path: pieces = {}, query = {}, body }: Example,
): Request {
  const filled = path.replace(/\{(.+?)\}/g, (_all, name: string) => encoded(pieces[name] ?? '1'));
  const search = Object.entries(query).map(([name, each]) => `${name}=${encoded(each)}`);
  return {
    method: method.toUpperCase(),
    url: search.length === 0 ? filled : `${filled}?${search.join('&')}`,
    payload: body === undefined ? undefined : JSON.stringify(body),
  };
}

interface Described {
  components: {
    responses: Record<
      string,
      {
        content: {
          'application/json': {
            example?: { code: string };
            examples?: Record<string, { value: { code: string } }>;
          };
        };
      }
    >;
  };
}

describe('any request', () => {
  it('is answered below 500, in a shape that the description declares, without a stored secret', async () => {
    const { body: document } = await served.call('GET', '/api/v1/openapi.json');
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema(document, 'api');
    const world = await makeWorld(served);
    known.push(...world.ids);
    let asked = 0;
    for (const operation of inOrder(operationsOf(document).filter(isShort))) {
      const check = async (request: Request): Promise<void> => {
        asked += 1;
        const answer = await served.api.inject({
          method: request.method as 'GET',
          url: request.url,
          headers: { 'x-api-key': served.test.apiKey, 'content-type': 'application/json' },
          ...(request.payload === undefined ? {} : { payload: request.payload }),
        });
        const what = `${request.method} ${request.url} ${request.payload}: ${answer.statusCode} ${answer.payload}`;
        expect(answer.statusCode, what).toBeLessThan(500);
        expectNoSecret(answer.payload, what);
        if (!String(answer.headers['content-type']).startsWith('application/json')) return;
        const body = JSON.parse(answer.payload);
        if (answer.statusCode >= 400) {
          expect(codesOf(document, operation, answer.statusCode), what).toContain(body.code);
          expectFault(body, what);
        }
        const schema = schemaOf(operation, answer.statusCode);
        expect(schema, what).toBeDefined();
        const validate = ajv.getSchema(`api${schema}`);
        expect(validate?.(body), `${what} ${JSON.stringify(validate?.errors)}`).toBe(true);
      };
      const example = world.examples[operation.operationId];
      const runs = { numRuns: REQUESTS_PER_OPERATION };
      await fc.assert(fc.asyncProperty(requestFor(operation), check), runs);
      if (example === undefined) continue;
      await fc.assert(fc.asyncProperty(spoiled(operation, example), check), runs);
    }
    expect(asked).toBeGreaterThanOrEqual(200 * REQUESTS_PER_OPERATION);
    expectNoSecret(JSON.stringify(served.test.lines()), 'the log');
  }, 300_000);
});

/** A stream stays open for as long as it is asked to: event-streams.test.ts and event-stream-routes.test.ts are about them. */
function isShort({ responses }: Operation): boolean {
  return responses[200]?.content?.['text/event-stream'] === undefined;
}

/** Deletions last, children before their parents: until then there is something to work on. */
function inOrder(operations: Operation[]): Operation[] {
  const rank = ({ method, path }: Operation): number =>
    method === 'delete' ? 1_000 - path.length : 0;
  return operations.toSorted((a, b) => rank(a) - rank(b));
}

function expectNoSecret(text: string, what: string): void {
  for (const secret of Object.values(SECRETS)) expect(text.includes(secret), what).toBe(false);
}

/** The shape of the specification's §7, where `detail` is a list. */
function expectFault(body: { detail: unknown }, what: string): void {
  if (!Array.isArray(body.detail)) return;
  expect(body.detail.length, what).toBeGreaterThan(0);
  for (const fault of body.detail) {
    // What is wrong with a speech service is said in the reference's own shape (contract §10.4).
    if (isServiceProblem(fault)) continue;
    expect(fault, what).toMatchObject({ type: expect.any(String), msg: expect.any(String) });
    expect(['body', 'path', 'query', 'header'], what).toContain(fault.loc[0]);
  }
}

function isServiceProblem(fault: unknown): boolean {
  return serviceProblem.strict().safeParse(fault).success;
}

/** The codes that the document has for a status of an operation. */
function codesOf(document: Described, { responses }: Operation, status: number): string[] {
  const name = responses[status]?.$ref?.split('/').at(-1) ?? '';
  const content = document.components.responses[name]?.content['application/json'];
  const examples = Object.values(content?.examples ?? {}).map(({ value }) => value);
  return [...examples, content?.example].flatMap((body) => body?.code ?? []);
}

/** Where in the document the schema of a status is. */
function schemaOf({ path, method, responses }: Operation, status: number): string | undefined {
  const { $ref: shared, content } = responses[status] ?? {};
  if (shared !== undefined) return `${shared}/content/application~1json/schema`;
  if (content?.['application/json'] === undefined) return undefined;
  const escaped = encodeURIComponent(path.replaceAll('/', '~1'));
  return `#/paths/${escaped}/${method}/responses/${status}/content/application~1json/schema`;
}
