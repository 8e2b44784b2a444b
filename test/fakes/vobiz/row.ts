// The fake Vobiz as one of the hosted providers.

import { createHmac, randomUUID } from 'node:crypto';
import { vobizProvider } from '../../../src/telephony/vobiz/provider.ts';
import type { HostedRow } from '../hosted/hosted-fake.ts';
import {
  type Dialect,
  type FakeAccount,
  type RestAnswer,
  type RestRequest,
  refusal,
  type XmlCall,
} from '../plivo/dialect.ts';
import { APPLICATION_ID, startFakeXmlProvider } from '../plivo/fake-xml-provider.ts';
import { webhookBodies } from '../plivo/webhooks.ts';

const AUTH_ID = 'MA_FAKEVOBIZ';
const AUTH_TOKEN = 'vobiz-fake-token-'.repeat(2);
/** From the beginning of an inbound call until it is in the list of live calls. */
const LISTED_AFTER_MS = 150;
const CALL = '7c7b2a2c-523d-11e1-86da-adf28403fe48';

export const vobizDialect: Dialect = {
  name: 'vobiz',
  version: 'api/v1',
  authId: AUTH_ID,
  authToken: AUTH_TOKEN,
  isAuthorized: (headers) =>
    headers['x-auth-id'] === AUTH_ID && headers['x-auth-token'] === AUTH_TOKEN,
  signed(url) {
    const nonce = randomUUID().replaceAll('-', '');
    const text = `${url.split('?', 1)[0]}.${nonce}`;
    return {
      ['X-Vobiz-Signature-V3']: createHmac('sha256', AUTH_TOKEN).update(text).digest('base64'),
      ['X-Vobiz-Signature-V3-Nonce']: nonce,
      ['User-Agent']: 'vobiz-callback/1.0',
    };
  },
  answer: answerVobiz,
  wire: { firstMs: 0, earlyAudio: true, namesStream: false, bufferMsMax: 60_000 },
  ringEvents: false,
};

function answerVobiz(
  account: FakeAccount,
  { method, path, query, body }: RestRequest,
): RestAnswer | undefined {
  if (path === 'numbers' && method === 'GET') {
    const items = [...account.numbers]
      .filter(([number]) => number.includes(query.get('search') ?? ''))
      .map(([number, id]) => ({ e164: `+${number}`, application_id: id, trunk_group_id: null }));
    return { status: 200, body: { items, total: items.length, page: 1, per_page: 100 } };
  }
  const number = /^numbers\/%2B(\d+)\/application$/.exec(path)?.[1];
  if (number !== undefined) {
    if (!account.numbers.has(number)) return refusal(404, 'not found');
    account.numbers.set(number, method === 'POST' ? String(body['application_id']) : null);
    return { status: 200, body: { message: 'changed' } };
  }
  if (method !== 'GET') return undefined;
  if (path === 'balance') {
    const { balance, standing: status } = account.state;
    return { status: 200, body: { available_balance: balance, currency: 'INR', status } };
  }
  const over = /^cdr\/([^/]+)$/.exec(path)?.[1];
  if (over !== undefined) return recordOf(account.calls.get(over));
  const live = /^Call\/([^/]+)\/$/.exec(path)?.[1];
  return live === undefined
    ? undefined
    : readLive(account.calls.get(live), query.get('status') ?? '');
}

function readLive(call: XmlCall | undefined, status: string): RestAnswer {
  if (call === undefined || call.isOver || status !== 'live') return refusal(404, 'not found');
  const isNew = call.ageMs < LISTED_AFTER_MS;
  if (call.direction === 'inbound' && isNew) return refusal(404, 'not found');
  return { status: 200, body: { call_status: call.word, call_uuid: call.id } };
}

function recordOf(call: XmlCall | undefined): RestAnswer {
  if (call?.isOver !== true) return refusal(404, 'not found');
  const [code, name] = call.cause;
  const data = {
    uuid: call.id,
    hangup_cause: name,
    hangup_cause_code: Number(code),
    billsec: call.durationS,
    answer_time: call.wasAnswered ? call.startedAt.toISOString() : null,
  };
  return { status: 200, body: { data, success: true } };
}

export const vobizRow: HostedRow = {
  name: 'vobiz',
  create: vobizProvider.create,
  startFake: (options) => startFakeXmlProvider(vobizDialect, options),
  configuration: (baseUrl) => ({
    provider: 'vobiz',
    auth_id: AUTH_ID,
    auth_token: AUTH_TOKEN,
    application_id: APPLICATION_ID,
    api_base_url: baseUrl,
  }),
  wrongSecret: { auth_token: 'f'.repeat(32) },
  webhooks: webhookBodies,
  reportsTransfers: true,
  dialled: {
    status: 200,
    body: { api_id: 'x', message: 'Call fired', request_uuid: CALL },
    callId: CALL,
  },
  refusals: [
    {
      status: 401,
      body: { error: 'invalid credentials' },
      code: 'PROVIDER_AUTH',
      words: 'invalid credentials',
    },
    {
      status: 422,
      body: { message: 'to 919876543210 is not a valid number' },
      code: 'PROVIDER_DESTINATION',
      words: 'to [...] is not a valid number',
    },
    {
      status: 402,
      body: { error: 'insufficient balance' },
      code: 'PROVIDER_CAPACITY',
      words: 'insufficient balance',
    },
    {
      status: 429,
      body: { error: 'CPS limit exceeded' },
      code: 'PROVIDER_CAPACITY',
      words: 'CPS limit exceeded',
    },
  ],
};
