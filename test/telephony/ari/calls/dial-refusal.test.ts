// Asterisk creates no channel for an endpoint that does not exist, and none for one that has not registered: 500 for both.

import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../../src/errors/gateway-error.ts';
import { explainedRefusal } from '../../../../src/telephony/ari/calls/dial-refusal.ts';
import type { AriRequest } from '../../../../src/telephony/ari/rest/client.ts';
import { dial, nothingLeft, patient, table } from '../ari-harness.ts';

describe('a dial that Asterisk refuses', () => {
  it.each([
    ['PJSIP/102', 'PJSIP/102 is not registered'],
    ['PJSIP/5551234@102', 'PJSIP/102 is not registered'],
    ['PJSIP/103', 'PJSIP/103: there is no such endpoint'],
    ['PJSIP/5551234@nosuch', 'PJSIP/nosuch: there is no such endpoint'],
  ])('to %s says: %s', async (to, words) => {
    for (const early of [false, true]) {
      const at = await table({ credentials: { early_media: early } });
      await expect(dial(at, to)).rejects.toMatchObject({
        code: 'PROVIDER_DESTINATION',
        message: expect.stringContaining(words),
      });
      await nothingLeft(at);
    }
  });
});

describe('the endpoint of a dial string', () => {
  const refused = new GatewayError('PROVIDER_DESTINATION', { provider: 'ari', action: 'dial' });

  it.each([
    ['PJSIP/trunk/sip:5551234@sbc.example.com', 'PJSIP/trunk', 'pjsip show endpoints'],
    ['PJSIP/5551234@trunk/sip:sbc', 'PJSIP/trunk', 'pjsip show endpoints'],
    ['SIP/trunk/5551234', 'SIP/trunk', 'sip show peers'],
    ['IAX2/user:s3cret@peer/5551234', 'IAX2/peer', 'iax2 show peers'],
    ['IAX2/user:s3cret@peer:4569/5551234@context', 'IAX2/peer', 'iax2 show peers'],
  ])('%s is looked up as %s, without a password', async (dialString, name, list) => {
    const asked: AriRequest[] = [];
    const client = {
      send: (request: AriRequest) => {
        asked.push(request);
        return Promise.resolve({ status: 404, body: null });
      },
    };
    const error = await explainedRefusal(client, dialString, refused, patient);
    expect(asked.map(({ path }) => path)).toEqual([`endpoints/${name}`]);
    expect(error).toMatchObject({
      code: 'PROVIDER_DESTINATION',
      message: expect.stringContaining(`${name}: there is no such endpoint (${list})`),
    });
    expect(JSON.stringify(error) + String(error)).not.toContain('s3cret');
  });

  it.each(['Local/5551234@from-internal/n', 'DAHDI/g1/5551234', 'PJSIP'])(
    '%s is not looked up',
    async (dialString) => {
      const client = { send: () => expect.fail('nothing is asked') };
      expect(await explainedRefusal(client, dialString, refused, patient)).toBe(refused);
    },
  );
});
