// The fake Cloudonix as one of the hosted providers.

import { cloudonixProvider } from '../../../src/telephony/cloudonix/provider.ts';
import type { HostedRow } from '../hosted/hosted-fake.ts';
import { startFakeCloudonix } from './fake-cloudonix.ts';

export const DOMAIN = 'acme.cloudonix.net';
export const BEARER_TOKEN = `XI${'0123456789abcdef'.repeat(2)}`;
export const APPLICATION = { name: 'agents', apiKey: `XI${'fedcba9876543210'.repeat(2)}` };
const TOKEN = 'f'.repeat(32);
/** The contract asks more of one domain than ten requests in ten seconds. */
const REQUESTS_MAX = 10_000;

export const cloudonixRow: HostedRow = {
  name: 'cloudonix',
  create: (options) => cloudonixProvider.create({ ...options, requestsMax: REQUESTS_MAX }),
  startFake: (options) =>
    startFakeCloudonix({
      ...options,
      domain: DOMAIN,
      bearerToken: BEARER_TOKEN,
      application: APPLICATION,
    }),
  configuration: (baseUrl) => ({
    provider: 'cloudonix',
    bearer_token: BEARER_TOKEN,
    domain_id: DOMAIN,
    application_name: APPLICATION.name,
    application_key: APPLICATION.apiKey,
    api_base_url: baseUrl,
  }),
  wrongSecret: {
    bearer_token: `XI${'0'.repeat(32)}`,
    application_key: `XI${'1'.repeat(32)}`,
  },
  webhooks: [
    '{"CallSid":"c1","Session":"ffffffffffffffffffffffffffffffff","From":"100","To":"200","Direction":"inbound","CallStatus":"ringing","Domain":"acme.cloudonix.net","SessionData":{"token":"ffffffffffffffffffffffffffffffff"}}',
    '{"id":4711,"domain":"acme.cloudonix.net","token":"ffffffffffffffffffffffffffffffff","status":"answer","callStartTime":1,"callAnswerTime":2,"callEndTime":9000}',
    '{"call_id":"c1","domain":"acme.cloudonix.net","disposition":"BUSY","billsec":0,"session":{"token":"ffffffffffffffffffffffffffffffff"}}',
  ],
  reportsTransfers: false,
  dialled: {
    status: 200,
    body: { domainId: 1, destination: '+14155550101', direction: 'outbound-api', token: TOKEN },
    callId: TOKEN,
  },
  refusals: [
    {
      status: 401,
      body: { message: 'Invalid API key' },

      code: 'PROVIDER_AUTH',
      words: 'Invalid API key',
    },
    {
      status: 400,
      body: { message: 'Invalid destination +14155550199' },

      code: 'PROVIDER_DESTINATION',
      words: 'Invalid destination [...]',
    },
    {
      status: 429,
      body: { message: 'Too many requests' },

      code: 'PROVIDER_CAPACITY',
      words: 'Too many requests',
    },
    {
      status: 404,
      body: { error: 'No such domain' },

      code: 'PROVIDER_REFUSED',
      words: 'No such domain',
    },
  ],
};
