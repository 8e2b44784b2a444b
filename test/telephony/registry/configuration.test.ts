import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type ConfiguredProviderName,
  configuredProviderName,
} from '../../../src/model/provider.ts';
import {
  accountIdOf,
  configurationPatchSchema,
  configurationSchema,
  connectivityOf,
  maskCredentials,
  maskSecret,
  providerMetadata,
  restoreMasked,
  secretFieldsOf,
} from '../../../src/telephony/registry/configuration.ts';
import type { HostedRow } from '../../fakes/hosted/hosted-fake.ts';
import { hostedRows } from '../../fakes/hosted/hosted-rows.ts';
import { PRIVATE_KEY_PEM } from '../../fakes/vonage/account.ts';

/** The least that a variant takes, after the tables of the specification (§2.2). */
const specified = {
  ari: { ari_endpoint: 'http://10.0.0.5:8088', app_name: 'gw', app_password: 's3cretpass' },
  cloudonix: { bearer_token: 'XI0123456789', domain_id: 'Acme' },
  plivo: { auth_id: 'MAXXXXXXXX', auth_token: 'plivo-token' },
  telnyx: { api_key: 'KEY0123456789' },
  twilio: { account_sid: 'AC0123456789', auth_token: 'twilio-token' },
  vobiz: { auth_id: 'MA_VOBIZ', auth_token: 'vobiz-token' },
  vonage: {
    api_key: 'a1b2c3d4',
    api_secret: 'vonage-secret',
    application_id: 'aaaaaaaa-bbbb-cccc-dddd-0123456789ab',
    private_key: PRIVATE_KEY_PEM.trim(),
  },
};
const names = configuredProviderName.options;
/** Of a provider that the specification does not have: the required fields of its fake's account. */
const least: Record<string, Record<string, unknown>> = {
  ...Object.fromEntries(hostedRows.map((row) => [row.name, requiredOf(row)])),
  ...specified,
};

function requiredOf({ name, configuration }: HostedRow): Record<string, unknown> {
  const { fields = [] } = providerMetadata.find(({ provider }) => provider === name) ?? {};
  const required = fields.filter((field) => field.required);
  const whole = configuration('http://127.0.0.1:9000');
  return Object.fromEntries(required.map((field) => [field.name, whole[field.name]]));
}

const parsed = (provider: ConfiguredProviderName) =>
  configurationSchema.parse({ provider, ...least[provider] });

describe('a configuration', () => {
  it.each(names)('%s takes its required fields and refuses a body without any one', (provider) => {
    const body = { provider, ...least[provider] };
    expect(configurationSchema.safeParse(body).success).toBe(true);
    for (const field of Object.keys(least[provider] ?? {})) {
      const without: Record<string, unknown> = { ...body };
      delete without[field];
      const result = configurationSchema.safeParse(without);
      expect(result.error?.issues.map(({ path }) => path)).toEqual([[field]]);
    }
  });

  it.each(names)('%s accepts from_numbers and unknown keys and drops them', (provider) => {
    const config = configurationSchema.parse({
      provider,
      ...least[provider],
      from_numbers: ['1001'],
      surprise: true,
    });
    expect(config).toEqual(parsed(provider));
    expect(Object.keys(config)).not.toContain('from_numbers');
  });

  it('fills in the defaults of optional fields', () => {
    expect(parsed('ari')).toMatchObject({ ws_client_name: '', external_pbx: null });
    expect(parsed('twilio')).toMatchObject({ amd_enabled: false, api_base_url: null });
    expect(parsed('telnyx')).toMatchObject({ connection_id: null, webhook_public_key: null });
    expect(parsed('plivo')).toMatchObject({ application_id: null });
    expect(parsed('vonage')).toMatchObject({ signature_secret: null });
  });

  it('needs the provider, and one that exists', () => {
    expect(configurationSchema.safeParse({ ...specified.twilio }).success).toBe(false);
    const unknown = configurationSchema.safeParse({ provider: 'nope', ...specified.twilio });
    expect(unknown.error?.issues[0]?.path).toEqual(['provider']);
  });

  it('drops blanks that pasting left around a secret', () => {
    const config = configurationSchema.parse({
      provider: 'twilio',
      ...specified.twilio,
      auth_token: ' tok\n',
    });
    expect(config).toMatchObject({ auth_token: 'tok' });
  });

  it('completes and lowers the name of a Cloudonix domain', () => {
    expect(parsed('cloudonix')).toMatchObject({ domain_id: 'acme.cloudonix.net' });
  });

  it.each([
    ['https://api.dublin.ie1.twilio.com', true],
    ['http://127.0.0.1:9000', true],
    ['http://localhost:9000', true],
    ['http://api.twilio.com', false],
    ['http://127.0.0.1.example.com', false],
    ['https://user:pass@api.twilio.com', false],
    ['ftp://api.twilio.com', false],
    ['nonsense', false],
  ])('sends the Twilio password in clear to this machine only: %s', (url, ok) => {
    const body = { provider: 'twilio', ...specified.twilio, api_base_url: url };
    expect(configurationSchema.safeParse(body).success).toBe(ok);
  });
});

describe('a change to a configuration', () => {
  it('may carry a single field and adds no defaults', () => {
    const patch = configurationPatchSchema.parse({ provider: 'twilio', auth_token: 'new' });
    expect(patch).toEqual({ provider: 'twilio', auth_token: 'new' });
    expect(configurationPatchSchema.parse({ provider: 'ari', from_numbers: [] })).toEqual({
      provider: 'ari',
    });
  });

  it('still checks what is sent', () => {
    expect(configurationPatchSchema.safeParse({ auth_token: 'new' }).success).toBe(false);
    expect(configurationPatchSchema.safeParse({ provider: 'twilio', auth_token: '' }).success).toBe(
      false,
    );
  });
});

describe('masking', () => {
  it('shows the last four characters and keeps the length', () => {
    expect(maskSecret('s3cretpass')).toBe('******pass');
    expect(maskSecret('abcd')).toBe('****');
    expect(maskSecret('')).toBe('');
  });

  it.each<[ConfiguredProviderName, string[]]>([
    ['cloudonix', ['application_key', 'bearer_token']],
    ['plivo', ['auth_id', 'auth_token']],
    ['telnyx', ['api_key']],
    ['twilio', ['account_sid', 'auth_token']],
    ['vobiz', ['auth_id', 'auth_token']],
    ['vonage', ['api_key', 'api_secret', 'private_key', 'signature_secret']],
  ])("masks %s' secret fields", (provider, fields) => {
    expect([...secretFieldsOf(provider)].sort()).toEqual(fields);
    const masked = maskCredentials(provider, parsed(provider));
    for (const field of fields) {
      const stored = Object.entries(parsed(provider)).find(([name]) => name === field)?.[1];
      if (typeof stored === 'string') expect(masked[field]).toBe(maskSecret(stored));
    }
  });

  it("masks the secrets inside Asterisk's external PBX", () => {
    const stored = configurationSchema.parse({
      provider: 'ari',
      ...specified.ari,
      external_pbx: { agent_api: { url: 'http://d', username: 'operator', password: 'hunter22' } },
    });
    const masked = maskCredentials('ari', stored);
    expect(masked).toMatchObject({
      app_password: '******pass',
      external_pbx: {
        agent_api: { url: 'http://d', username: '****ator', password: '****er22' },
        non_agent_api: null,
      },
    });
    expect(restoreMasked('ari', masked, stored)).toMatchObject({
      app_password: 's3cretpass',
      external_pbx: { agent_api: { username: 'operator', password: 'hunter22' } },
    });
  });

  it('shows no unknown fields, nor provider nor from_numbers', () => {
    const stored = {
      ...parsed('ari'),
      stasis_app_name: 'pb_1',
      from_numbers: ['1'],
      secret_x: 'x',
    };
    const masked = maskCredentials('ari', stored);
    expect(Object.keys(masked).sort()).toEqual([
      'app_name',
      'app_password',
      'ari_endpoint',
      'connection',
      'dial_template',
      'early_media',
      'external_pbx',
      'media',
      'media_format',
      'stasis_app_name',
      'transfer_context',
      'ws_client_name',
    ]);
  });

  it('keeps a stored secret only when its own mask comes back', () => {
    const stored = { account_sid: 'AC0123456789', auth_token: 'twilio-token' };
    const back = restoreMasked(
      'twilio',
      { provider: 'twilio', account_sid: '********6789', auth_token: '********oken2' },
      stored,
    );
    expect(back).toEqual({
      provider: 'twilio',
      account_sid: 'AC0123456789',
      auth_token: '********oken2',
    });
  });

  it.each(names)('%s: a detail that is sent back changes nothing', (provider) => {
    const stored = { ...parsed(provider) };
    const patch = configurationPatchSchema.parse({
      provider,
      ...maskCredentials(provider, stored),
    });
    expect({ ...stored, ...restoreMasked(provider, patch, stored) }).toEqual(stored);
  });

  it('leaves what it is given untouched, for any secret', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (secret) => {
        const stored = { account_sid: 'AC1', auth_token: secret };
        const masked = maskCredentials('twilio', stored);
        expect(stored.auth_token).toBe(secret);
        expect([...String(masked['auth_token'])].length).toBe([...secret].length);
        expect(restoreMasked('twilio', masked, stored)['auth_token']).toBe(secret);
      }),
    );
  });
});

describe('the schema of a form', () => {
  it('describes every provider in the order of their names', () => {
    expect(providerMetadata.map(({ provider }) => provider)).toEqual([...names].sort());
  });

  it.each(providerMetadata.map((each) => [each.provider, each] as const))(
    '%s: every field has a label, and required means required',
    (provider, { fields, connectivity }) => {
      expect(connectivity).toBe(connectivityOf(provider));
      expect(fields.every(({ label, name }) => label !== '' && label !== name)).toBe(true);
      const required = fields.filter((field) => field.required).map(({ name }) => name);
      expect(required.sort()).toEqual(Object.keys(least[provider] ?? {}).sort());
    },
  );

  it('every choice of a field is taken, and has words', () => {
    const choices = providerMetadata.flatMap(({ provider, fields }) =>
      fields.flatMap(({ name, type, options }) => {
        expect(type === 'select').toBe(options !== null);
        return (options ?? []).map((option) => ({ provider, name, ...option }));
      }),
    );
    expect(choices.length).toBeGreaterThan(10);
    for (const { provider, name, value, label } of choices) {
      expect(label).not.toBe(value);
      const stored = configurationSchema.parse({ provider, ...least[provider], [name]: value });
      expect(stored).toMatchObject({ [name]: value });
    }
  });

  it('every setting of Asterisk that is not nested is in its form, with what to choose', () => {
    const { fields } = providerMetadata.find(({ provider }) => provider === 'ari') ?? {};
    const settings = Object.keys(parsed('ari')).filter(
      (name) => !['provider', 'external_pbx'].includes(name),
    );
    expect(fields?.map(({ name }) => name).toSorted()).toEqual(settings.toSorted());
    expect(fields?.filter(({ description }) => description === null)).toEqual([]);
  });

  it('names the account that webhooks name', () => {
    expect(accountIdOf('twilio', specified.twilio)).toBe('AC0123456789');
    expect(accountIdOf('vonage', specified.vonage)).toBe('a1b2c3d4');
    expect(accountIdOf('cloudonix', parsed('cloudonix'))).toBe('acme.cloudonix.net');
    expect(accountIdOf('telnyx', parsed('telnyx'))).toBeNull();
    expect(accountIdOf('ari', specified.ari)).toBeNull();
  });

  it('reaches Asterisk and Cloudonix over SIP and the rest over an API', () => {
    expect(names.filter((name) => connectivityOf(name) === 'sip')).toEqual(['ari', 'cloudonix']);
  });
});
