// The API's description is no stricter than the gateway: what the gateway accepts fits the schema of its request.

import { Ajv2020 } from 'ajv/dist/2020.js';
import { beforeEach, expect, it } from 'vitest';
import { withApi } from '../served.ts';

const served = withApi();
const pbx = {
  provider: 'ari',
  ari_endpoint: 'http://pbx.example.com:8088',
  app_name: 'patchbay',
  app_password: 'password of ari.conf',
};
const ROOT = '/organizations/telephony-configs';
let path: Record<string, string>;

beforeEach(async () => {
  const { id } = await served.ok('POST', ROOT, { name: 'pbx', config: pbx });
  path = { config_id: id };
});

it.each([
  ['a file name in capitals', 'POST', '/s3/presigned-upload-url', file({ name: 'CONTACTS.CSV' })],
  ['a type in capitals', 'POST', '/s3/presigned-upload-url', file({ type: 'TEXT/CSV' })],
  [
    'a type of Windows',
    'POST',
    '/s3/presigned-upload-url',
    file({ type: 'application/vnd.ms-excel' }),
  ],
  [
    'a change without its provider',
    'PUT',
    `${ROOT}/{config_id}`,
    { config: { app_name: 'gateway' } },
  ],
  ['a change whose provider is null', 'PUT', `${ROOT}/{config_id}`, { config: { provider: null } }],
  [
    'numbers of old clients',
    'PUT',
    `${ROOT}/{config_id}`,
    { config: { ...pbx, from_numbers: null } },
  ],
  ['a day for a moment', 'PUT', '/user/onboarding-state', { completed_at: '2026-05-01' }],
  [
    'an offset without a colon',
    'PUT',
    '/user/onboarding-state',
    { completed_at: '2026-05-01T09:00+0200' },
  ],
  ['a method in small letters', 'POST', '/tools/', httpTool('post')],
] as const)('%s fits', async (_name, method, url, body) => {
  const filled = url.replace(/\{(\w+)\}/g, (_all, name: string) => path[name] ?? '');
  await served.ok(method, filled, body);
  const { body: document } = await served.call('GET', '/api/v1/openapi.json', { key: null });
  const ajv = new Ajv2020({ strict: false, validateFormats: true, formats });
  ajv.addSchema(document, 'api');
  const item =
    document.paths[`/api/v1${url.replace(/\/$/, '')}`] ?? document.paths[`/api/v1${url}`];
  const { schema } = item[method.toLowerCase()].requestBody.content['application/json'];
  const validate = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"api#/')));
  expect([validate(body), validate.errors]).toEqual([true, null]);
});

/** Formats as RFC 3339 and RFC 3986 define them. */
const formats = {
  uri: (text: string) => URL.canParse(text),
  email: /@/,
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/,
  date: /^\d{4}-\d\d-\d\d$/,
};

function file({ name = 'contacts.csv', type = 'text/csv' }) {
  return { file_name: name, file_size: 100, content_type: type };
}

function httpTool(method: string) {
  const config = { method, url: 'https://crm.example.com/' };
  return { name: 'Customers', definition: { type: 'http_api', config } };
}
