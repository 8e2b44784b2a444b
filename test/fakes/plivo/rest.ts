// The REST interface that the fakes of Plivo and Vobiz have in common: calls are placed, ended and redirected, and
// applications are made. Source: our reading of both providers' documentation (docs/providers.md, 3 and 4)

import type { Dialect, FakeAccount, RestAnswer, RestRequest, XmlCall } from './dialect.ts';
import { refusal } from './dialect.ts';

const NUMBER = /^\d{5,15}$/;

/** Answers one request below the account. */
export function answerRest(
  dialect: Dialect,
  account: FakeAccount,
  request: RestRequest,
): RestAnswer {
  const own = dialect.answer(account, request);
  if (own !== undefined) return own;
  const { method, path } = request;
  if (`${method} ${path}` === 'POST Call/') return createCall(account, request.body);
  const [, id = '', rest] = /^Call\/([^/]+)\/(DTMF\/)?$/.exec(path) ?? [];
  if (id !== '') return ofCall(account.calls.get(id), { ...request, isKeys: rest !== undefined });
  return ofApplications(account, request);
}

function createCall(account: FakeAccount, body: Record<string, unknown>): RestAnswer {
  const [from, to] = [String(body['from'] ?? ''), String(body['to'] ?? '')];
  if (!NUMBER.test(to) && !to.startsWith('sip:')) return refusal(400, 'to is not a valid number');
  if (!account.numbers.has(from)) return refusal(400, 'from is not a number of this account');
  if (typeof body['answer_url'] !== 'string') return refusal(400, 'answer_url is missing');
  const call = account.dial(body);
  const answer = { api_id: 'fake', message: 'call fired', request_uuid: call.id };
  return { status: 201, body: answer };
}

function ofCall(
  call: XmlCall | undefined,
  { method, body, isKeys }: RestRequest & { isKeys: boolean },
): RestAnswer {
  if (call === undefined || call.isOver) return refusal(404, 'call not found');
  if (isKeys) {
    call.tell('digits-out', { digits: body['digits'] });
    return { status: 202, body: { message: 'digits sent' } };
  }
  if (method === 'DELETE') {
    call.tell('hung-up-over-rest');
    call.end(call.status === 'in-progress' ? 'completed' : 'canceled');
    return { status: 204, body: null };
  }
  if (method !== 'POST' || typeof body['aleg_url'] !== 'string') return refusal(400, 'no aleg_url');
  call.tell('redirected', { url: body['aleg_url'] });
  void call.follow(body['aleg_url'], 'Redirect');
  return { status: 202, body: { message: 'call transferred' } };
}

function ofApplications(
  { applications }: FakeAccount,
  { method, path, query, body }: RestRequest,
): RestAnswer {
  if (path === 'Application/' && method === 'GET') {
    const offset = Number(query.get('offset') ?? 0);
    const objects = [...applications.values()].slice(offset, offset + Number(query.get('limit')));
    return { status: 200, body: { objects, meta: { total_count: applications.size } } };
  }
  if (path === 'Application/' && method === 'POST') {
    const appId = String(20_468_143_130_939_380n + BigInt(applications.size));
    const made = {
      app_id: appId,
      app_name: String(body['app_name']),
      answer_url: String(body['answer_url']),
      hangup_url: String(body['hangup_url'] ?? body['answer_url']),
    };
    applications.set(appId, made);
    return { status: 201, body: { api_id: 'fake', app_id: appId, message: 'created' } };
  }
  const one = applications.get(/^Application\/([^/]+)\/$/.exec(path)?.[1] ?? '');
  if (one === undefined) return refusal(404, 'not found');
  if (method === 'GET') return { status: 200, body: one };
  if (method !== 'POST') return refusal(405, 'not allowed');
  one.answer_url = String(body['answer_url'] ?? one.answer_url);
  one.hangup_url = String(body['hangup_url'] ?? one.hangup_url);
  return { status: 202, body: { message: 'changed' } };
}
