// A configuration of Asterisk as it was stored, and what follows from it.

import { describe, expect, it } from 'vitest';
import { accountOf, basicAuth, restUrl } from '../../../../src/telephony/ari/rest/config.ts';

const least = { ari_endpoint: 'http://pbx:8088', app_name: 'gw', app_password: 'secret' };

describe('an account', () => {
  it('that was stored long ago has every setting', () => {
    expect(accountOf({ ...least, from_numbers: ['1'] })).toEqual({
      ...least,
      provider: 'ari',
      app: 'gw',
      ws_client_name: '',
      dial_template: 'PJSIP/{number}',
      early_media: false,
      media: 'auto',
      media_format: 'auto',
      transfer_context: '',
      connection: 'outgoing',
      external_pbx: null,
    });
  });

  it.each(['http://admin:word@pbx:8088', 'http://pbx:8088/ari'])(
    'keeps working with the address %s, which is no longer stored',
    (address) => {
      expect(accountOf({ ...least, ari_endpoint: address }).ari_endpoint).toBe(address);
    },
  );

  it.each([
    ['patchbay_0123456789ab', 'patchbay_0123456789ab'],
    ['', 'gw'],
    [7, 'gw'],
    [undefined, 'gw'],
  ])('has the application %s as %s', (stored, app) => {
    expect(accountOf({ ...least, stasis_app_name: stored }).app).toBe(app);
  });

  it.each([
    {},
    { ...least, ari_endpoint: 'ftp://pbx' },
    { ...least, app_password: '' },
    { ...least, dial_template: '{number}' },
    { ...least, dial_template: 'PJSIP/trunk' },
    { ...least, media: 'pigeon' },
    { ...least, media_format: 'opus' },
    { ...least, early_media: 'yes' },
    { ...least, connection: 'both' },
    { ...least, transfer_context: 'x'.repeat(81) },
  ])('%o is none', (credentials) => {
    expect(() => accountOf(credentials)).toThrow(
      expect.objectContaining({ code: 'PROVIDER_AUTH' }),
    );
  });

  it('is of this provider whatever is stored beside it', () => {
    expect(accountOf({ ...least, provider: 'twilio' }).provider).toBe('ari');
  });
});

describe('its requests', () => {
  it.each([
    ['http://pbx:8088', 'http://pbx:8088/ari'],
    ['https://pbx.example.com:8089/', 'https://pbx.example.com:8089/ari'],
    ['https://example.com/pbx//', 'https://example.com/pbx/ari'],
  ])('to %s go to %s', (ariEndpoint, url) => {
    expect(restUrl(accountOf({ ...least, ari_endpoint: ariEndpoint }))).toBe(url);
  });

  it('prove who asks in bytes of UTF-8, colons in the password included', () => {
    const authorization = basicAuth(accountOf({ ...least, app_password: 'pä:ß' }));
    expect(authorization.startsWith('Basic ')).toBe(true);
    expect(Buffer.from(authorization.slice(6), 'base64').toString()).toBe('gw:pä:ß');
  });
});
