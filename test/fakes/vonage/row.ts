// The fake Vonage as one of the hosted providers.

import { vonageProvider } from '../../../src/telephony/vonage/provider.ts';
import type { HostedRow } from '../hosted/hosted-fake.ts';
import {
  API_KEY,
  API_SECRET,
  APPLICATION_ID,
  PRIVATE_KEY_PEM,
  SIGNATURE_SECRET,
} from './account.ts';
import { startFakeVonage } from './fake-vonage.ts';

const UUID = '63f61863-4a51-4f6b-86e1-46edebcf9356';

export const vonageRow: HostedRow = {
  name: 'vonage',
  create: vonageProvider.create,
  startFake: startFakeVonage,
  configuration: (baseUrl) => ({
    provider: 'vonage',
    api_key: API_KEY,
    api_secret: API_SECRET,
    application_id: APPLICATION_ID,
    private_key: PRIVATE_KEY_PEM,
    signature_secret: SIGNATURE_SECRET,
    api_base_url: baseUrl,
  }),
  wrongSecret: { signature_secret: 'x'.repeat(32) },
  wrongLogin: { api_secret: 'another' },
  webhooks: [
    '{"from":"14155550100","to":"14155550101","uuid":"aaaa-bbbb","conversation_uuid":"CON-1"}',
    '{"from":"14155550100","to":"14155550101","uuid":"aaaa-bbbb","conversation_uuid":"CON-1","status":"completed","duration":"7","direction":"inbound"}',
    '{"call_uuid":"aaaa-bbbb","status":"machine","sub_state":"beep_start"}',
  ],
  reportsTransfers: true,
  dialled: {
    status: 201,
    body: { uuid: UUID, status: 'started', direction: 'outbound', conversation_uuid: 'CON-1' },
    callId: UUID,
  },
  refusals: [
    {
      status: 401,
      body: { type: 'UNAUTHORIZED', title: 'Unauthorized', detail: 'Invalid Token' },
      code: 'PROVIDER_AUTH',
      words: 'Unauthorized: Invalid Token',
    },
    {
      status: 400,
      body: {
        type: 'BAD_REQUEST',
        title: 'Bad Request',
        detail: 'Invalid value for param to: 14155550199',
        invalid_parameters: [{ name: 'to[0].number', reason: 'must be a number' }],
      },
      code: 'PROVIDER_DESTINATION',
      words: 'Bad Request: Invalid value for param to: [...]',
    },
    {
      status: 429,
      body: { type: 'TOO_MANY', title: 'Rate Limited', detail: 'Please wait, then retry' },
      code: 'PROVIDER_CAPACITY',
      words: 'Rate Limited: Please wait, then retry',
    },
    {
      status: 400,
      body: { type: 'BAD_REQUEST', title: 'Bad Request', detail: 'answer_url is no URL' },
      code: 'PROVIDER_REFUSED',
      words: 'Bad Request: answer_url is no URL',
    },
  ],
};
