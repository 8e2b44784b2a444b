// The fake's REST interface, as far as the gateway uses it: Calls and IncomingPhoneNumbers. Status
// codes and error bodies are Twilio's. Source: twilio-oai, twilio.com/docs/api/errors

import type { AccountState } from '../hosted/account-state.ts';
import type { FakeCall } from './fake-call.ts';

export interface FakeNumber {
  sid: string;
  phoneNumber: string;
  voiceUrl: string;
  voiceApplicationSid: string;
  trunkSid: string;
}

export interface RestAnswer {
  status: number;
  body: unknown;
}

/** What the REST interface works on. */
export interface Account {
  state: AccountState;
  sid: string;
  authToken: string;
  numbers: Map<string, FakeNumber>;
  calls: Map<string, FakeCall>;
  dial(form: URLSearchParams): FakeCall;
}

const ADDRESS = /^(\+[1-9]\d{6,14}|sips?:.+|client:.+)$/;
const TWIML_MAX = 4_000;
const over = (call: FakeCall) => call.isOver;

function fault(status: number, code: number, message: string): RestAnswer {
  const moreInfo = `https://www.twilio.com/docs/errors/${code}`;
  return { status, body: { code, message, more_info: moreInfo, status } };
}

/** Answers one request. `path` has no query. */
export function answerRest(
  account: Account,
  request: {
    method: string;
    path: string;
    query: URLSearchParams;
    authorization: string;
    body: string;
  },
): RestAnswer {
  const { method, path, query, authorization } = request;
  const login = Buffer.from(`${account.sid}:${account.authToken}`).toString('base64');
  if (authorization !== `Basic ${login}`) return fault(401, 20_003, 'Authenticate');
  if (`${method} ${path}` === `GET /2010-04-01/Accounts/${account.sid}.json`) {
    return describe(account.state);
  }
  const [, root, resource = '', sid] =
    /^\/2010-04-01\/Accounts\/(\w+)\/(\w+)(?:\/(\w+))?\.json$/.exec(path) ?? [];
  if (root !== account.sid) return fault(404, 20_404, `The resource ${path} was not found`);
  const form = new URLSearchParams(request.body);
  switch (`${method} ${resource}${sid === undefined ? '' : '/'}`) {
    case 'GET Balance':
      return { status: 200, body: { balance: String(account.state.balance), currency: 'USD' } };
    case 'POST Calls':
      return createCall(account, form);
    case 'POST Calls/':
      return updateCall(account.calls.get(sid ?? ''), form);
    case 'GET Calls/':
      return readCall(account.calls.get(sid ?? ''), account);
    case 'GET Calls':
      return listCalls(account, query);
    case 'GET IncomingPhoneNumbers':
      return listNumbers(account, query.get('PhoneNumber') ?? '');
    case 'POST IncomingPhoneNumbers/':
      return updateNumber(account, sid ?? '', form);
    default:
      return fault(404, 20_404, `The resource ${path} was not found`);
  }
}

function describe({ standing }: AccountState): RestAnswer {
  const status = standing === 'suspended' ? 'suspended' : 'active';
  return { status: 200, body: { status, type: standing === 'trial' ? 'Trial' : 'Full' } };
}

function createCall(account: Account, form: URLSearchParams): RestAnswer {
  const from = form.get('From') ?? '';
  const to = form.get('To') ?? '';
  if (!ADDRESS.test(to)) return fault(400, 21_211, `The phone number ${to} is not valid`);
  if (!ADDRESS.test(from)) return fault(400, 21_212, `The caller id ${from} is not valid`);
  if (from.startsWith('+') && !account.numbers.has(from)) {
    return fault(400, 21_210, `The source number ${from} is not yours`);
  }
  const sources = ['Url', 'Twiml', 'ApplicationSid'].filter((name) => form.has(name));
  if (sources.length !== 1) return fault(400, 21_205, 'Exactly one of Url, Twiml, ApplicationSid');
  const call = account.dial(form);
  return { status: 201, body: callBody(call, account) };
}

function updateCall(call: FakeCall | undefined, form: URLSearchParams): RestAnswer {
  if (call === undefined) return fault(404, 20_404, 'The call was not found');
  if (over(call)) return fault(400, 21_220, 'Call is not in-progress. Cannot redirect.');
  const twiml = form.get('Twiml');
  const url = form.get('Url');
  const status = form.get('Status');
  if (twiml !== null && twiml.length > TWIML_MAX) return fault(400, 32_018, 'TwiML is too long');
  if (status === 'completed' || status === 'canceled') {
    const ringing = call.status !== 'in-progress';
    call.tell('hung-up-over-rest', { status });
    call.end(ringing ? 'canceled' : 'completed');
  } else if (twiml !== null) {
    call.tell('redirected', { twiml });
    void call.run(twiml);
  } else if (url !== null) {
    call.tell('redirected', { url });
    void call.follow(url);
  } else {
    return fault(400, 21_218, 'Nothing to do');
  }
  return { status: 200, body: { sid: call.sid, status: call.status } };
}

function readCall(call: FakeCall | undefined, account: Account): RestAnswer {
  return call === undefined
    ? fault(404, 20_404, 'The call was not found')
    : { status: 200, body: callBody(call, account) };
}

function listCalls(account: Account, query: URLSearchParams): RestAnswer {
  const found = [...account.calls.values()].filter(
    ({ to, from }) => to === query.get('To') && from === (query.get('From') ?? from),
  );
  const created = new Date().toUTCString();
  const calls = found.toReversed().map((call) => callBody(call, account));
  return {
    status: 200,
    body: { calls: calls.map((each) => ({ ...each, date_created: created })) },
  };
}

function callBody(call: FakeCall, account: Account): Record<string, unknown> {
  return {
    sid: call.sid,
    account_sid: account.sid,
    from: call.from,
    to: call.to,
    status: call.status,
    direction: call.direction,
    duration: over(call) ? String(call.durationS) : null,
    answered_by: null,
    price: null,
    api_version: '2010-04-01',
  };
}

function listNumbers(account: Account, part: string): RestAnswer {
  const found = [...account.numbers.values()].filter((each) => each.phoneNumber.includes(part));
  return {
    status: 200,
    body: { incoming_phone_numbers: found.map(numberBody), next_page_uri: null, page: 0 },
  };
}

function updateNumber(account: Account, sid: string, form: URLSearchParams): RestAnswer {
  const number = [...account.numbers.values()].find((each) => each.sid === sid);
  if (number === undefined) return fault(404, 20_404, 'The number was not found');
  number.voiceUrl = form.get('VoiceUrl') ?? number.voiceUrl;
  return { status: 200, body: numberBody(number) };
}

function numberBody(number: FakeNumber): Record<string, unknown> {
  return {
    sid: number.sid,
    phone_number: number.phoneNumber,
    voice_url: number.voiceUrl,
    voice_application_sid: number.voiceApplicationSid,
    trunk_sid: number.trunkSid,
  };
}
