// Credentials as clients see them: their secrets go in and never come out. Source: contract §10.2.

import { describe, expect, it } from 'vitest';
import { withApi } from '../served.ts';

const served = withApi();
const { call, ok, test } = served;
const SECRET = 'the-secret-of-the-credential';
const moment = expect.stringMatching(/Z$/);
const crm = {
  name: 'CRM',
  description: 'Reads customers.',
  credential_type: 'bearer_token',
  credential_data: { token: SECRET },
};
const at = (uuid: string): string => `/credentials/${uuid}`;

describe('credentials', () => {
  it('are made and shown without their secret', async () => {
    const made = await ok('POST', '/credentials/', crm);
    expect(made).toEqual({
      uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'CRM',
      description: 'Reads customers.',
      credential_type: 'bearer_token',
      created_at: moment,
      updated_at: null,
    });
    expect(await ok('GET', at(made.uuid))).toEqual(made);
    expect(await ok('GET', '/credentials/')).toEqual([made]);
  });

  it.each([
    ['api_key', { header_name: 'X-Key', api_key: SECRET }],
    ['basic_auth', { username: 'u', password: SECRET }],
    ['custom_header', { header_name: 'X-Own', header_value: SECRET }],
    ['none', {}],
  ])('may be of the type %s', async (credentialType, credentialData) => {
    const { uuid } = await ok('POST', '/credentials', {
      name: 'n',
      credential_type: credentialType,
      credential_data: { ...credentialData, more: 'ignored' },
    });
    const opened = await test.store.credentials.open(test.owner.organizationId, uuid);
    expect(opened).toEqual({ type: credentialType, data: credentialData });
  });

  it.each([
    ['api_key', { header_name: 'X-Key' }, 'api_key is required'],
    ['api_key', { api_key: SECRET }, 'header_name is required'],
    ['bearer_token', {}, 'token is required'],
    ['basic_auth', { username: 'u' }, 'password is required'],
    ['custom_header', { header_name: 'X-Own' }, 'header_value is required'],
  ])('of the type %s need their data: 400', async (credentialType, credentialData, problem) => {
    const body = { ...crm, credential_type: credentialType, credential_data: credentialData };
    const { status, body: fault } = await call('POST', '/api/v1/credentials/', { body });
    expect([status, fault]).toEqual([
      400,
      {
        detail: `Invalid credential data for ${credentialType}: ${problem}`,
        code: 'CREDENTIAL_INVALID',
      },
    ]);
  });

  it.each([
    [{ header_name: 'X-Own', header_value: SECRET }],
    [{ header_name: 'X-Own', other: SECRET }],
    [SECRET],
    [[SECRET]],
  ])('are not quoted when something is wrong beside them: %j', async (credentialData) => {
    for (const name of [undefined, 7]) {
      const answer = await call('POST', '/api/v1/credentials/', {
        body: { name, credential_type: 'custom_header', credential_data: credentialData },
      });
      expect(answer.status).toBe(422);
      expect(answer.text).not.toContain(SECRET);
    }
  });

  it('that no header can hold are refused, and not quoted', async () => {
    const credentialData = { token: `${SECRET}\r\nX-Other: 1` };
    const answer = await call('POST', '/api/v1/credentials/', {
      body: { ...crm, credential_data: credentialData },
    });
    expect([answer.status, answer.body.detail]).toEqual([
      400,
      'Invalid credential data for bearer_token: token: a header cannot hold this',
    ]);
    expect(answer.text).not.toContain(SECRET);
  });

  it('of a name that is taken are refused: 409', async () => {
    await ok('POST', '/credentials/', crm);
    const second = await call('POST', '/api/v1/credentials/', { body: crm });
    const detail = "A credential named 'CRM' already exists in this organization";
    expect([second.status, second.body]).toEqual([409, { detail, code: 'CREDENTIAL_NAME_TAKEN' }]);
    const other = await ok('POST', '/credentials/', { ...crm, name: 'Other' });
    const renamed = await call('PUT', `/api/v1${at(other.uuid)}`, { body: { name: 'CRM' } });
    expect([renamed.status, renamed.body]).toEqual([
      409,
      { detail, code: 'CREDENTIAL_NAME_TAKEN' },
    ]);
  });

  it('change by what is sent, the rest stays', async () => {
    const { uuid } = await ok('POST', '/credentials/', crm);
    const changed = await ok('PUT', at(uuid), { name: 'New', description: null });
    expect(changed).toMatchObject({ name: 'New', description: null, updated_at: moment });
    const { organizationId } = test.owner;
    expect((await test.store.credentials.open(organizationId, uuid))?.data).toEqual({
      token: SECRET,
    });
    await ok('PUT', at(uuid), { credential_data: { token: 'second' } });
    expect((await test.store.credentials.open(organizationId, uuid))?.data).toEqual({
      token: 'second',
    });
  });

  it('of another type need its data: 400', async () => {
    const { uuid } = await ok('POST', '/credentials/', crm);
    const body = { credential_type: 'api_key' };
    expect((await call('PUT', `/api/v1${at(uuid)}`, { body })).status).toBe(400);
    const data = { header_name: 'X-Key', api_key: 'k' };
    expect(await ok('PUT', at(uuid), { ...body, credential_data: data })).toMatchObject(body);
  });

  it('are deleted, and are not there from then on: 404', async () => {
    const { uuid } = await ok('POST', '/credentials/', crm);
    expect(await ok('DELETE', at(uuid))).toEqual({ status: 'deleted', uuid });
    for (const [method, body] of [
      ['GET', undefined],
      ['PUT', { name: 'x' }],
      ['DELETE', undefined],
    ] as const) {
      const { status, body: fault } = await call(method, `/api/v1${at(uuid)}`, { body });
      expect([method, status, fault]).toEqual([
        method,
        404,
        { detail: 'Credential not found', code: 'CREDENTIAL_NOT_FOUND' },
      ]);
    }
    expect(await ok('GET', '/credentials/')).toEqual([]);
    await ok('POST', '/credentials/', crm);
  });
});
