import { Ajv2020 } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isObject } from '../../src/std/json.ts';
import { type Operation, operationsOf } from './operations.ts';
import { smallWorkflow, twilioConfig, withApi } from './served.ts';

const served = withApi();
const REQUESTS_PER_OPERATION = 12;
const PBX_PASSWORD = 'the-password-of-the-pbx';

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

describe('any request', () => {
  it('is answered below 500, in a shape that the description declares, without a stored secret', async () => {
    const { body: document } = await served.call('GET', '/api/v1/openapi.json');
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema(document, 'api');
    await seed();
    for (const operation of operationsOf(document)) {
      const check = async (request: Request): Promise<void> => {
        const answer = await served.api.inject({
          method: request.method as 'GET',
          url: request.url,
          headers: { 'x-api-key': served.test.apiKey, 'content-type': 'application/json' },
          ...(request.payload === undefined ? {} : { payload: request.payload }),
        });
        const what = `${request.method} ${request.url}: ${answer.statusCode} ${answer.payload}`;
        expect(answer.statusCode, what).toBeLessThan(500);
        expect(answer.payload).not.toContain(PBX_PASSWORD);
        if (!String(answer.headers['content-type']).startsWith('application/json')) return;
        const schema = schemaOf(operation, answer.statusCode);
        expect(schema, what).toBeDefined();
        const validate = ajv.getSchema(`api${schema}`);
        expect(
          validate?.(JSON.parse(answer.payload)),
          `${what} ${JSON.stringify(validate?.errors)}`,
        ).toBe(true);
      };
      await fc.assert(fc.asyncProperty(requestFor(operation), check), {
        numRuns: REQUESTS_PER_OPERATION,
      });
    }
  }, 60_000);
});

async function seed(): Promise<void> {
  const { store, owner } = served.test;
  const workflow = await served.ok('POST', '/workflow/create/definition', {
    name: 'a',
    workflow_definition: smallWorkflow,
  });
  const config = {
    provider: 'ari',
    ari_endpoint: 'http://pbx:8088',
    app_name: 'a',
    app_password: PBX_PASSWORD,
  };
  const { id } = await served.ok('POST', '/organizations/telephony-configs', { name: 'c', config });
  const numbers = `/organizations/telephony-configs/${id}/phone-numbers`;
  const number = await served.ok('POST', numbers, { address: '1001' });
  const run = await store.runs.create(
    {
      organizationId: owner.organizationId,
      workflowId: workflow.id,
      definitionId: workflow.current_definition_id,
      name: 'r',
      mode: 'ari',
      callType: 'inbound',
      configurationId: id,
      providerCallId: null,
      initialContext: {},
      gatheredContext: {},
      logs: {},
    },
    10,
  );
  const recordingKey = `recordings/${run.id}.wav`;
  await store.runs.patch(run.id, { recordingKey });
  const token = await store.runs.publicToken(run.id);
  known.push(workflow.id, id, number.id, run.id, recordingKey, token);
}

/** Where in the document the schema of a status is. */
function schemaOf({ path, method, responses }: Operation, status: number): string | undefined {
  if (responses[status]?.content?.['application/json'] === undefined) return undefined;
  const escaped = encodeURIComponent(path.replaceAll('/', '~1'));
  return `#/paths/${escaped}/${method}/responses/${status}/content/application~1json/schema`;
}
