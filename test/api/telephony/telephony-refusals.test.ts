// What telephony configurations and their trunks say to input that does not fit, row by row. Source:
// contract §4.1 and §4.2.

import { describe, expect, it } from 'vitest';
import { type ProviderName, providerName } from '../../../src/model/provider.ts';
import { PRIVATE_KEY_PEM } from '../../fakes/vonage/account.ts';
import { ACCOUNT, AUTH_TOKEN, twilioConfig, withApi } from '../served.ts';

const served = withApi();
const { call, ok } = served;
const ROOT = '/organizations/telephony-configs';
const missing = [404, 'Telephony configuration not found'];

/** The required fields of each variant. */
const required: Record<ProviderName, Record<string, string>> = {
  ari: { ari_endpoint: 'http://10.0.0.5:8088', app_name: 'gw', app_password: 's3cret-of-it' },
  cloudonix: { bearer_token: 's3cret-of-it', domain_id: 'acme' },
  plivo: { auth_id: 's3cret-of-it', auth_token: 's3cret-of-it' },
  telnyx: { api_key: 's3cret-of-it' },
  twilio: { account_sid: 's3cret-of-it', auth_token: 's3cret-of-it' },
  vobiz: { auth_id: 's3cret-of-it', auth_token: 's3cret-of-it' },
  vonage: {
    api_key: 's3cret-of-it',
    api_secret: 's3cret-of-it',
    application_id: 'a',
    private_key: PRIVATE_KEY_PEM,
  },
};

/** A dialler beside the PBX. */
const dialler = (more: object) => ({
  agent_api: { url: 'http://10.0.0.6', username: 'u', password: 'p' },
  ...more,
});

const create = (more: object = {}) =>
  ok('POST', ROOT, { name: 'main', config: twilioConfig(served.twilio.url), ...more });
const refusal = async (...request: Parameters<typeof call>) => {
  const [method, path, options] = request;
  const { status, body } = await call(method, `/api/v1${path}`, options);
  return [status, body.detail];
};
const firstFault = async (...request: Parameters<typeof call>) => {
  const [status, detail] = await refusal(...request);
  return [status, detail[0].type, detail[0].loc];
};

describe('a new telephony configuration', () => {
  it.each(providerName.options)('of %s is 422 without any one of its fields', async (provider) => {
    for (const field of Object.keys(required[provider])) {
      const { [field]: _left, ...config } = required[provider];
      const answer = await call('POST', `/api/v1${ROOT}`, {
        body: { name: 'x', config: { provider, ...config } },
      });
      expect([answer.status, answer.body.detail]).toEqual([
        422,
        [
          {
            type: 'missing',
            loc: ['body', 'config', provider, field],
            msg: 'Field required',
            input: expect.objectContaining({ provider }),
          },
        ],
      ]);
      expect(answer.text).not.toContain('s3cret-of-it');
    }
    expect(await ok('GET', ROOT)).toEqual({ configurations: [] });
  });

  it.each<[object, string, string[]]>([
    [{ config: required.ari }, 'missing', ['name']],
    [{ name: 5 }, 'string_type', ['name']],
    [{ name: null }, 'string_type', ['name']],
    [{ name: 'x' }, 'missing', ['config']],
    [{ name: 'x', config: 'twilio' }, 'model_attributes_type', ['config']],
    [{ name: 'x', config: null }, 'model_attributes_type', ['config']],
    [
      { name: 'x', config: { provider: 'twilio', ...required.twilio }, is_default_outbound: 'x' },
      'bool_type',
      ['is_default_outbound'],
    ],
    [
      { name: 'x', config: { provider: 'ari', ...required.ari, ari_endpoint: 'pbx' } },
      'url_parsing',
      ['config', 'ari', 'ari_endpoint'],
    ],
    [
      { name: 'x', config: { provider: 'vonage', ...required.vonage, signature_secret: 5 } },
      'string_type',
      ['config', 'vonage', 'signature_secret'],
    ],
    [
      { name: 'x', config: { provider: 'ari', ...required.ari, external_pbx: {} } },
      'missing',
      ['config', 'ari', 'external_pbx', 'agent_api'],
    ],
    [
      {
        name: 'x',
        config: { provider: 'ari', ...required.ari, external_pbx: dialler({ type: 'x' }) },
      },
      'literal_error',
      ['config', 'ari', 'external_pbx', 'type'],
    ],
    [
      {
        name: 'x',
        config: {
          provider: 'ari',
          ...required.ari,
          external_pbx: dialler({ timeout_seconds: 31 }),
        },
      },
      'less_than_equal',
      ['config', 'ari', 'external_pbx', 'timeout_seconds'],
    ],
  ])('of %j is 422', async (body, type, place) => {
    expect(await firstFault('POST', ROOT, { body })).toEqual([422, type, ['body', ...place]]);
  });
});

describe('a changed telephony configuration', () => {
  it.each<[object, string, string[]]>([
    [{ name: '' }, 'string_too_short', ['name']],
    [{ name: 'x'.repeat(65) }, 'string_too_long', ['name']],
    [{ config: { provider: 'nope' } }, 'union_tag_invalid', ['config']],
    [
      { config: { provider: 'twilio', auth_token: '' } },
      'string_too_short',
      ['config', 'twilio', 'auth_token'],
    ],
    [
      { config: { provider: 'twilio', auth_token: null } },
      'string_type',
      ['config', 'twilio', 'auth_token'],
    ],
  ])('is 422 with %j and stays as it was', async (body, type, place) => {
    const made = await create();
    const path = `${ROOT}/${made.id}`;
    expect(await firstFault('PUT', path, { body })).toEqual([422, type, ['body', ...place]]);
    expect(await ok('GET', path)).toEqual(made);
  });

  it('is 409 with the name of another, and stays as it was', async () => {
    await create();
    const other = await create({ name: 'other' });
    const path = `${ROOT}/${other.id}`;
    expect(await refusal('PUT', path, { body: { name: 'main' } })).toEqual([
      409,
      "A telephony configuration named 'main' already exists in this organization",
    ]);
    expect(await ok('GET', path)).toEqual(other);
    expect(await ok('PUT', path, { name: 'other' })).toMatchObject({ name: 'other' });
  });

  it("is 409 on an account whose numbers lead to another's, and stays as it was", async () => {
    const plivo = (account: string) => ({ provider: 'plivo', auth_id: account, auth_token: 't' });
    const first = await create({ config: plivo('MA1') });
    await ok('POST', `${ROOT}/${first.id}/phone-numbers`, { address: '+15550100' });
    const { apiKey: key } = await served.stranger();
    const body = { name: 'theirs', config: plivo('MA2') };
    const theirs = (await call('POST', `/api/v1${ROOT}`, { key, body })).body;
    const path = `${ROOT}/${theirs.id}`;
    const number = { address: '+15550100' };
    await call('POST', `/api/v1${path}/phone-numbers`, { key, body: number });
    expect(await refusal('PUT', path, { key, body: { config: plivo('MA1') } })).toEqual([
      409,
      'This number of this provider account already belongs to another configuration',
    ]);
    const after = await call('GET', `/api/v1${path}`, { key });
    expect(after.body.credentials).toEqual(theirs.credentials);
  });
});

describe('a telephony configuration that is not there', () => {
  it.each([
    ['GET', '', undefined],
    ['PUT', '', {}],
    ['DELETE', '', undefined],
    ['POST', '/set-default-outbound', undefined],
    ['POST', '/reactivate', undefined],
    ['GET', '/trunks', undefined],
    ['POST', '/trunks', { name: 'x' }],
    ['PUT', '/trunks/1', { name: 'x' }],
    ['DELETE', '/trunks/1', undefined],
    ['GET', '/phone-numbers', undefined],
    ['POST', '/phone-numbers', { address: '1' }],
    ['GET', '/phone-numbers/1', undefined],
    ['PUT', '/phone-numbers/1', {}],
    ['POST', '/phone-numbers/1/set-default-caller', undefined],
    ['DELETE', '/phone-numbers/1', undefined],
  ] as const)('is 404 for %s %s', async (method, tail, body) => {
    const options = body === undefined ? {} : { body };
    expect(await refusal(method, `${ROOT}/999999${tail}`, options)).toEqual(missing);
    expect(await refusal(method, `${ROOT}/x${tail}`, options)).toEqual(missing);
  });

  it('leaves the default where it is', async () => {
    const { id } = await create({ is_default_outbound: true });
    expect(await refusal('POST', `${ROOT}/999999/set-default-outbound`)).toEqual(missing);
    expect(await ok('GET', `${ROOT}/${id}`)).toMatchObject({ is_default_outbound: true });
  });
});

describe('a changed trunk', () => {
  it.each<[object, string, string[]]>([
    [{ name: '' }, 'string_too_short', ['name']],
    [{ name: 'x'.repeat(65) }, 'string_too_long', ['name']],
    [{ enabled: 'yes' }, 'bool_type', ['enabled']],
    [{ settings: [] }, 'dict_type', ['settings']],
    [{ settings: { region: '' } }, 'string_too_short', ['settings', 'region']],
  ])('is 422 with %j and stays as it was', async (body, type, place) => {
    const { id } = await create({ config: { provider: 'cloudonix', ...required.cloudonix } });
    const trunks = `${ROOT}/${id}/trunks`;
    const made = await ok('POST', trunks, { name: 'main' });
    const path = `${trunks}/${made.id}`;
    expect(await firstFault('PUT', path, { body })).toEqual([422, type, ['body', ...place]]);
    expect(await ok('GET', trunks)).toEqual({ trunks: [made] });
  });
});

it('a list ignores the account of another organization', async () => {
  await create({ config: { provider: 'twilio', account_sid: ACCOUNT, auth_token: AUTH_TOKEN } });
  const { apiKey: key } = await served.stranger();
  const { status, body } = await call('GET', `/api/v1${ROOT}`, { key });
  expect([status, body]).toEqual([200, { configurations: [] }]);
});
