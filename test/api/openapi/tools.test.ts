// The API's description in the hands of the tools that people use: the linter of Redocly finds nothing, and
// openapi-typescript makes types from it with which a client compiles.

import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import openapiTS, { astToString } from 'openapi-typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withApi } from '../served.ts';

const run = promisify(execFile);
const RUN_MS_MAX = 120_000;
const served = withApi(() => ({ publicUrl: 'https://patchbay.test' }));
let folder: string;
let text: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'patchbay-openapi-'));
  ({ text } = await served.call('GET', '/api/v1/openapi.json', { key: null }));
  await writeFile(join(folder, 'openapi.json'), text);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** All recommended rules but two, which the reference platform's paths break: `/workflow/fetch/{id}` beside
 *  `/workflow/{id}/runs`, and the download of an artifact, which is answered by a redirect alone. */
const RULES = `extends:
  - recommended
rules:
  no-ambiguous-paths: off
  operation-2xx-response: off
`;

/** Starts a call and reads what became of it; a wrong field name must not compile. */
const CLIENT = `import type { components, operations, paths } from './api.ts';

type Json<T> = T extends { content: { 'application/json': infer Body } } ? Body : never;
type StartPath = '/api/v1/public/agent/workflow/{workflow_uuid}';
type Start = NonNullable<Json<NonNullable<paths[StartPath]['post']['requestBody']>>>;
type Started = Json<paths[StartPath]['post']['responses'][200]>;
type Run = Json<operations['getRun']['responses'][200]>;
type Twilio = components['schemas']['TwilioConfigurationRequest'];
type Create = Json<NonNullable<operations['createTelephonyConfiguration']['requestBody']>>;

export async function call(base: string, agent: string, key: string): Promise<Run> {
  const start: Start = { phone_number: '+14155550100', initial_context: { name: 'Jo' } };
  const config: Twilio = { provider: 'twilio', account_sid: 'AC1', auth_token: 'secret' };
  const create: Create = { name: 'main', config };
  // @ts-expect-error the field is phone_number
  const wrong: Start = { number: '+14155550100' };
  const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' };
  const send = (path: string, body: unknown): Promise<Response> =>
    fetch(base + path, { method: 'POST', headers, body: JSON.stringify(body) });
  await send('/api/v1/organizations/telephony-configs', create ?? wrong);
  const started: Started = await (await send('/api/v1/public/agent/workflow/' + agent, start)).json();
  const id: string = started.workflow_run_id;
  return (await fetch(base + '/api/v1/workflow/1/runs/' + id, { headers })).json() as Promise<Run>;
}
`;

describe("the API's description", () => {
  it('passes the linter of Redocly', { timeout: RUN_MS_MAX }, async () => {
    const config = join(folder, 'redocly.yaml');
    await writeFile(config, RULES);
    const args = ['lint', join(folder, 'openapi.json'), '--config', config, '--format', 'json'];
    const env = {
      ...process.env,
      REDOCLY_TELEMETRY: 'off',
      REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
    };
    const { stdout } = await run('node_modules/.bin/redocly', args, { env, timeout: RUN_MS_MAX });
    const { totals, problems } = JSON.parse(stdout);
    expect(problems).toEqual([]);
    expect(totals).toMatchObject({ errors: 0, warnings: 0 });
  });

  it('gives types with which a client compiles', { timeout: RUN_MS_MAX }, async () => {
    const types = astToString(await openapiTS(JSON.parse(text), { defaultNonNullable: false }));
    await writeFile(join(folder, 'api.ts'), types);
    await writeFile(join(folder, 'client.ts'), CLIENT);
    const options = ['--noEmit', '--strict', '--ignoreConfig', '--exactOptionalPropertyTypes'];
    const target = ['--target', 'es2023', '--module', 'nodenext', '--lib', 'es2023,dom'];
    const files = ['--allowImportingTsExtensions', join(folder, 'client.ts')];
    const args = [...options, ...target, ...files];
    await run('node_modules/.bin/tsc', args, { timeout: RUN_MS_MAX });
  });

  it('is smaller than 650 kB', () => {
    expect(text.length).toBeLessThan(650_000);
  });
});
