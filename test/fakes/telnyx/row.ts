// The fake Telnyx as one of the hosted providers.

import { telnyxProvider } from '../../../src/telephony/telnyx/provider.ts';
import type { HostedRow } from '../hosted/hosted-fake.ts';
import { startFakeTelnyx } from './fake-telnyx.ts';

export const API_KEY = 'KEY0189f2c4d6e8a0b2c4d6e8f0a1b2c3d4_secretpartofthekey';
export const CONNECTION_ID = '1293384261075731499';
/** Seed and public key of one of the signature vectors (fixtures/wire/telnyx). */
export const SEED_HEX = '07'.repeat(32);
export const PUBLIC_KEY = '6kpsY+KcUgq+9VB7Ey7F+ZVHdq6+vnuSQh7qaRRG0iw=';
const CALL_CONTROL_ID = 'v3:MdI91X4lWFEs7IgbBEOT9M4AigoY08M0WWZFISt1Yw2axZ_IiE4pqg';

export const telnyxRow: HostedRow = {
  name: 'telnyx',
  create: telnyxProvider.create,
  startFake: (options) =>
    startFakeTelnyx({
      ...options,
      apiKey: API_KEY,
      connectionId: CONNECTION_ID,
      seedHex: SEED_HEX,
    }),
  configuration: (baseUrl) => ({
    provider: 'telnyx',
    api_key: API_KEY,
    connection_id: CONNECTION_ID,
    webhook_public_key: PUBLIC_KEY,
    amd_enabled: true,
    api_base_url: baseUrl,
  }),
  // The key of RFC 8032, 7.1, test 1.
  wrongSecret: { webhook_public_key: '11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=' },
  wrongLogin: { api_key: 'KEY0123' },
  webhooks: [
    'call.initiated',
    'call.hangup',
    'call.machine.detection.ended',
    'streaming.failed',
  ].map((type) =>
    JSON.stringify({
      data: {
        ['record_type']: 'event',
        ['event_type']: type,
        id: 'e1',
        ['occurred_at']: '2026-11-21T10:00:00.250000Z',
        payload: {
          ['call_control_id']: 'v3:abc',
          ['connection_id']: '1293384261075731499',

          from: '+14155550101',
          to: '+14155550100',
          direction: 'incoming',

          ['hangup_cause']: 'user_busy',
          ['sip_hangup_cause']: '486',
          result: 'machine',
        },
      },
      meta: { attempt: 1 },
    }),
  ),
  reportsTransfers: true,
  dialled: {
    status: 200,
    body: {
      data: {
        record_type: 'call',
        call_control_id: CALL_CONTROL_ID,
        call_leg_id: '2dc6fc34-f9e0-11ea-b68e-02420a0f7768',
        call_session_id: '2dc1b3c8-f9e0-11ea-bc5a-02420a0f7768',
        is_alive: false,
      },
    },
    callId: CALL_CONTROL_ID,
  },
  refusals: [
    {
      status: 401,
      body: { errors: [{ code: '10009', title: 'Authentication failed', detail: 'Bad key' }] },
      code: 'PROVIDER_AUTH',
      words: '10009: Bad key',
    },
    {
      status: 422,
      body: {
        errors: [
          {
            code: '10016',
            title: 'Phone number must be in +E164 format',
            detail: "The 'to' parameter must be in E164 format.",
            source: { pointer: '/to' },
          },
        ],
      },
      code: 'PROVIDER_DESTINATION',
      words: "10016: The 'to' parameter must be in E164 format.",
    },
    {
      status: 403,
      body: { errors: [{ code: '10010', title: 'Channel limit exceeded D1', detail: '' }] },
      code: 'PROVIDER_CAPACITY',
      words: '10010: Channel limit exceeded D1',
    },
    {
      status: 429,
      body: { errors: [{ code: '10011', title: 'Too many requests' }] },
      code: 'PROVIDER_CAPACITY',
      words: '10011: Too many requests',
    },
    {
      status: 422,
      body: { errors: [{ code: '10015', title: 'Invalid value', detail: 'Bad connection_id' }] },
      code: 'PROVIDER_REFUSED',
      words: '10015: Bad connection_id',
    },
  ],
};
