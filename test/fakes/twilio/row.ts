// The fake Twilio as one of the hosted providers.

import { twilioProvider } from '../../../src/telephony/twilio/provider.ts';
import type { HostedRow } from '../hosted/hosted-fake.ts';
import { startFakeTwilio } from './fake-twilio.ts';

export const ACCOUNT_SID = `AC${'0123456789abcdef'.repeat(2)}`;
export const AUTH_TOKEN = 'fedcba9876543210'.repeat(2);
const CALL_SID = `CA${'1'.repeat(32)}`;

export const twilioRow: HostedRow = {
  name: 'twilio',
  create: twilioProvider.create,
  startFake: ({ gatewayUrl, ...options }) =>
    startFakeTwilio({
      ...options,
      publicWebhookBase: gatewayUrl,
      accountSid: ACCOUNT_SID,
      authToken: AUTH_TOKEN,
    }),
  configuration: (baseUrl) => ({
    provider: 'twilio',
    account_sid: ACCOUNT_SID,
    auth_token: AUTH_TOKEN,
    amd_enabled: true,
    api_base_url: baseUrl,
  }),
  wrongSecret: { auth_token: 'f'.repeat(32) },
  webhooks: [
    `CallSid=CA${'1'.repeat(32)}&AccountSid=AC${'2'.repeat(32)}&From=%2B14155550100&To=%2B14155550101&Direction=inbound&CallStatus=ringing`,
    `CallSid=CA${'1'.repeat(32)}&AccountSid=AC${'2'.repeat(32)}&CallStatus=completed&SequenceNumber=3&CallDuration=7&Direction=outbound-api&CallbackSource=call-progress-events`,
    `CallSid=CA${'1'.repeat(32)}&AccountSid=AC${'2'.repeat(32)}&AnsweredBy=machine_start`,
  ],
  reportsTransfers: true,
  dialled: { status: 201, body: { sid: CALL_SID, status: 'queued' }, callId: CALL_SID },
  refusals: [
    {
      status: 401,
      body: { code: 20_003, message: 'Authenticate', status: 401 },
      code: 'PROVIDER_AUTH',
      words: '20003: Authenticate',
    },
    {
      status: 400,
      body: { code: 21_211, message: "The 'To' number +14155550199 is not valid", status: 400 },
      code: 'PROVIDER_DESTINATION',
      words: "21211: The 'To' number [...] is not valid",
    },
    {
      status: 429,
      body: { code: 20_429, message: 'Too Many Requests', status: 429 },
      code: 'PROVIDER_CAPACITY',
      words: '20429: Too Many Requests',
    },
    {
      status: 400,
      body: { code: 21_205, message: 'Url is not a valid URL', status: 400 },
      code: 'PROVIDER_REFUSED',
      words: '21205: Url is not a valid URL',
    },
  ],
};
