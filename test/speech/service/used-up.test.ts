// Refusals of services whose account is used up, under statuses that mean something else. Bodies as the services document
// them, or as their users have reported them.

import { describe, expect, it } from 'vitest';
import { faultKindOfRefusal } from '../../../src/speech/service/service-fault.ts';
import { isClosedUsedUp } from '../../../src/speech/service/used-up.ts';

const refused = (status: number, body: object | string) =>
  faultKindOfRefusal(status, typeof body === 'string' ? body : JSON.stringify(body));

describe('a refusal because the account is used up', () => {
  it.each([
    [
      'ElevenLabs',
      401,
      {
        detail: { status: 'quota_exceeded', message: 'This request exceeds your quota of 10000.' },
      },
    ],
    ['OpenAI', 429, { error: { message: 'No.', type: 'insufficient_quota', code: null } }],
    ['OpenAI', 429, { error: { message: 'No.', type: 'billing_not_active' } }],
    ['Sarvam', 429, { error: { message: 'No.', code: 'insufficient_quota_error' } }],
    ['Deepgram', 402, { err_code: 'ASR_PAYMENT_REQUIRED', err_msg: 'Project lacks credits.' }],
    [
      'Anthropic',
      400,
      {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message: 'Your credit balance is too low to access the Anthropic API.',
        },
      },
    ],
    [
      'Azure',
      403,
      { error: { code: '403', message: 'Out of call volume quota for F0. Retry after 15 days.' } },
    ],
    ['Azure', 403, { statusCode: 403, message: 'Out of call volume quota. Replenished in 22.14.' }],
    ['OpenRouter', 403, { error: { message: 'Key limit exceeded (total limit).', code: 403 } }],
    ['Cartesia', 402, 'payment required'],
  ])('is no refusal of the key, the plan or the request: %s, %i, %j', (_, status, body) => {
    expect(refused(status, body)).toBe('quota');
  });

  it.each([
    [401, { detail: { status: 'invalid_api_key', message: 'Invalid API key' } }, 'auth'],
    [403, { error: { code: 'permission_denied', message: 'No.' } }, 'forbidden'],
    // A limit of connections or of requests in a minute has the name of a quota.
    [429, { message: 'Error', type: 'quota_exceeded', reason: 'Concurrent quota' }, 'rate'],
    [429, { error: { status: 'RESOURCE_EXHAUSTED', message: 'Quota of a minute.' } }, 'rate'],
    [503, { error: { type: 'insufficient_quota' } }, 'overload'],
    // Services quote what agents say.
    [400, { error: { message: 'bad text: "insufficient_funds on your card"' } }, 'request'],
    [400, { detail: [{ msg: 'bad text', input: { status: 'quota_exceeded' } }] }, 'request'],
    [401, 'quota_exceeded', 'auth'],
  ])('is not seen where the service means something else: %i, %j', (status, body, kind) => {
    expect(refused(status, body)).toBe(kind);
  });
});

describe('the reason of a closed websocket', () => {
  it.each([
    'Quota exceeded. Cid:  SessionId: 81ec6fba',
    'Quota exceeded',
    'This request exceeds your quota limit.',
    'This request exceeds your API key quota of 100. You have 3 credits remaining.',
    'quota_exceeded',
  ])('says that the account is used up: %j', (reason) => {
    expect(isClosedUsedUp(reason)).toBe(true);
  });

  it.each([
    '',
    'Concurrent quota exceeded, try again',
    'bad text: "This request exceeds your quota"',
    'quota_exceeded_by_text',
    'Max concurrent sessions exceeded',
  ])('does not say so: %j', (reason) => {
    expect(isClosedUsedUp(reason)).toBe(false);
  });
});
