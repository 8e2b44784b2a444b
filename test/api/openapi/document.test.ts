import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { isObject } from '../../../src/std/json.ts';
import { type Operation, operationsOf, referencesIn } from '../operations.ts';
import { withApi } from '../served.ts';

const served = withApi();
/** A verb, and what it is done to. */
const SUMMARY = /^[A-Z][a-z]+( [\w()-]+){1,7}$/;
type Json = Record<string, Record<string, unknown>>;
type Shared = Record<string, { description: string }>;
const document = async (): Promise<Record<string, unknown>> =>
  (await served.call('GET', '/api/v1/openapi.json', { key: null })).body;

describe("the API's description", () => {
  it('is OpenAPI 3.1 and names the service', async () => {
    expect(await document()).toMatchObject({
      openapi: '3.1.0',
      info: { title: 'Patchbay', version: '1.2.3' },
      servers: [{ url: 'https://gw.example.com' }],
    });
  });

  it('has every operation that the main job needs', async () => {
    const operations = operationsOf(await document()).map(
      ({ method, path }) => `${method} ${path}`,
    );
    expect(operations).toEqual(
      expect.arrayContaining([
        'get /api/v1/health',
        'post /api/v1/user/api-keys',
        'post /api/v1/organizations/telephony-configs',
        'put /api/v1/organizations/telephony-configs/{config_id}',
        'post /api/v1/organizations/telephony-configs/{config_id}/set-default-outbound',
        'post /api/v1/organizations/telephony-configs/{config_id}/phone-numbers',
        'post /api/v1/workflow/create/definition',
        'get /api/v1/workflow/fetch/{workflow_id}',
        'put /api/v1/workflow/{workflow_id}',
        'post /api/v1/workflow/{workflow_id}/publish',
        'post /api/v1/public/agent/workflow/{workflow_uuid}',
        'post /api/v1/public/agent/{uuid}',
        'get /api/v1/workflow/{workflow_id}/runs/{run_id}',
        'get /api/v1/s3/signed-url',
        'post /api/v1/telephony/inbound/run',
        'post /api/v1/telephony/inbound/{workflow_id}',
      ]),
    );
  });

  it('is whole: ids are single, parameters declared, references lead somewhere', async () => {
    const whole = await document();
    const operations = operationsOf(whole);
    const ids = operations.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(operations.length);
    for (const operation of operations) expect(faultsOf(operation), operation.path).toEqual([]);
    for (const reference of referencesIn(whole)) {
      const found = reference
        .replace(/^#\//, '')
        .split('/')
        .reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), whole);
      expect(found, reference).toBeDefined();
    }
  });

  it('says what each operation does in the usual form, and when each error comes', async () => {
    for (const operation of operationsOf(await document())) {
      const { operationId, summary, description, responses } = operation;
      expect([operationId, summary]).toEqual([operationId, expect.stringMatching(SUMMARY)]);
      expect(description.length, operationId).toBeGreaterThan(10);
      for (const [status, response] of Object.entries(responses)) {
        if (Number(status) >= 400 && Number(status) !== 416) {
          expect([operationId, status, Object.keys(response)]).toEqual([
            operationId,
            status,
            ['$ref'],
          ]);
        }
      }
    }
    const { components } = (await document()) as { components: { responses: Shared } };
    for (const [name, { description }] of Object.entries(components.responses)) {
      expect(description, name).not.toMatch(/\{\w+\}/);
    }
  });

  it('has parameters in paths that are texts, under the names of the specification', async () => {
    const inPaths = operationsOf(await document()).flatMap(({ path, parameters }) =>
      parameters.filter((each) => each.in === 'path').map((each) => ({ path, ...each })),
    );
    for (const { path, name, schema } of inPaths) {
      expect([path, name, schema]).toEqual([
        path,
        name,
        expect.objectContaining({ type: 'string' }),
      ]);
    }
    const names = new Set(inPaths.map(({ name }) => name));
    for (const name of ['config_id', 'workflow_uuid', 'uuid', 'workflow_id', 'run_id']) {
      expect(names).toContain(name);
    }
  });

  it('has the variants of a configuration under their tag, with its default', async () => {
    const whole = await document();
    const create = operationsOf(whole).find(({ operationId }) =>
      operationId.startsWith('createTelephony'),
    );
    expect(JSON.stringify(create?.body)).toContain('"discriminator":{"propertyName":"provider"');
    const schemas = (whole['components'] as { schemas: Json }).schemas;
    expect(schemas['TwilioConfigurationRequest']?.['properties']).toMatchObject({
      provider: { const: 'twilio', default: 'twilio' },
      from_numbers: { description: expect.stringContaining('ignored') },
    });
  });

  it('has for a file that is sent the parameters that its link has', async () => {
    const put = operationsOf(await document()).find(({ operationId }) => operationId === 'putFile');
    expect(put?.parameters.map(({ name }) => name).sort()).toEqual([
      'expires',
      'key',
      'signature',
      'size',
      'type',
    ]);
  });

  it('names the types of answers that are no JSON', async () => {
    const operations = operationsOf(await document());
    const typesOf = (id: string) => {
      const found = operations.find(({ operationId }) => operationId === id);
      return Object.keys(found?.responses['200']?.content ?? {});
    };
    for (const id of ['downloadWorkflowReport', 'downloadUsageReport']) {
      expect([id, typesOf(id)]).toEqual([id, ['text/csv']]);
    }
    for (const id of ['watchRun', 'watchCalls']) {
      expect([id, typesOf(id)]).toEqual([id, ['text/event-stream']]);
    }
  });

  it('holds schemas that are JSON Schema 2020-12', async () => {
    const whole = await document();
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema(whole, 'api');
    for (const { schemas, path } of operationsOf(whole)) {
      for (const schema of schemas)
        expect(() => ajv.validateSchema(schema, true), path).not.toThrow();
    }
  });

  it('says which operations want a key', async () => {
    const open = operationsOf(await document())
      .filter(({ security }) => Array.isArray(security) && security.length === 0)
      .map(({ path }) => path.replace('/api/v1', ''));
    expect(open.sort()).toEqual([
      '/auth/login',
      '/auth/signup',
      '/files/{key}',
      '/files/{key}',
      '/health',
      '/health/active-calls',
      '/health/autoscale-metric',
      '/health/cluster',
      '/public/download/workflow/{token}/{artifact_type}',
      '/telephony/inbound/fallback',
      '/telephony/inbound/run',
      '/telephony/inbound/{workflow_id}',
      '/telephony/transfer-result/{transfer_id}',
      '/telephony/twilio/answered-by/{workflow_run_id}',
      '/telephony/twilio/status-callback/{workflow_run_id}',
      '/telephony/twiml',
      '/telephony/waiting-sound.wav',
      '/telephony/{provider}/answer/{workflow_run_id}',
      '/telephony/{provider}/resume/{workflow_run_id}',
      '/telephony/{provider}/wait/{workflow_run_id}',
      '/user/configurations/defaults',
      '/workflow/templates',
    ]);
  });
});

function faultsOf({
  path,
  parameters,
  responses,
  operationId,
  tags,
  summary,
}: Operation): string[] {
  const inPath = [...path.matchAll(/\{(.+?)\}/g)].map(([, name]) => name);
  const declared = parameters.filter((each) => each.in === 'path').map(({ name }) => name);
  const undeclared = inPath.filter((name) => !declared.includes(name ?? ''));
  return [
    ...undeclared.map((name) => `${name} is not declared`),
    ...(Object.keys(responses).length > 0 ? [] : ['no responses']),
    ...(operationId && summary && tags.length === 1 ? [] : ['no name, summary or tag']),
  ];
}
