import { describe, expect, it } from 'vitest';
import { dialQuery } from '../../../../src/telephony/ari/calls/dial-endpoint.ts';
import { accountOf, ariCredentials } from '../../../../src/telephony/ari/rest/config.ts';

const base = {
  provider: 'ari',
  ari_endpoint: 'http://pbx:8088',
  app_name: 'gw',
  app_password: 'x',
};
const endpoint = (template: string, to: string) =>
  dialQuery(accountOf({ ...base, dial_template: template }), {
    channelId: 'c',
    to,
    callerId: null,
    ringS: 30,
    mediaFormat: 'ulaw',
    args: 'outbound,1',
  })['endpoint'];

const dialled = {
  channelId: 'c',
  to: '1',
  callerId: null,
  ringS: 30,
  mediaFormat: 'ulaw',
  args: '',
};

describe('how a number is dialled', () => {
  it.each([
    ['PJSIP/{number}', '1001', 'PJSIP/1001'],
    ['PJSIP/{number}@trunk', '+14155550100', 'PJSIP/14155550100@trunk'],
    ['PJSIP/{e164}@trunk', '+14155550100', 'PJSIP/+14155550100@trunk'],
    ['PJSIP/{e164}@trunk', '1001', 'PJSIP/+1001@trunk'],
    ['Local/{number}@from-internal/n', '600', 'Local/600@from-internal/n'],
    ['PJSIP/{number}@trunk', 'PJSIP/alice', 'PJSIP/alice'],
    ['PJSIP/{number}@trunk', 'SIP/bob', 'SIP/bob'],
    ['PJSIP/{number}@trunk', 'sip:bob@example.com', 'PJSIP/trunk/sip:bob@example.com'],
  ])('%s with %s is %s', (template, to, expected) => {
    expect(endpoint(template, to)).toBe(expected);
  });

  it('gets our channel id, how long to ring, and whose number to show', () => {
    const account = accountOf({ ...base, stasis_app_name: 'patchbay_1' });
    const whom = { channelId: 'c', to: '1', callerId: '+1415', ringS: 29.6 };
    const wanted = { ...whom, mediaFormat: undefined, args: 'a,b' };
    expect(dialQuery(account, wanted)).toMatchObject({
      app: 'patchbay_1',
      appArgs: 'a,b',
      channelId: 'c',
      callerId: '+1415',
      timeout: '30',
    });
    expect(dialQuery(account, { ...wanted, callerId: null })).not.toHaveProperty('callerId');
    expect(dialQuery(account, wanted)).not.toHaveProperty('formats');
  });

  it.each([
    ['auto', 'ulaw,alaw,g722,slin16,slin'],
    ['alaw', 'alaw,ulaw,g722,slin16,slin'],
    ['g722', 'g722,slin16,ulaw,alaw,slin'],
    ['slin16', 'slin16,g722,ulaw,alaw,slin'],
  ])('names the formats, that of the audio first: %s', (format, expected) => {
    const account = accountOf({ ...base, media_format: format });
    expect(dialQuery(account, dialled)).toMatchObject({ formats: expected });
  });

  // Offered several formats, the PBX took the best one and converted the audio twice on its way.
  it.each(['ulaw', 'slin16', 'slin'])('names that of the audio alone for Local: %s', (format) => {
    const account = accountOf({ ...base, dial_template: 'Local/{number}@from-internal/n' });
    const query = dialQuery(account, { ...dialled, mediaFormat: format });
    expect(query).toMatchObject({ formats: format });
  });

  it('is a template with the number in it', () => {
    for (const bad of ['', 'PJSIP/trunk', '{number}', 'PJSIP/{other}', 'x'.repeat(300)]) {
      expect(ariCredentials.schema.safeParse({ ...base, dial_template: bad }).success).toBe(false);
    }
    expect(
      ariCredentials.schema.safeParse({ ...base, dial_template: 'PJSIP/{number}@t' }).success,
    ).toBe(true);
  });
});
