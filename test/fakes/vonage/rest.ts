// The fake's REST interfaces, as far as the gateway uses them: calls, the application, numbers.
// Source: developer.vonage.com, Voice API, Application API v2, Numbers API.

import { z } from 'zod';
import type { AccountState } from '../hosted/account-state.ts';
import { API_KEY, API_SECRET, APPLICATION_ID, isSignedByGateway } from './account.ts';
import type { VonageCall } from './fake-call.ts';

export interface FakeNumber {
  country: string;
  msisdn: string;
  app_id?: string;
}

export interface RestAnswer {
  status: number;
  body: unknown;
}

export interface Account {
  state: AccountState;
  hasApplication: boolean;
  numbers: FakeNumber[];
  calls: Map<string, VonageCall>;
  /** As the Application API has it, without what it adds. */
  application: Record<string, unknown>;
  dial(wanted: DialBody): VonageCall;
}

const phone = z.strictObject({ type: z.literal('phone'), number: z.string().regex(/^\d{7,15}$/) });
const url = z.tuple([z.url()]);
const dialBody = z.strictObject({
  to: z.tuple([phone]),
  from: phone,
  answer_url: url,
  answer_method: z.literal('POST'),
  event_url: url,
  event_method: z.literal('POST'),
  ringing_timer: z.int().min(1).max(120),
  length_timer: z.int().min(1).max(7_200),
});
export type DialBody = z.infer<typeof dialBody>;
const change = z.discriminatedUnion('action', [
  z.strictObject({ action: z.literal('hangup') }),
  z.strictObject({
    action: z.literal('transfer'),
    destination: z.strictObject({ type: z.literal('ncco'), ncco: z.array(z.unknown()) }),
  }),
]);
const keys = z.strictObject({ digits: z.string().regex(/^[0-9*#A-Dp]+$/) });
const applicationBody = z.looseObject({ name: z.string(), capabilities: z.looseObject({}) });

export interface RestRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  authorization: string;
  body: string;
}

const done: RestAnswer = { status: 204, body: undefined };
const none: RestAnswer = {
  status: 404,
  body: { type: 'NOT_FOUND', title: 'Not Found', detail: 'The requested resource does not exist' },
};

function refused(title: string, detail: string, names: string[] = []): RestAnswer {
  const invalidParameters = names.map((name) => ({ name, reason: 'invalid' }));
  return {
    status: 400,
    body: { type: 'BAD_REQUEST', title, detail, invalid_parameters: invalidParameters },
  };
}

export async function answerRest(account: Account, request: RestRequest): Promise<RestAnswer> {
  const { method, path } = request;
  if (path.startsWith('/v1/calls')) {
    if (!(await isSignedByGateway(request.authorization))) return unauthorized();
    return answerCalls(account, request);
  }
  const login = Buffer.from(`${API_KEY}:${API_SECRET}`).toString('base64');
  if (request.authorization !== `Basic ${login}`) return unauthorized();
  if (`${method} ${path}` === 'GET /account/get-balance') {
    return { status: 200, body: { value: account.state.balance, autoReload: false } };
  }
  if (path.startsWith('/v2/applications/') && !account.hasApplication) return none;
  if (path === `/v2/applications/${APPLICATION_ID}`) return answerApplication(account, request);
  if (`${method} ${path}` === 'GET /account/numbers') return listNumbers(account, request.query);
  if (`${method} ${path}` === 'POST /number/update') return updateNumber(account, request.body);
  return none;
}

function unauthorized(): RestAnswer {
  const detail = 'You did not provide correct credentials.';
  return { status: 401, body: { type: 'UNAUTHORIZED', title: 'Unauthorized', detail } };
}

function answerCalls(account: Account, { method, path, query, body }: RestRequest): RestAnswer {
  const [, id, part] = /^\/v1\/calls(?:\/([^/]+)(\/dtmf)?)?$/.exec(path) ?? [];
  if (id === undefined) {
    return method === 'POST' ? createCall(account, body) : listCalls(account, query);
  }
  const call = account.calls.get(id);
  if (call === undefined) return none;
  if (method === 'GET') return { status: 200, body: callBody(call) };
  if (call.isOver) return refused('Bad Request', 'Call is not in a state to be changed');
  return part === undefined ? changeCall(call, body) : sendDigits(call, body);
}

function createCall(account: Account, body: string): RestAnswer {
  const wanted = dialBody.safeParse(json(body));
  if (!wanted.success) {
    const names = wanted.error.issues.map(({ path }) => path.join('.'));
    return refused('Bad Request', wanted.error.message.slice(0, 100), names);
  }
  if (!account.numbers.some(({ msisdn }) => msisdn === wanted.data.from.number)) {
    return refused('Bad Request', 'The from number is not yours', ['from.number']);
  }
  const call = account.dial(wanted.data);
  const { id: uuid, conversationId } = call;
  return {
    status: 201,
    body: { uuid, status: 'started', direction: 'outbound', conversation_uuid: conversationId },
  };
}

function listCalls(account: Account, query: URLSearchParams): RestAnswer {
  const since = Date.parse(query.get('date_start') ?? '') || 0;
  const found = [...account.calls.values()].filter(({ createdAt }) => createdAt >= since);
  const ordered = query.get('order') === 'desc' ? found.toReversed() : found;
  const from = Number(query.get('record_index') ?? 0);
  const calls = ordered.slice(from, from + Number(query.get('page_size') ?? 10)).map(callBody);
  return { status: 200, body: { count: found.length, ['_embedded']: { calls } } };
}

function callBody(call: VonageCall): Record<string, unknown> {
  const { id: uuid, from, to, conversationId, direction } = call;
  return {
    uuid,
    conversation_uuid: conversationId,
    direction,
    status: call.word,
    to: [{ type: 'phone', number: to }],
    from: [{ type: 'phone', number: from }],
    ...(call.isOver && { duration: String(call.durationS), price: '0.1' }),
  };
}

function changeCall(call: VonageCall, body: string): RestAnswer {
  const wanted = change.safeParse(json(body)).data;
  if (wanted === undefined) return refused('Bad Request', 'unknown action');
  if (wanted.action === 'hangup') {
    call.tell('hung-up-over-rest');
    call.end(call.status === 'in-progress' ? 'completed' : 'canceled');
  } else {
    call.tell('redirected');
    void call.run(JSON.stringify(wanted.destination.ncco));
  }
  return done;
}

function sendDigits(call: VonageCall, body: string): RestAnswer {
  const wanted = keys.safeParse(json(body)).data;
  if (wanted === undefined) return refused('Bad Request', 'no digits');
  call.tell('digits-out', { digits: wanted.digits });
  return { status: 200, body: { message: 'DTMF sent', uuid: call.id } };
}

/** What is not sent is gone. */
function answerApplication(account: Account, { method, body }: RestRequest): RestAnswer {
  if (method === 'GET') {
    return { status: 200, body: { id: APPLICATION_ID, ...account.application } };
  }
  const wanted = applicationBody.safeParse(json(body));
  if (method !== 'PUT' || !wanted.success) return refused('Bad Request', 'an application');
  account.application = wanted.data;
  return { status: 200, body: { id: APPLICATION_ID, ...account.application } };
}

function listNumbers(account: Account, query: URLSearchParams): RestAnswer {
  const pattern = query.get('pattern') ?? '';
  const numbers = account.numbers.filter(({ msisdn }) => msisdn.startsWith(pattern));
  return { status: 200, body: numbers.length === 0 ? {} : { count: numbers.length, numbers } };
}

function updateNumber(account: Account, body: string): RestAnswer {
  const form = new URLSearchParams(body);
  const number = account.numbers.find(
    ({ msisdn, country }) => msisdn === form.get('msisdn') && country === form.get('country'),
  );
  if (number === undefined) {
    return { status: 420, body: { 'error-code': '420', 'error-code-label': 'method failed' } };
  }
  const application = form.get('app_id');
  if (application === null) delete number.app_id;
  else number.app_id = application;
  return { status: 200, body: { 'error-code': '200', 'error-code-label': 'success' } };
}

function json(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined; // Refused like any other wrong body.
  }
}
