// The fake's REST interface, as far as the gateway uses it. A request with a field that is not in our reading of Telnyx'
// API (v2), or of another type, is refused with 422. Source: providers §2.

import { z } from 'zod';
import type { AccountState } from '../hosted/account-state.ts';
import type { TelnyxCall } from './fake-call.ts';

export interface FakeApplication {
  id: string;
  application_name: string;
  webhook_event_url: string;
  webhook_api_version: string;
  outbound?: unknown;
}

export interface FakeNumber {
  id: string;
  phone_number: string;
  connection_id: string;
  connection_name: string | null;
}

/** What the REST interface works on. */
export interface Account {
  state: AccountState;
  apiKey: string;
  applications: Map<string, FakeApplication>;
  numbers: Map<string, FakeNumber>;
  calls: Map<string, TelnyxCall>;
  dials: Map<string, TelnyxCall>;
  dial(body: DialBody): TelnyxCall;
}

export interface RestAnswer {
  status: number;
  body: unknown;
}

const seconds = (min: number, max: number) => z.int().min(min).max(max);
const url = z.url({ protocol: /^https?$/ });
const base64 = z.base64();
const common = {
  client_state: base64.optional(),
  command_id: z.string().min(1).max(255).optional(),
};
const stream = {
  stream_url: z.url({ protocol: /^wss?$/ }),
  stream_track: z.enum(['inbound_track', 'outbound_track', 'both_tracks']),
  stream_codec: z.enum(['PCMU', 'PCMA', 'G722', 'OPUS', 'AMR-WB', 'L16', 'default']),
  stream_bidirectional_mode: z.literal('rtp'),
  stream_bidirectional_codec: z.enum(['PCMU', 'PCMA', 'G722', 'OPUS', 'AMR-WB', 'L16']),
  stream_bidirectional_target_legs: z.literal('self'),
};
const dialBody = z.strictObject({
  connection_id: z.string(),
  to: z.string(),
  from: z.string(),
  timeout_secs: seconds(5, 600),
  time_limit_secs: seconds(30, 14_400),
  webhook_url: url,
  webhook_url_method: z.literal('POST'),
  send_silence_when_idle: z.boolean(),
  answering_machine_detection: z.enum(['detect', 'premium', 'disabled']).optional(),
  ...common,
});
export type DialBody = z.infer<typeof dialBody>;
const commands = {
  answer: z.strictObject({
    ...stream,
    ...common,
    webhook_url: url,
    webhook_url_method: z.literal('POST'),
    send_silence_when_idle: z.boolean(),
  }),
  streaming_start: z.strictObject({ ...stream, ...common }),
  reject: z.strictObject({ cause: z.enum(['CALL_REJECTED', 'USER_BUSY']), ...common }),
  hangup: z.strictObject({ ...common }),
  transfer: z.strictObject({
    to: z.string().regex(/^(\+\d{8,15}|sips?:.+)$/),
    from: z.string(),
    timeout_secs: seconds(5, 600),
    webhook_url: url.optional(),
    webhook_url_method: z.literal('POST').optional(),
    ...common,
  }),
  streaming_stop: z.strictObject({ ...common }),
  bridge: z.strictObject({ call_control_id: z.string(), ...common }),
  send_dtmf: z.strictObject({ digits: z.string().regex(/^[0-9A-D*#wW]+$/), ...common }),
};
type CommandName = keyof typeof commands;
const applicationBody = z.strictObject({
  application_name: z.string().min(1),
  webhook_event_url: url,
  webhook_api_version: z.enum(['1', '2']).default('1'),
  webhook_timeout_secs: seconds(0, 30).optional(),
  first_command_timeout: z.boolean().optional(),
  first_command_timeout_secs: z.int().optional(),
  outbound: z.strictObject({ outbound_voice_profile_id: z.string() }).optional(),
});
const numberBody = z.strictObject({ connection_id: z.string() });

const E164 = /^(\+[1-9]\d{6,14}|sips?:.+)$/;

function fault(status: number, code: string, title: string, detail: string): RestAnswer {
  return { status, body: { errors: [{ code, title, detail }] } };
}

const NOT_FOUND = fault(404, '10005', 'Resource not found', 'The requested resource was not found');

export interface RestRequest {
  method: string;
  /** Below `/v2/`, decoded, without a query. */
  path: string[];
  query: URLSearchParams;
  authorization: string;
  body: unknown;
}

export function answerRest(account: Account, request: RestRequest): RestAnswer {
  const { method, path, query, authorization, body } = request;
  if (authorization !== `Bearer ${account.apiKey}`) {
    return fault(401, '10009', 'Authentication failed', 'Could not understand the credentials');
  }
  const [resource, id, sub, name] = path;
  switch (`${method} ${resource}${id === undefined ? '' : '/'}${sub ?? ''}`) {
    case 'GET balance':
      return balance(account.state);
    case 'PATCH call_control_applications/':
      return updateApplication(account, id ?? '', body);
    case 'POST calls':
      return createCall(account, body);
    case 'GET calls/':
      return readCall(account.calls.get(id ?? ''));
    case 'POST calls/actions':
      return command(account, account.calls.get(id ?? ''), { name: name ?? '', sent: body });
    case 'GET connections/active_calls':
      return activeCalls(account, id ?? '');
    case 'GET call_control_applications':
      return applications(account, query.get('filter[application_name][contains]') ?? '');
    case 'POST call_control_applications':
      return createApplication(account, body);
    case 'GET call_control_applications/':
      return dataOr404(account.applications.get(id ?? ''));
    case 'GET outbound_voice_profiles':
      return { status: 200, body: { data: [{ id: '1911', name: 'Default', enabled: true }] } };
    case 'GET phone_numbers':
      return numbers(account, query.get('filter[phone_number]') ?? '');
    case 'PATCH phone_numbers/':
      return updateNumber(account, id ?? '', body);
    default:
      return NOT_FOUND;
  }
}

function dataOr404(data: unknown): RestAnswer {
  return data === undefined ? NOT_FOUND : { status: 200, body: { data } };
}

function createCall(account: Account, sent: unknown): RestAnswer {
  const read = dialBody.safeParse(sent);
  if (!read.success) return fault(422, '10004', 'Missing required parameter', read.error.message);
  const body = read.data;
  if (!account.applications.has(body.connection_id)) {
    return fault(422, '10015', 'Invalid value', 'The connection_id is not valid');
  }
  if (!E164.test(body.to) || !E164.test(body.from)) {
    return fault(422, '10016', 'Phone number must be in +E164 format', `${body.to} is not`);
  }
  const earlier = body.command_id && account.dials.get(body.command_id);
  const call = earlier || account.dial(body);
  if (body.command_id) account.dials.set(body.command_id, call);
  return { status: 200, body: { data: callBody(call) } };
}

function callBody(call: TelnyxCall): Record<string, unknown> {
  return {
    record_type: 'call',
    call_control_id: call.id,
    call_leg_id: 'leg',
    call_session_id: 'session',
    client_state: call.clientState,
    is_alive: !call.isOver,
    call_duration: call.isOver ? call.durationS : 0,
  };
}

function readCall(call: TelnyxCall | undefined): RestAnswer {
  return dataOr404(call && callBody(call));
}

function activeCalls({ calls }: Account, connectionId: string): RestAnswer {
  if (connectionId === '') return NOT_FOUND;
  const up = [...calls.values()].filter(({ isOver }) => !isOver);
  return { status: 200, body: { data: up.map(callBody), meta: {} } };
}

function command(
  account: Account,
  call: TelnyxCall | undefined,
  { name, sent }: { name: string; sent: unknown },
): RestAnswer {
  if (call === undefined) return NOT_FOUND;
  if (call.isOver) {
    return fault(422, '90018', 'Call has already ended', 'This call is no longer active');
  }
  if (!(name in commands)) return NOT_FOUND;
  const read = commands[name as CommandName].safeParse(sent ?? {});
  if (!read.success) {
    call.tell('protocol-fault', { message: `${name}: ${read.error.message}` });
    return fault(422, '10004', 'Invalid parameter', read.error.message);
  }
  const { command_id: commandId } = read.data;
  const ok = { status: 200, body: { data: { result: 'ok' } } };
  if (commandId !== undefined && call.commands.has(commandId)) return ok;
  const refusal =
    name === 'bridge'
      ? bridge(account, call, read.data)
      : obey(call, name as CommandName, read.data);
  if (refusal === undefined && commandId !== undefined) call.commands.add(commandId);
  return refusal ?? ok;
}

/** Undefined if it is carried out. Both streams go on, unless they were stopped. */
function bridge(
  { calls }: Account,
  call: TelnyxCall,
  body: Record<string, unknown>,
): RestAnswer | undefined {
  const other = calls.get(String(body['call_control_id']));
  if (other?.status !== 'in-progress' || call.status !== 'in-progress') return notAnswerable();
  const isStopped = other.events.some(({ detail }) => detail['name'] === 'streaming_stop');
  if (!isStopped) call.tell('protocol-fault', { message: 'a bridge to a call that streams' });
  void call.conferences.enter(call.id, call);
  void call.conferences.enter(call.id, other);
  return undefined;
}

/** Undefined if it is carried out. */
function obey(
  call: TelnyxCall,
  name: CommandName,
  body: Record<string, unknown>,
): RestAnswer | undefined {
  call.tell('command', { name, ...body });
  switch (name) {
    case 'answer':
      if (call.isOutbound || call.status === 'in-progress') return notAnswerable();
      call.webhookUrl = String(body['webhook_url']);
      call.clientState = String(body['client_state']);
      call.become('in-progress');
      void call.stream(String(body['stream_url']));
      return undefined;
    case 'streaming_start':
      if (call.status !== 'in-progress') return notAnswerable();
      void call.stream(String(body['stream_url']));
      return undefined;
    case 'reject':
      if (call.isOutbound || call.status === 'in-progress') return notAnswerable();
      call.end(body['cause'] === 'USER_BUSY' ? 'busy' : 'failed');
      return undefined;
    case 'hangup':
      call.end(call.status === 'in-progress' ? 'completed' : 'canceled');
      return undefined;
    case 'transfer':
      call.tell('dialed', { to: body['to'], callerId: body['from'] });
      call.webhookUrl = String(body['webhook_url'] ?? call.webhookUrl);
      call.notify('call.answered', { call_control_id: `v3:b-${call.id}`, to: body['to'] });
      return undefined;
    case 'streaming_stop':
      call.leaveMedia();
      return undefined;
    case 'bridge':
      return notAnswerable();
    case 'send_dtmf':
      call.tell('digits-out', { digits: body['digits'] });
      return undefined;
  }
}

function notAnswerable(): RestAnswer {
  return fault(422, '90034', 'Call is in another state', 'The command does not fit the call');
}

function applications({ applications: all }: Account, part: string): RestAnswer {
  const data = [...all.values()].filter((each) => each.application_name.includes(part));
  return { status: 200, body: { data, meta: {} } };
}

function createApplication(account: Account, sent: unknown): RestAnswer {
  const read = applicationBody.safeParse(sent);
  if (!read.success) return fault(422, '10004', 'Invalid parameter', read.error.message);
  const id = String(1_293_384_261_075_731_500n + BigInt(account.applications.size));
  const application = { id, ...read.data };
  account.applications.set(id, application);
  return { status: 201, body: { data: application } };
}

function updateApplication(account: Account, id: string, sent: unknown): RestAnswer {
  const before = account.applications.get(id);
  const read = applicationBody.safeParse(sent);
  if (before === undefined) return NOT_FOUND;
  if (!read.success) return fault(422, '10004', 'Invalid parameter', read.error.message);
  const application = { ...before, ...read.data };
  account.applications.set(id, application);
  return { status: 200, body: { data: application } };
}

function balance({ balance: amount }: AccountState): RestAnswer {
  const text = amount.toFixed(2);
  const facts = { balance: text, available_credit: text, credit_limit: '0.00', currency: 'USD' };
  return { status: 200, body: { data: { record_type: 'balance', ...facts } } };
}

function numbers({ numbers: all }: Account, part: string): RestAnswer {
  const data = [...all.values()].filter((each) => each.phone_number.includes(part));
  return { status: 200, body: { data, meta: {} } };
}

function updateNumber(account: Account, id: string, sent: unknown): RestAnswer {
  const number = [...account.numbers.values()].find((each) => each.id === id);
  const read = numberBody.safeParse(sent);
  if (number === undefined) return NOT_FOUND;
  if (!read.success) return fault(422, '10004', 'Invalid parameter', read.error.message);
  const { connection_id } = read.data;
  number.connection_id = connection_id;
  number.connection_name = account.applications.get(connection_id)?.application_name ?? null;
  return { status: 200, body: { data: number } };
}
