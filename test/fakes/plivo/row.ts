// The fake Plivo as one of the hosted providers.

import { createHmac, randomUUID } from 'node:crypto';
import { plivoProvider } from '../../../src/telephony/plivo/provider.ts';
import type { HostedRow } from '../hosted/hosted-fake.ts';
import type { Dialect, FakeAccount, RestAnswer, RestRequest, XmlCall } from './dialect.ts';
import { refusal } from './dialect.ts';
import { APPLICATION_ID, startFakeXmlProvider } from './fake-xml-provider.ts';
import { webhookBodies } from './webhooks.ts';

const AUTH_ID = 'MAXXXXXXXXXXXXXXXXXX';
const AUTH_TOKEN = 'plivo-fake-token-'.repeat(2);
const CALL = '6b7b2a2c-523d-11e1-86da-adf28403fe48';

export const plivoDialect: Dialect = {
  name: 'plivo',
  version: 'v1',
  authId: AUTH_ID,
  authToken: AUTH_TOKEN,
  isAuthorized: ({ authorization }) =>
    authorization === `Basic ${Buffer.from(`${AUTH_ID}:${AUTH_TOKEN}`).toString('base64')}`,
  signed(url, form) {
    const nonce = randomUUID().replaceAll('-', '');
    return {
      ['X-Plivo-Signature-V3']: plivoSignature(AUTH_TOKEN, { url, form, nonce }),
      ['X-Plivo-Signature-V3-Nonce']: nonce,
    };
  },
  answer: answerPlivo,
  wire: { firstMs: 1, earlyAudio: false, namesStream: true, bufferMsMax: 40_000 },
  ringEvents: true,
};

/** V3 of a POST, as the vectors of the official SDK have it. */
export function plivoSignature(
  token: string,
  { url, form, nonce }: { url: string; form: Record<string, string>; nonce: string },
): string {
  const [base = '', query = ''] = url.split('?');
  const names = Object.keys(form).sort();
  const sortedQuery = query.split('&').sort().join('&');
  const fields = names.map((name) => name + form[name]).join('');
  const dot = query !== '' && names.length > 0 ? '.' : '';
  const mark = query !== '' || names.length > 0 ? '?' : '';
  const text = `${base}${mark}${sortedQuery}${dot}${fields}.${nonce}`;
  return createHmac('sha256', token).update(text).digest('base64');
}

function answerPlivo(
  account: FakeAccount,
  { method, path, query, body }: RestRequest,
): RestAnswer | undefined {
  const number = /^Number\/(\d+)\/$/.exec(path)?.[1];
  if (number !== undefined) return ofNumber(account, { number, method, body });
  if (method === 'DELETE' && path.startsWith('Request/')) return refusal(404, 'not found');
  if (method !== 'GET') return undefined;
  if (path === '') return describe(account.state);
  if (path === 'Call/') return listCalls(account, query);
  const call = /^Call\/([^/]+)\/$/.exec(path)?.[1];
  return call === undefined ? undefined : readCall(account.calls.get(call), query.get('status'));
}

function describe({ standing, balance }: FakeAccount['state']): RestAnswer {
  const type = standing === 'trial' ? 'trial' : 'standard';
  return { status: 200, body: { account_type: type, cash_credits: balance.toFixed(5) } };
}

function ofNumber(
  { numbers }: FakeAccount,
  { number, method, body }: { number: string; method: string; body: Record<string, unknown> },
): RestAnswer {
  const current = numbers.get(number);
  if (current === undefined) return refusal(404, 'not found');
  if (method === 'POST') {
    numbers.set(number, body['app_id'] === '' ? null : String(body['app_id']));
    return { status: 202, body: { message: 'changed' } };
  }
  const application = current === null ? null : `/v1/Account/${AUTH_ID}/Application/${current}/`;
  return { status: 200, body: { number, application } };
}

function readCall(call: XmlCall | undefined, status: string | null): RestAnswer {
  if (call === undefined) return refusal(404, 'not found');
  if (status === 'queued') return refusal(404, 'not found');
  if (status === 'live') {
    if (call.isOver) return refusal(404, 'not found');
    return { status: 200, body: { call_status: call.word, call_uuid: call.id } };
  }
  return call.isOver ? { status: 200, body: recordOf(call) } : refusal(404, 'not found');
}

function listCalls({ calls }: FakeAccount, query: URLSearchParams): RestAnswer {
  const [from, to] = [query.get('from_number'), query.get('to_number')];
  const between = [...calls.values()]
    .filter((call) => call.to === to && (from === null || call.from === from))
    .toReversed();
  const status = query.get('status');
  if (status === null) {
    const objects = between.filter(({ isOver }) => isOver).map(recordOf);
    return { status: 200, body: { objects } };
  }
  const live = status === 'live' ? between.filter(({ isOver }) => !isOver) : [];
  return { status: 200, body: { calls: live.map(({ id }) => id) } };
}

function recordOf(call: XmlCall): Record<string, unknown> {
  const [code, name] = call.cause;
  return {
    call_uuid: call.id,
    hangup_cause_code: Number(code),
    hangup_cause_name: name,
    call_duration: call.durationS,
    initiation_time: call.startedAt.toISOString(),
    answer_time: call.wasAnswered ? call.startedAt.toISOString() : null,
  };
}

export const plivoRow: HostedRow = {
  name: 'plivo',
  create: plivoProvider.create,
  startFake: (options) => startFakeXmlProvider(plivoDialect, options),
  configuration: (baseUrl) => ({
    provider: 'plivo',
    auth_id: AUTH_ID,
    auth_token: AUTH_TOKEN,
    application_id: APPLICATION_ID,
    amd_enabled: true,
    api_base_url: baseUrl,
  }),
  wrongSecret: { auth_token: 'f'.repeat(32) },
  webhooks: webhookBodies,
  reportsTransfers: true,
  dialled: {
    status: 201,
    body: { api_id: '5a9fcb68', message: 'call fired', request_uuid: CALL },
    callId: CALL,
  },
  refusals: [
    {
      status: 401,
      body: { api_id: 'x', error: 'authentication credentials missing or invalid' },
      code: 'PROVIDER_AUTH',
      words: 'authentication credentials missing or invalid',
    },
    {
      status: 400,
      body: { api_id: 'x', error: '14155550199 is not a valid phone number' },
      code: 'PROVIDER_DESTINATION',
      words: '[...] is not a valid phone number',
    },
    {
      status: 429,
      body: { api_id: 'x', error: 'too many requests' },
      code: 'PROVIDER_CAPACITY',
      words: 'too many requests',
    },
    {
      status: 400,
      body: { api_id: 'x', error: 'answer_url parameter not present' },
      code: 'PROVIDER_REFUSED',
      words: 'answer_url parameter not present',
    },
  ],
};
