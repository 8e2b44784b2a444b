import { describe, expect, it } from 'vitest';
import { RETRY_DEFAULT } from '../../../src/model/campaign.ts';
import { configuredProviderName } from '../../../src/model/provider.ts';
import { openSignUpEgress } from '../../fakes/egress.ts';
import { PRIVATE_KEY_PEM } from '../../fakes/vonage/account.ts';
import { ACCOUNT, AUTH_TOKEN, smallWorkflow, twilioConfig, withApi } from '../served.ts';

let changes = 0;
const served = withApi(() => ({
  onTelephonyChanged: () => {
    changes += 1;
  },
}));
const { call, ok } = served;
const ROOT = '/organizations/telephony-configs';
const MASK = `${'*'.repeat(28)}cdef`;

const ari = {
  provider: 'ari',
  ari_endpoint: 'http://10.0.0.5:8088',
  app_name: 'gw',
  app_password: 's3cretpass',
  ws_client_name: 'gw_media',
  from_numbers: ['1001'],
};
const create = (more: object = {}) =>
  ok('POST', ROOT, { name: 'main', config: twilioConfig(served.twilio.url), ...more });
const refusal = async (...request: Parameters<typeof call>) => {
  const [method, path, options] = request;
  const { status, body } = await call(method, `/api/v1${path}`, options);
  return [status, body.detail];
};
const moment = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);

describe('creating a telephony configuration', () => {
  it('gives the detail of the contract, for a PBX (A.1)', async () => {
    expect(await create({ name: 'pbx', is_default_outbound: true, config: ari })).toEqual({
      id: expect.stringMatching(/^\d+$/),
      name: 'pbx',
      provider: 'ari',
      connectivity: 'sip',
      is_default_outbound: true,
      inactive: false,
      inactive_since: null,
      inactive_reason: null,
      calls_per_second: null,
      overflow: null,
      credentials: {
        ari_endpoint: 'http://10.0.0.5:8088',
        app_name: 'gw',
        app_password: '******pass',
        ws_client_name: 'gw_media',
        external_pbx: null,
        connection: 'outgoing',
        dial_template: 'PJSIP/{number}',
        early_media: false,
        media: 'auto',
        media_format: 'auto',
        transfer_context: '',
        stasis_app_name: expect.stringMatching(/^patchbay_[0-9a-f]{12}$/),
      },
      sip_connectivity: null,
      setup_checklist: null,
      supports_trunks: false,
      trunks: [],
      created_at: moment,
      updated_at: moment,
    });
  });

  it('takes how fast it may dial, 1 to 1000 calls a second, or null for no limit', async () => {
    expect(await create({ calls_per_second: 25 })).toMatchObject({ calls_per_second: 25 });
    const { configurations } = await ok('GET', ROOT);
    expect(configurations[0]).toMatchObject({ calls_per_second: 25 });
    const one = `${ROOT}/${configurations[0].id}`;
    expect(await ok('PUT', one, { name: 'x' })).toMatchObject({ calls_per_second: 25 });
    expect(await ok('PUT', one, { calls_per_second: 1_000 })).toMatchObject({
      calls_per_second: 1_000,
    });
    expect(await ok('PUT', one, { calls_per_second: null })).toMatchObject({
      name: 'x',
      calls_per_second: null,
    });
  });

  it('takes what becomes of calls without a place, keeps it, and drops it for null', async () => {
    const made = await create({ overflow: { mode: 'wait', callers_max: 5 } });
    expect(made.overflow).toMatchObject({
      mode: 'wait',
      callers_max: 5,
      wait_seconds_max: 300,
      otherwise: 'busy',
    });
    const one = `${ROOT}/${made.id}`;
    expect((await ok('PUT', one, { name: 'x' })).overflow).toMatchObject({ callers_max: 5 });
    expect((await ok('PUT', one, { overflow: null })).overflow).toBeNull();
    const body = { overflow: { mode: 'fallback' } };
    const [status, detail] = await refusal('PUT', one, { body });
    expect(status).toBe(422);
    expect(JSON.stringify(detail)).toContain('fallback_number');
  });

  it('says what is left to do before calls can go out', async () => {
    const { setup_checklist: checklist } = await create();
    expect(checklist).toEqual({
      ready_for_outbound: false,
      outbound_blocked_reason: expect.stringContaining('phone number'),
      steps: [
        {
          key: 'caller_id',
          title: expect.any(String),
          description: expect.any(String),
          complete: false,
          blocks_outbound: true,
        },
      ],
      docs_url: expect.any(String),
    });
  });

  it('refuses a name that is taken in the organization, but not in another', async () => {
    await create();
    const body = { name: 'main', config: ari };
    expect(await refusal('POST', ROOT, { body })).toEqual([
      409,
      "A telephony configuration named 'main' already exists in this organization",
    ]);
    const { apiKey: key } = await served.stranger();
    expect((await call('POST', `/api/v1${ROOT}`, { body, key })).status).toBe(200);
  });

  it('lists the supported tags when the provider is unknown (A.2)', async () => {
    const body = { name: 'x', config: { provider: 'nope' } };
    expect(await refusal('POST', ROOT, { body })).toEqual([
      422,
      [
        {
          type: 'union_tag_invalid',
          loc: ['body', 'config'],
          msg: expect.stringContaining("Input tag 'nope' found using 'provider'"),
          input: { provider: 'nope' },
          ctx: {
            discriminator: "'provider'",
            tag: 'nope',
            expected_tags: configuredProviderName.options.map((name) => `'${name}'`).join(', '),
          },
        },
      ],
    ]);
  });

  it('names a missing field under its provider, and echoes no secret', async () => {
    const body = { name: 'x', config: { provider: 'twilio', auth_token: AUTH_TOKEN } };
    const { status, text, body: answer } = await call('POST', `/api/v1${ROOT}`, { body });
    expect(status).toBe(422);
    expect(answer.detail).toEqual([
      {
        type: 'missing',
        loc: ['body', 'config', 'twilio', 'account_sid'],
        msg: 'Field required',
        input: { provider: 'twilio', auth_token: '***' },
      },
    ]);
    expect(text).not.toContain(AUTH_TOKEN);
  });

  it('echoes no secret of the wrong type either', async () => {
    const body = {
      name: 'x',
      config: { provider: 'twilio', account_sid: 'a', auth_token: [AUTH_TOKEN] },
    };
    const { text, body: answer } = await call('POST', `/api/v1${ROOT}`, { body });
    expect(answer.detail[0].loc).toEqual(['body', 'config', 'twilio', 'auth_token']);
    expect(text).not.toContain(AUTH_TOKEN);
  });

  it('takes a body that is no object for what it is', async () => {
    const headers = { 'content-type': 'application/json' };
    const [status, detail] = await refusal('POST', ROOT, { body: '[1]', headers });
    expect([status, detail[0].type, detail[0].loc]).toEqual([
      422,
      'model_attributes_type',
      ['body'],
    ]);
  });

  it('keeps at most one default outbound configuration', async () => {
    const first = await create({ is_default_outbound: true });
    await create({ name: 'second', is_default_outbound: true });
    const isDefault = async (id: string) => (await ok('GET', `${ROOT}/${id}`)).is_default_outbound;
    expect(await isDefault(first.id)).toBe(false);
    const again = await ok('POST', `${ROOT}/${first.id}/set-default-outbound`);
    expect(again.is_default_outbound).toBe(true);
    const { configurations } = await ok('GET', ROOT);
    expect(
      configurations.map((each: { is_default_outbound: boolean }) => each.is_default_outbound),
    ).toEqual([true, false]);
  });
});

describe('telephony configurations', () => {
  it('are listed oldest first, with whether calls can go out', async () => {
    const main = await create();
    const pbx = await create({ name: 'pbx', config: ari });
    expect(await ok('GET', ROOT)).toEqual({
      configurations: [
        {
          id: main.id,
          name: 'main',
          provider: 'twilio',
          connectivity: 'api',
          is_default_outbound: false,
          inactive: false,
          inactive_since: null,
          inactive_reason: null,
          calls_per_second: null,
          overflow: null,
          phone_number_count: 0,
          is_ready_for_outbound: false,
          outbound_blocked_reason: expect.any(String),
          created_at: moment,
          updated_at: moment,
        },
        expect.objectContaining({
          id: pbx.id,
          is_ready_for_outbound: true,
          outbound_blocked_reason: null,
        }),
      ],
    });
  });

  it('show their secrets masked, and identifiers that are secret too', async () => {
    const { id } = await create();
    const { credentials } = await ok('GET', `${ROOT}/${id}`);
    expect(credentials).toMatchObject({
      account_sid: `${'*'.repeat(30)}0001`,
      auth_token: MASK,
      amd_enabled: false,
    });
  });

  it('of another organization are not found', async () => {
    const { id } = await create();
    const { apiKey: key } = await served.stranger();
    for (const [method, tail, body] of [
      ['GET', '', undefined],
      ['PUT', '', { name: 'y' }],
      ['DELETE', '', undefined],
      ['POST', '/set-default-outbound', undefined],
      ['GET', '/phone-numbers', undefined],
      ['POST', '/phone-numbers', { address: '+15550100' }],
    ] as const) {
      expect(await refusal(method, `${ROOT}/${id}${tail}`, { key, body })).toEqual([
        404,
        'Telephony configuration not found',
      ]);
    }
  });

  it('are deleted with their numbers', async () => {
    const { id } = await create({ config: ari });
    await ok('POST', `${ROOT}/${id}/phone-numbers`, { address: '1001' });
    expect(await ok('DELETE', `${ROOT}/${id}`)).toEqual({
      message: 'Telephony configuration deleted',
    });
    expect((await call('GET', `/api/v1${ROOT}/${id}`)).status).toBe(404);
    expect((await call('DELETE', `/api/v1${ROOT}/${id}`)).status).toBe(404);
  });

  it('that campaigns use are kept', async () => {
    const { id } = await create({ config: ari });
    const agent = await ok('POST', '/workflow/create/definition', {
      name: 'agent',
      workflow_definition: smallWorkflow,
    });
    const campaign = await served.test.store.campaigns.create(served.test.owner.organizationId, {
      name: 'sept',
      workflowId: agent.id,
      sourceId: 'campaigns/1/a.csv',
      configurationId: id,
      retry: RETRY_DEFAULT,
      maxConcurrency: null,
      schedule: null,
      breaker: null,
      ratePerSecond: 1,
    });
    for (const state of ['created', 'completed']) {
      const set = 'update campaigns set state = $1 where id = $2';
      await served.test.sql(set, [state, campaign.id]);
      expect(await refusal('DELETE', `${ROOT}/${id}`)).toEqual([
        409,
        `Telephony configuration ${id} is referenced by one or more campaigns`,
      ]);
    }
    expect(await ok('GET', `${ROOT}/${id}`)).toMatchObject({ id });
  });

  it('are described for forms, sorted by name', async () => {
    const { providers } = await ok('GET', '/organizations/telephony-providers/metadata');
    expect(providers.map((row: { provider: string }) => row.provider)).toEqual(
      configuredProviderName.options.toSorted(),
    );
    const formOf = (name: string) =>
      providers.find((row: { provider: string }) => row.provider === name);
    const connection = formOf('ari').fields.find(
      (field: { name: string }) => field.name === 'connection',
    );
    expect(connection).toMatchObject({
      type: 'select',
      required: false,
      options: [
        { value: 'outgoing', label: 'The gateway dials Asterisk' },
        { value: 'incoming', label: 'Asterisk dials the gateway' },
      ],
    });
    expect(formOf('twilio').fields[1]).toEqual({
      name: 'auth_token',
      label: 'Auth token',
      type: 'password',
      required: true,
      sensitive: true,
      description: expect.any(String),
      placeholder: null,
      options: null,
      visible_when: null,
      section: null,
    });
    const plain = providers.flatMap((row: { fields: { name: string; description: unknown }[] }) =>
      row.fields.flatMap(({ name, description }) => (description ? [] : [name])),
    );
    expect(plain).toEqual([]);
  });
});

describe('updating a telephony configuration', () => {
  const stored = async (id: string) =>
    (await served.test.store.telephony.getConfiguration(served.test.owner.organizationId, id))
      ?.credentials;

  it('takes its own detail back and changes nothing', async () => {
    const detail = await create();
    const { credentials, name } = detail;
    const body = { name, config: { provider: 'twilio', ...credentials } };
    expect(await ok('PUT', `${ROOT}/${detail.id}`, body)).toEqual({
      ...detail,
      updated_at: moment,
    });
    expect(await stored(detail.id)).toMatchObject({ account_sid: ACCOUNT, auth_token: AUTH_TOKEN });
  });

  it('sends a stored secret to no new address unless the secret is given again', async () => {
    const { id } = await create();
    const move = { provider: 'twilio', api_base_url: 'https://elsewhere.example.com' };
    for (const config of [move, { ...move, auth_token: MASK }]) {
      const [status, detail] = await refusal('PUT', `${ROOT}/${id}`, { body: { config } });
      expect(status).toBe(422);
      expect(detail[0].loc).toEqual(['body', 'config', 'twilio', 'api_base_url']);
    }
    await ok('PUT', `${ROOT}/${id}`, { config: { ...move, auth_token: AUTH_TOKEN } });
    expect(await stored(id)).toMatchObject({ api_base_url: 'https://elsewhere.example.com' });
  });

  it('rotates one secret and keeps what is left out', async () => {
    const { id } = await create();
    const config = { provider: 'twilio', auth_token: 'a-new-token-1234' };
    const { credentials } = await ok('PUT', `${ROOT}/${id}`, { config });
    expect(credentials.auth_token).toBe('************1234');
    expect(await stored(id)).toMatchObject({
      account_sid: ACCOUNT,
      auth_token: 'a-new-token-1234',
      api_base_url: served.twilio.url,
    });
  });

  it('changes the name alone', async () => {
    const { id, credentials } = await create();
    const changed = await ok('PUT', `${ROOT}/${id}`, { name: 'renamed', config: null });
    expect([changed.name, changed.credentials]).toEqual(['renamed', credentials]);
  });

  it('keeps what the gateway stores beside the fields', async () => {
    const { id, credentials } = await create({ config: ari });
    const config = {
      provider: 'ari',
      app_password: '******pass',
      ari_endpoint: 'http://10.0.0.6:8088',
    };
    const changed = await ok('PUT', `${ROOT}/${id}`, { config });
    expect(changed.credentials).toEqual({ ...credentials, ari_endpoint: 'http://10.0.0.6:8088' });
    expect(await stored(id)).toMatchObject({ app_password: 's3cretpass' });
  });

  it('does not change the provider', async () => {
    const { id } = await create();
    const body = { config: { provider: 'plivo', auth_id: 'a', auth_token: 'b' } };
    expect(await refusal('PUT', `${ROOT}/${id}`, { body })).toEqual([
      400,
      'Provider cannot be changed; create a new configuration instead.',
    ]);
  });

  it('refuses a name that is taken', async () => {
    await create();
    const { id } = await create({ name: 'other' });
    const [status] = await refusal('PUT', `${ROOT}/${id}`, { body: { name: 'main' } });
    expect(status).toBe(409);
  });

  it('refuses an account whose number is routed elsewhere', async () => {
    const plivo = (account: string) => ({ provider: 'plivo', auth_id: account, auth_token: 't' });
    const { id: workflow } = await ok('POST', '/workflow/create/definition', {
      name: 'a',
      workflow_definition: smallWorkflow,
    });
    const first = await create({ name: 'p1', config: plivo('MA1') });
    await ok('POST', `${ROOT}/${first.id}/phone-numbers`, {
      address: '+15550100',
      inbound_workflow_id: workflow,
    });
    const { apiKey: key } = await served.stranger();
    const theirs = await call('POST', `/api/v1${ROOT}`, {
      key,
      body: { name: 'p2', config: plivo('MA2') },
    });
    const path = `${ROOT}/${theirs.body.id}`;
    await call('POST', `/api/v1${path}/phone-numbers`, { key, body: { address: '+15550100' } });
    const [status] = await refusal('PUT', path, { key, body: { config: plivo('MA1') } });
    expect(status).toBe(409);
  });
});

describe('a configuration that has failed', () => {
  it('is shown as such, and taken back into use', async () => {
    const { id } = await create({ name: 'pbx', config: ari });
    const { organizationId } = served.test.owner;
    const { telephony } = served.test.store;
    expect(await telephony.deactivate(organizationId, id, 'The PBX does not answer.')).toBe(true);
    const failed = {
      inactive: true,
      inactive_since: moment,
      inactive_reason: 'The PBX does not answer.',
    };
    expect(await ok('GET', `${ROOT}/${id}`)).toMatchObject(failed);
    const { configurations } = await ok('GET', ROOT);
    expect(configurations[0]).toMatchObject({
      ...failed,
      is_ready_for_outbound: false,
      outbound_blocked_reason: 'The PBX does not answer.',
    });
    const well = { inactive: false, inactive_since: null, inactive_reason: null };
    expect(await ok('POST', `${ROOT}/${id}/reactivate`)).toMatchObject({ id, ...well });
    expect(await ok('POST', `${ROOT}/${id}/reactivate`)).toMatchObject(well);
    const { apiKey: key } = await served.stranger();
    for (const options of [{ key }, {}]) {
      const path = options.key === undefined ? '999999' : id;
      expect(await refusal('POST', `${ROOT}/${path}/reactivate`, options)).toEqual([
        404,
        'Telephony configuration not found',
      ]);
    }
  });
});

describe('warnings', () => {
  it('count the configurations that cannot prove where a webhook comes from', async () => {
    const telnyx = { provider: 'telnyx', api_key: 'k', connection_id: '1' };
    const vonage = {
      provider: 'vonage',
      api_key: 'k',
      api_secret: 's',
      application_id: 'a',
      private_key: PRIVATE_KEY_PEM,
    };
    await create({ name: 'one', config: telnyx });
    await create({ name: 'two', config: { ...telnyx, webhook_public_key: '' } });
    await create({ name: 'three', config: { ...telnyx, webhook_public_key: 'k' } });
    await create({ name: 'four', config: vonage });
    await create({ name: 'five', config: { ...vonage, signature_secret: 's' } });
    const path = '/organizations/telephony-config-warnings';
    expect(await ok('GET', path)).toEqual({
      cloudonix_missing_application_key_count: 0,
      telnyx_missing_webhook_public_key_count: 2,
      vonage_missing_signature_secret_count: 1,
    });
    const { apiKey: key } = await served.stranger();
    expect((await call('GET', `/api/v1${path}`, { key })).body).toEqual({
      cloudonix_missing_application_key_count: 0,
      telnyx_missing_webhook_public_key_count: 0,
      vonage_missing_signature_secret_count: 0,
    });
  });
});

describe('the process that holds the connections to PBXs', () => {
  it('is notified of every change at once, and of nothing else', async () => {
    const asked: number[] = [];
    const told = async (work: Promise<unknown>): Promise<void> => {
      const before = changes;
      await work;
      asked.push(changes - before);
    };
    const { id } = await create({ name: 'pbx', config: ari });
    const path = `${ROOT}/${id}`;
    await told(create({ name: 'other', config: ari }));
    await told(ok('PUT', path, { body: { config: { provider: 'ari', app_password: 'new' } } }));
    await told(ok('POST', `${path}/reactivate`));
    await told(ok('DELETE', path));
    await told(refusal('DELETE', path));
    await told(ok('GET', ROOT));
    expect(asked).toEqual([1, 1, 1, 1, 0, 0]);
  });
});

describe('a mask without a stored secret', () => {
  it('is no secret: 422, and what is stored stays', async () => {
    const { id, credentials } = await create();
    const path = `${ROOT}/${id}`;
    const stale = { provider: 'twilio', auth_token: `${'*'.repeat(28)}0000` };
    const [status, detail] = await refusal('PUT', path, { body: { config: stale } });
    expect([status, detail[0].loc]).toEqual([422, ['body', 'config', 'twilio', 'auth_token']]);
    expect(JSON.stringify(detail)).not.toContain('0000');
    expect((await ok('GET', path)).credentials).toEqual(credentials);
    const config = { ...twilioConfig(served.twilio.url), auth_token: MASK };
    expect((await refusal('POST', ROOT, { body: { name: 'copy', config } }))[0]).toBe(422);
  });
});

describe('a change without a provider', () => {
  it("is one of the stored configuration's", async () => {
    const { id } = await create();
    const path = `${ROOT}/${id}`;
    const changed = await ok('PUT', path, { config: { auth_token: 'another-token-0001' } });
    expect(changed.credentials.auth_token).toBe('**************0001');
    expect(changed.credentials.account_sid).toMatch(/^\*+0001$/);
    expect((await refusal('PUT', `${ROOT}/999999`, { body: { config: {} } }))[0]).toBe(404);
  });
});

describe('the one configuration of older clients', () => {
  const Legacy = '/organizations/telephony-config';

  it('is created as the default, read, and changed', async () => {
    expect(await refusal('GET', Legacy)).toEqual([404, 'Telephony configuration not found']);
    changes = 0;
    const made = await ok('POST', Legacy, twilioConfig(served.twilio.url));
    expect(changes).toBe(1);
    expect(made).toMatchObject({ name: 'Default', provider: 'twilio', is_default_outbound: true });
    const changed = await ok('POST', Legacy, { provider: 'twilio', auth_token: 'new-token-0002' });
    expect(changes).toBe(2);
    expect(changed.credentials.auth_token).toBe('**********0002');
    expect(await ok('GET', Legacy)).toEqual(changed);
    expect(await ok('GET', `${ROOT}/${made.id}`)).toEqual(changed);
  });

  it('keeps its provider, and must be whole', async () => {
    const [status] = await refusal('POST', Legacy, { body: { provider: 'twilio' } });
    expect(status).toBe(422);
    await ok('POST', Legacy, twilioConfig(served.twilio.url));
    expect(await refusal('POST', Legacy, { body: ari })).toEqual([
      400,
      'Provider cannot be changed; create a new configuration instead.',
    ]);
  });
});

describe('the address of a configuration', () => {
  const refused = (field: string, reason: string) => [
    400,
    `${field} points to ${reason}, to which this gateway does not connect. Use another address, or ask the operator to allow this one (PATCHBAY_OUTSIDE_ALLOW).`,
  ];
  const stores = (config: object) => refusal('POST', ROOT, { body: { name: 'far', config } });

  it.each([
    'http://169.254.169.254',
    'http://2852039166:80',
    'http://[::ffff:a9fe:a9fe]',
    'http://[fe80::1]:8088',
  ])('%s is stored by no one', async (ariEndpoint) => {
    const reason = 'a link-local or metadata address';
    expect(await stores({ ...ari, ari_endpoint: ariEndpoint })).toEqual(
      refused('ari_endpoint', reason),
    );
  });

  it.each([
    ['http://10.0.0.5:8088/ari', 'without /ari'],
    ['http://10.0.0.5:8088/pbx/ari/', 'without /ari'],
    ['http://10.0.0.5:8088/?api_key=a', 'without /ari'],
    ['http://user:secret@10.0.0.5:8088', 'leave the user out'],
  ])('%s is refused: it is the address of the server alone', async (ariEndpoint, reason) => {
    const [status, detail] = await stores({ ...ari, ari_endpoint: ariEndpoint });
    expect([status, detail]).toEqual([
      422,
      [expect.objectContaining({ msg: expect.stringContaining(reason) })],
    ]);
  });

  it.each(['  ', '\u200b'])('needs a name, and %j is none', async (name) => {
    const [status, detail] = await refusal('POST', ROOT, { body: { name, config: ari } });
    const msg = 'Value error, a name must not be blank';
    expect([status, detail]).toEqual([422, [expect.objectContaining({ msg })]]);
  });

  it('in a private network is stored while sign-up is closed, and refused while it is open', async () => {
    const { egress } = served.deps;
    served.deps.egress = openSignUpEgress();
    const local = { ...twilioConfig(served.twilio.url), api_base_url: 'https://192.168.0.1' };
    expect(await stores(ari)).toEqual(refused('ari_endpoint', 'a private network'));
    expect(await stores(local)).toEqual(refused('api_base_url', 'a private network'));
    served.deps.egress = egress;
    expect((await stores(ari))[0]).toBe(200);
  });

  it('is checked when it is changed, and the stored one stays', async () => {
    const { id } = await create({ name: 'moved', config: ari });
    const config = { provider: 'ari', ari_endpoint: 'http://169.254.169.254' };
    const [status] = await refusal('PUT', `${ROOT}/${id}`, { body: { config } });
    expect(status).toBe(400);
    const { credentials } = await ok('GET', `${ROOT}/${id}`);
    expect(credentials.ari_endpoint).toBe(ari.ari_endpoint);
  });
});
