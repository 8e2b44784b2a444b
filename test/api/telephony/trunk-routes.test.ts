// Trunks over the API, and what they mean for calls. Source: contract §4.1 and §4.3.

import { describe, expect, it } from 'vitest';
import { smallWorkflow, twilioConfig, withApi } from '../served.ts';

const served = withApi();
const { call, ok } = served;
const ROOT = '/organizations/telephony-configs';
const cloudonix = { provider: 'cloudonix', bearer_token: 'token-4711', domain_id: 'acme' };
const moment = expect.stringMatching(/Z$/);

const create = (config: object = cloudonix, name = 'c') => ok('POST', ROOT, { name, config });
const trunked = async () => {
  const { id } = await create();
  const path = `${ROOT}/${id}`;
  return { path, trunks: `${path}/trunks`, numbers: `${path}/phone-numbers` };
};
const refusal = async (...request: Parameters<typeof call>) => {
  const [method, path, options] = request;
  const { status, body } = await call(method, `/api/v1${path}`, options);
  return [status, body.detail];
};

describe('a trunk', () => {
  it('is made with every field of the contract, and shown with its configuration', async () => {
    const { path, trunks } = await trunked();
    const settings = { region: 'eu', sip_domain: 'acme.example.com', note: null };
    const made = await ok('POST', trunks, { name: 'main', settings });
    expect(made).toEqual({
      id: expect.stringMatching(/^\d+$/),
      name: 'main',
      enabled: true,
      settings,
      phone_number_count: 0,
      created_at: moment,
      updated_at: moment,
    });
    expect(await ok('GET', trunks)).toEqual({ trunks: [made] });
    expect(await ok('GET', path)).toMatchObject({ supports_trunks: true, trunks: [made] });
  });

  it('is changed in part', async () => {
    const { trunks } = await trunked();
    const made = await ok('POST', trunks, { name: 'main', settings: { region: 'eu' } });
    const one = `${trunks}/${made.id}`;
    const renamed = { ...made, name: 'other', updated_at: moment };
    expect(await ok('PUT', one, { name: 'other', enabled: null })).toEqual(renamed);
    expect(await ok('PUT', one, { enabled: false, settings: {} })).toEqual({
      ...renamed,
      enabled: false,
      settings: {},
    });
    expect(await ok('PUT', one, {})).toMatchObject({ name: 'other', enabled: false });
  });

  it('is deleted', async () => {
    const { trunks } = await trunked();
    const { id } = await ok('POST', trunks, { name: 'main' });
    expect(await ok('DELETE', `${trunks}/${id}`)).toEqual({ success: true });
    expect(await ok('GET', trunks)).toEqual({ trunks: [] });
  });

  it('is 400 for a provider that has none', async () => {
    const { id } = await create(twilioConfig(served.twilio.url));
    const trunks = `${ROOT}/${id}/trunks`;
    const body = { name: 'main' };
    for (const [method, path, options] of [
      ['GET', trunks, {}],
      ['POST', trunks, { body }],
      ['PUT', `${trunks}/1`, { body }],
      ['DELETE', `${trunks}/1`, {}],
    ] as const) {
      expect(await refusal(method, path, options)).toEqual([
        400,
        'Configurations of twilio have no trunks',
      ]);
    }
    expect(await ok('GET', `${ROOT}/${id}`)).toMatchObject({ supports_trunks: false, trunks: [] });
  });

  it("is 404 if it, or its configuration, is not there or another organization's", async () => {
    const { trunks } = await trunked();
    const { id } = await ok('POST', trunks, { name: 'main' });
    const { apiKey: key } = await served.stranger();
    const body = { name: 'x' };
    for (const method of ['PUT', 'DELETE'] as const) {
      const options = method === 'PUT' ? { body } : {};
      expect(await refusal(method, `${trunks}/999999`, options)).toEqual([
        404,
        'Telephony trunk not found',
      ]);
      expect(await refusal(method, `${trunks}/${id}`, { ...options, key })).toEqual([
        404,
        'Telephony configuration not found',
      ]);
    }
    expect((await refusal('GET', `${ROOT}/999999/trunks`))[0]).toBe(404);
    expect((await refusal('POST', `${ROOT}/999999/trunks`, { body }))[0]).toBe(404);
  });

  it('is 409 with a name that is taken', async () => {
    const { trunks } = await trunked();
    await ok('POST', trunks, { name: 'main' });
    const { id } = await ok('POST', trunks, { name: 'other' });
    const body = { name: 'main' };
    const taken = [409, "A trunk named 'main' already exists in this configuration"];
    expect(await refusal('POST', trunks, { body })).toEqual(taken);
    expect(await refusal('PUT', `${trunks}/${id}`, { body })).toEqual(taken);
  });

  it('is 409 to delete with numbers on it', async () => {
    const { trunks, numbers } = await trunked();
    const { id } = await ok('POST', trunks, { name: 'main' });
    await ok('POST', numbers, { address: '+14155550100', telephony_trunk_id: id });
    expect(await ok('GET', trunks)).toMatchObject({ trunks: [{ phone_number_count: 1 }] });
    expect(await refusal('DELETE', `${trunks}/${id}`)).toEqual([
      409,
      `Telephony trunk ${id} has phone numbers; attach them elsewhere first`,
    ]);
  });

  it.each([
    [{ name: 'a', settings: { region: 5 } }, 'string_type', ['settings', 'region']],
    [{ name: 'a', settings: { sip_domain: '' } }, 'string_too_short', ['settings', 'sip_domain']],
    [
      {
        name: 'a',
        settings: Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`k${i}`, 1])),
      },
      'value_error',
      ['settings'],
    ],
  ])('is 422 with %j', async (body, type, place) => {
    const { trunks } = await trunked();
    const [status, detail] = await refusal('POST', trunks, { body });
    expect([status, detail[0].type, detail[0].loc]).toEqual([422, type, ['body', ...place]]);
  });

  it('is 422 with settings of many levels, on a change too', async () => {
    const { trunks } = await trunked();
    const { id } = await ok('POST', trunks, { name: 'main' });
    const body = { settings: { a: { b: 1 } } };
    const [status, detail] = await refusal('PUT', `${trunks}/${id}`, { body });
    expect([status, detail[0].loc.slice(0, 3)]).toEqual([422, ['body', 'settings', 'a']]);
  });
});

describe('a phone number', () => {
  it('goes over a trunk of its configuration, another one, or none', async () => {
    const { trunks, numbers } = await trunked();
    const [one, two] = [
      await ok('POST', trunks, { name: 'one' }),
      await ok('POST', trunks, { name: 'two' }),
    ];
    const made = await ok('POST', numbers, {
      address: '+14155550100',
      telephony_trunk_id: Number(one.id),
    });
    expect(made).toMatchObject({ telephony_trunk_id: one.id, provider_sync: null });
    const path = `${numbers}/${made.id}`;
    expect(await ok('PUT', path, { label: 'x' })).toMatchObject({ telephony_trunk_id: one.id });
    expect(await ok('PUT', path, { telephony_trunk_id: two.id })).toMatchObject({
      telephony_trunk_id: two.id,
    });
    expect(await ok('PUT', path, { telephony_trunk_id: null })).toMatchObject({
      telephony_trunk_id: two.id,
    });
    expect(await ok('PUT', path, { clear_trunk: true })).toMatchObject({
      telephony_trunk_id: null,
    });
    expect(await ok('GET', path)).toMatchObject({ telephony_trunk_id: null });
  });

  it('is 404 with a trunk that its configuration does not have', async () => {
    const { numbers } = await trunked();
    const other = await create({ ...cloudonix, domain_id: 'other' }, 'other');
    const theirs = await ok('POST', `${ROOT}/${other.id}/trunks`, { name: 'main' });
    const { id } = await ok('POST', numbers, { address: '+14155550100' });
    for (const trunkId of [theirs.id, '999999']) {
      const body = { telephony_trunk_id: trunkId };
      const created = { ...body, address: '+14155550101' };
      const missing = [404, 'Telephony trunk not found'];
      expect(await refusal('POST', numbers, { body: created })).toEqual(missing);
      expect(await refusal('PUT', `${numbers}/${id}`, { body })).toEqual(missing);
    }
  });
});

describe('a configuration of a provider with trunks', () => {
  it('is ready for calls with a number and an enabled trunk', async () => {
    const { path, trunks, numbers } = await trunked();
    const state = async () => {
      const { setup_checklist: list } = await ok('GET', path);
      const { configurations } = await ok('GET', ROOT);
      expect(configurations[0]).toMatchObject({
        is_ready_for_outbound: list.ready_for_outbound,
        outbound_blocked_reason: list.outbound_blocked_reason,
      });
      return [
        list.outbound_blocked_reason,
        ...list.steps.map(({ key, complete }: { key: string; complete: boolean }) => [
          key,
          complete,
        ]),
      ];
    };
    expect(await state()).toEqual([
      'Add at least one active phone number.',
      ['trunk', false],
      ['caller_id', false],
    ]);
    await ok('POST', numbers, { address: '+14155550100' });
    expect(await state()).toEqual([
      'Add a trunk, or enable one.',
      ['trunk', false],
      ['caller_id', true],
    ]);
    const { id } = await ok('POST', trunks, { name: 'main', enabled: false });
    expect((await state())[0]).toBe('Add a trunk, or enable one.');
    await ok('PUT', `${trunks}/${id}`, { enabled: true });
    expect(await state()).toEqual([null, ['trunk', true], ['caller_id', true]]);
  });

  it('says how its numbers and agents are called, in lists and in changes', async () => {
    const { numbers } = await trunked();
    const agent = await ok('POST', '/workflow/create/definition', {
      name: 'agent',
      workflow_definition: smallWorkflow,
    });
    const body = { address: '+14155550100', inbound_workflow_id: agent.id };
    const made = await ok('POST', numbers, body);
    const shown = { inbound_workflow_id: agent.id, inbound_workflow_name: 'agent' };
    expect(made).toMatchObject({ ...shown, provider_sync: { ok: false } });
    const { phone_numbers: all } = await ok('GET', numbers);
    expect(all[0]).toMatchObject({ ...shown, provider_sync: null });
  });
});
