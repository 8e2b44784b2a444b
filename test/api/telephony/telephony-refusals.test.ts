// Telephony configurations that are not there, and changes that conflict with another one. Source: contract §4.1 and
// §4.2. What their schemas refuse is in request-rules/refusals.test.ts.

import { describe, expect, it } from 'vitest';
import { twilioConfig, withApi } from '../served.ts';

const served = withApi();
const { call, ok } = served;
const ROOT = '/organizations/telephony-configs';
const missing = [404, 'Telephony configuration not found'];

const create = (more: object = {}) =>
  ok('POST', ROOT, { name: 'main', config: twilioConfig(served.twilio.url), ...more });
const refusal = async (...request: Parameters<typeof call>) => {
  const [method, path, options] = request;
  const { status, body } = await call(method, `/api/v1${path}`, options);
  return [status, body.detail];
};

describe('a changed telephony configuration', () => {
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
