import { describe, expect, it } from 'vitest';
import { ownedNumber, PUBLIC_URL, smallWorkflow, twilioConfig, withApi } from '../served.ts';

const served = withApi();
const { call, ok } = served;
const ROOT = '/organizations/telephony-configs';
const NUMBER = '+14155550100';
const moment = expect.stringMatching(/Z$/);

const configuration = async (config: object = twilioConfig(served.twilio.url)) =>
  `${ROOT}/${(await ok('POST', ROOT, { name: 'c', config })).id}/phone-numbers`;
const pbx = () =>
  configuration({
    provider: 'ari',
    ari_endpoint: 'http://10.0.0.5:8088',
    app_name: 'a',
    app_password: 'b',
  });
const workflow = async () =>
  ok('POST', '/workflow/create/definition', { name: 'agent', workflow_definition: smallWorkflow });
const refusal = async (...request: Parameters<typeof call>) => {
  const [method, path, options] = request;
  const { status, body } = await call(method, `/api/v1${path}`, options);
  return [status, body.detail];
};
const voiceUrls = () =>
  served.twilio.asked
    .filter(({ method }) => method === 'POST')
    .map(({ body }) => new URLSearchParams(body).get('VoiceUrl'));

describe('adding a phone number', () => {
  it('gives every field of the contract', async () => {
    const path = await configuration();
    served.twilio.answer = { status: 200, body: ownedNumber(NUMBER) };
    const body = { address: '+1 (415) 555-0100', label: 'Main', extra_metadata: { a: 1 } };
    expect(await ok('POST', path, body)).toEqual({
      id: expect.stringMatching(/^\d+$/),
      telephony_configuration_id: path.split('/')[3],
      address: '+1 (415) 555-0100',
      address_normalized: NUMBER,
      address_type: 'pstn',
      country_code: null,
      label: 'Main',
      inbound_workflow_id: null,
      inbound_workflow_name: null,
      telephony_trunk_id: null,
      is_active: true,
      is_default_caller_id: false,
      extra_metadata: { a: 1 },
      created_at: moment,
      updated_at: moment,
      provider_sync: null,
      overflow: null,
    });
    const { configurations } = await ok('GET', ROOT);
    expect(configurations[0]).toMatchObject({ phone_number_count: 1, is_ready_for_outbound: true });
  });

  it("with an agent points the number's inbound calls at us", async () => {
    const path = await configuration();
    const { id } = await workflow();
    served.twilio.answer = { status: 200, body: ownedNumber(NUMBER) };
    const body = { address: NUMBER, inbound_workflow_id: Number(id) };
    expect(await ok('POST', path, body)).toMatchObject({
      inbound_workflow_id: id,
      inbound_workflow_name: 'agent',
      provider_sync: { ok: true, message: null },
    });
    expect(voiceUrls()).toEqual([`${PUBLIC_URL}/api/v1/telephony/inbound/run`]);
  });

  it('refuses a number that the provider account does not own, and stores nothing', async () => {
    const path = await configuration();
    expect(await refusal('POST', path, { body: { address: NUMBER } })).toEqual([
      400,
      `The provider account does not own the number ${NUMBER}`,
    ]);
    expect(await ok('GET', path)).toEqual({ phone_numbers: [] });
  });

  it('fails with 502 when the provider cannot be asked', async () => {
    const path = await configuration();
    served.twilio.answer = { status: 401, body: { code: 20_003 } };
    expect(await refusal('POST', path, { body: { address: NUMBER } })).toEqual([
      502,
      'twilio refused the credentials: HTTP 401, error 20003',
    ]);
    served.twilio.answer = 'hang';
    expect(await refusal('POST', path, { body: { address: NUMBER } })).toEqual([
      502,
      expect.stringContaining('twilio'),
    ]);
    expect(await ok('GET', path)).toEqual({ phone_numbers: [] });
  });

  it('accepts anything for a PBX, and says that calls over it are not built', async () => {
    const path = await pbx();
    const { id } = await workflow();
    const added = await ok('POST', path, { address: 'Reception', inbound_workflow_id: id });
    expect(added).toMatchObject({
      address_normalized: 'reception',
      address_type: 'sip_extension',
      provider_sync: { ok: false, message: expect.stringContaining('ari') },
    });
  });

  it('refuses an address that the organization has already', async () => {
    const path = await pbx();
    await ok('POST', path, { address: '1001' });
    expect(await refusal('POST', path, { body: { address: '1001' } })).toEqual([
      409,
      'A phone number with this address already exists in the org.',
    ]);
  });

  it("refuses a number of an account whose calls go to another organization's", async () => {
    const path = await configuration();
    const { apiKey: key } = await served.stranger();
    const body = { name: 'c', config: twilioConfig(served.twilio.url) };
    const theirs = await call('POST', `/api/v1${ROOT}`, { key, body });
    served.twilio.answer = { status: 200, body: ownedNumber(NUMBER) };
    await ok('POST', path, { address: NUMBER });
    expect(
      await refusal('POST', `${ROOT}/${theirs.body.id}/phone-numbers`, {
        key,
        body: { address: NUMBER },
      }),
    ).toEqual([
      409,
      'This number of this provider account already belongs to another configuration',
    ]);
  });

  it('refuses digits without a known country, and invalid addresses', async () => {
    const path = await pbx();
    for (const address of ['4155550100', 'sip:', 'a\u0000b']) {
      const [status, detail] = await refusal('POST', path, { body: { address } });
      expect([status, detail[0].type, detail[0].loc]).toEqual([
        422,
        'value_error',
        ['body', 'address'],
      ]);
    }
    const added = await ok('POST', path, { address: '4155550100', country_code: 'US' });
    expect(added.address_normalized).toBe(NUMBER);
  });

  it('refuses an agent or a trunk that is not there', async () => {
    const path = await pbx();
    expect(await refusal('POST', path, { body: { address: '1', inbound_workflow_id: 9 } })).toEqual(
      [404, 'Workflow with id 9 not found'],
    );
    expect(
      await refusal('POST', path, { body: { address: '1', telephony_trunk_id: '9' } }),
    ).toEqual([404, 'Telephony trunk not found']);
  });

  it('refuses an agent of another organization', async () => {
    const { id } = await workflow();
    const { apiKey: key } = await served.stranger();
    const config = { provider: 'plivo', auth_id: 'a', auth_token: 'b' };
    const theirs = await call('POST', `/api/v1${ROOT}`, { key, body: { name: 'c', config } });
    const path = `${ROOT}/${theirs.body.id}/phone-numbers`;
    const body = { address: '1', inbound_workflow_id: id };
    expect((await refusal('POST', path, { key, body }))[0]).toBe(404);
  });
});

describe('changing a phone number', () => {
  const added = async () => {
    const path = await configuration();
    served.twilio.answer = { status: 200, body: ownedNumber(NUMBER) };
    const number = await ok('POST', path, { address: NUMBER, label: 'Main', country_code: 'US' });
    served.twilio.asked.length = 0;
    return { path, one: `${path}/${number.id}`, number };
  };

  it('leaves alone what is left out', async () => {
    const { one, number } = await added();
    const changed = await ok('PUT', one, { is_active: false });
    expect(changed).toEqual({ ...number, is_active: false, updated_at: moment });
    expect(served.twilio.asked).toEqual([]);
  });

  it('is 422 with an agent that is not valid, and changes nothing', async () => {
    const { one, number } = await added();
    const definition = { nodes: [], edges: [] };
    const made = await ok('POST', '/workflow/create/definition', {
      name: 'empty',
      workflow_definition: definition,
    });
    const body = { inbound_workflow_id: made.id };
    const [status, detail] = await refusal('PUT', one, { body });
    expect([status, detail.is_valid, detail.errors.length > 0]).toEqual([422, false, true]);
    expect(await ok('GET', one)).toEqual(number);
    expect(served.twilio.asked).toEqual([]);
  });

  it('is 404 with an agent that is not there, and changes nothing', async () => {
    const { one, number } = await added();
    const body = { label: 'other', inbound_workflow_id: '999999' };
    const missing = [404, 'Workflow with id 999999 not found'];
    expect(await refusal('PUT', one, { body })).toEqual(missing);
    expect(await ok('GET', one)).toEqual(number);
    expect(served.twilio.asked).toEqual([]);
  });

  it('leaves its address alone, for any request', async () => {
    const { one, number } = await added();
    const changed = await ok('PUT', one, { address: '+14155550199', address_normalized: '1' });
    expect(changed).toEqual({ ...number, updated_at: moment });
  });

  it('attaches an agent and detaches it, telling the provider', async () => {
    const { one } = await added();
    const { id } = await workflow();
    expect(await ok('PUT', one, { inbound_workflow_id: id })).toMatchObject({
      inbound_workflow_id: id,
      provider_sync: { ok: true, message: null },
    });
    expect(await ok('PUT', one, { label: null })).toMatchObject({
      label: null,
      inbound_workflow_id: id,
      provider_sync: null,
    });
    const url = `${PUBLIC_URL}/api/v1/telephony/inbound/run`;
    served.twilio.answer = { status: 200, body: ownedNumber(NUMBER, url) };
    expect(await ok('PUT', one, { clear_inbound_workflow: true })).toMatchObject({
      inbound_workflow_id: null,
      provider_sync: { ok: true, message: null },
    });
    expect(voiceUrls()).toEqual([url, '']);
  });

  it('succeeds with a warning when the provider does not play along', async () => {
    const { one } = await added();
    const { id } = await workflow();
    served.twilio.answer = { status: 500, body: {} };
    expect(await ok('PUT', one, { inbound_workflow_id: id })).toMatchObject({
      inbound_workflow_id: id,
      provider_sync: { ok: false, message: expect.any(String) },
    });
  });

  it('makes it the only default caller', async () => {
    const { path, one } = await added();
    served.twilio.answer = { status: 200, body: ownedNumber('+14155550101') };
    const second = await ok('POST', path, { address: '+14155550101', is_default_caller_id: true });
    expect(await ok('POST', `${one}/set-default-caller`)).toMatchObject({
      is_default_caller_id: true,
    });
    expect((await ok('GET', `${path}/${second.id}`)).is_default_caller_id).toBe(false);
  });

  it('keeps a number that the provider still sends to us', async () => {
    const { path, one } = await added();
    const { id } = await workflow();
    await ok('PUT', one, { inbound_workflow_id: id });
    served.twilio.answer = { status: 500, body: {} };
    expect(await refusal('DELETE', one)).toEqual([502, expect.stringMatching(/^twilio failed: /)]);
    expect(await ok('GET', one)).toMatchObject({ inbound_workflow_id: id });
    served.twilio.answer = { status: 200, body: ownedNumber(NUMBER) };
    expect(await ok('DELETE', one)).toEqual({
      message: 'Phone number deleted',
      provider_sync: { ok: true, message: null },
    });
    expect(await ok('GET', path)).toEqual({ phone_numbers: [] });
    expect(await refusal('DELETE', one)).toEqual([404, 'Phone number not found']);
  });

  it('of another configuration is not found', async () => {
    const { number } = await added();
    const other = await ok('POST', ROOT, {
      name: 'other',
      config: { provider: 'plivo', auth_id: 'a', auth_token: 'b' },
    });
    const path = `${ROOT}/${other.id}/phone-numbers/${number.id}`;
    for (const [method, tail] of [
      ['GET', ''],
      ['PUT', ''],
      ['DELETE', ''],
      ['POST', '/set-default-caller'],
    ] as const) {
      const body = method === 'PUT' ? {} : undefined;
      expect(await refusal(method, path + tail, { body })).toEqual([404, 'Phone number not found']);
    }
  });
});
