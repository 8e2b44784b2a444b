// Vonage's calls over REST: place, end, transfer, read. Source: developer.vonage.com, Voice API.

import assert from 'node:assert';
import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import { isTerminal } from '../../model/provider.ts';
import type { Clock } from '../../std/clock.ts';
import type { CallSnapshot, DialRequest, ProviderControl } from '../provider/provider.ts';
import type { Rest } from '../provider/rest-client.ts';
import { unreadableAnswer } from '../provider/rest-failure.ts';
import type { ProviderCredentials } from '../provider/terms.ts';
import { createVonageNumbers } from './account.ts';
import {
  answerOf,
  checkedCredentials,
  createVonageClient,
  type VonageClient,
  type VonageRequest,
} from './client.ts';
import { conversationDocument, dialDocument, isSip, type Ncco } from './ncco.ts';
import { secondsOf, statusOf } from './statuses.ts';

/** Vonage's own limits, in seconds. */
const RING_S_MAX = 120;
export const VONAGE_CALL_S_MAX = 7_200;

const DIALABLE = /^(\d{7,15}|sips?:\S+)$/i;
/** Records in one page of the list of calls, which cannot be limited to two numbers. */
const PAGE_SIZE = 100;
/** Pages that are read: two minutes with three calls per second, each with a second record for its media socket. */
const PAGES_MAX = 8;
/** Calls that are returned. */
const FIND_MAX = 20;
/** Tolerance between Vonage's clock and ours. */
const CLOCKS_APART_MS = 60_000;

const endpoint = z.looseObject({ number: z.string().optional(), uri: z.string().optional() });
/** Endpoints of a call: the newer interface returns one, the older one a list of one. */
const endpoints = z.union([endpoint, z.array(endpoint)]).optional();
const created = z.object({ uuid: z.string().min(1), status: z.string().optional() });
const call = z.looseObject({ status: z.string(), duration: z.unknown().optional() });
const listed = z.looseObject({
  uuid: z.string(),
  status: z.string(),
  to: endpoints,
  from: endpoints,
});
const callList = z.looseObject({ ['_embedded']: z.looseObject({ calls: z.array(listed) }) });

export function createVonageControl(rest: Rest, clock: Clock): ProviderControl {
  const client = createVonageClient(rest, clock);
  return {
    ...createVonageNumbers(client).control,
    ...callQueries(client),

    async dial(credentials, request, signal) {
      checkSigningSecret(credentials);
      const body = dialBody(request);
      const wanted = callsRequest('dial', 'POST', { body, repeatable: false });
      const { uuid, status } = answerOf(
        await client.send(credentials, wanted, signal),
        wanted,
        created,
      );
      return {
        callId: uuid,
        metadata: { call_id: uuid, ...(status && { provider_status: status }) },
      };
    },

    async hangUp(credentials, callId, signal) {
      const body = { action: 'hangup' };
      const wanted = callsRequest('hang-up', 'PUT', { callId, body, repeatable: true });
      const answer = await client.send(credentials, wanted, signal);
      if (answer.status === 404) return;
      // Vonage refuses requests about a call that is over with several statuses.
      if (answer.status === 400 && (await isOver(client, credentials, callId, signal))) return;
      answerOf(answer, wanted, z.unknown());
    },

    async transfer(credentials, callId, target, signal) {
      const to = target.to.replace(/^\+/, '');
      if (!DIALABLE.test(to)) {
        const reason = 'neither a number with its country code nor a SIP address';
        throw new GatewayError('PROVIDER_DESTINATION', { provider: 'vonage', reason });
      }
      const callerId = target.callerId.replace(/^\+/, '');
      const ringS = within(target.ringS, RING_S_MAX);
      const { digits, resultUrl } = target;
      if (digits !== undefined && isSip(to)) {
        throw new GatewayError('TRANSFER_DIGITS_UNSUPPORTED', { provider: 'vonage to SIP' });
      }
      const ncco = dialDocument({ to, callerId, ringS, digits, resultUrl });
      const wanted = redirection('transfer', callId, ncco);
      answerOf(await client.send(credentials, wanted, signal), wanted, z.unknown());
    },

    async join(credentials, { callId, legId, name }, signal) {
      for (const each of [legId, callId]) {
        const wanted = redirection('join', each, conversationDocument(name));
        answerOf(await client.send(credentials, wanted, signal), wanted, z.unknown());
      }
    },

    async sendDigits(credentials, callId, digits, signal) {
      // `p` is Vonage's pause of half a second.
      const body = { digits: digits.replace(/w/gi, 'p') };
      const wanted = callsRequest('send-digits', 'PUT', {
        callId,
        suffix: '/dtmf',
        body,
        repeatable: false,
      });
      answerOf(await client.send(credentials, wanted, signal), wanted, z.unknown());
    },
  };
}

/** Queries about calls at Vonage. */
function callQueries(client: VonageClient): Pick<ProviderControl, 'getCall' | 'findCalls'> {
  return {
    getCall: (credentials, callId, signal) => readCall(client, credentials, callId, signal),

    async findCalls(credentials, { from, to, since }, signal) {
      const asking = { client, credentials, since, signal };
      const found: z.infer<typeof listed>[] = [];
      let isWhole = false;
      // Oldest first: the call is near `since`, however many were placed after it.
      for (let page = 0; page < PAGES_MAX && !isWhole; page += 1) {
        const calls = await listCalls(asking, page * PAGE_SIZE);
        const isBetween = (each: z.infer<typeof listed>): boolean =>
          addressOf(each.to) === to && (from === null || addressOf(each.from) === from);
        found.push(...calls.filter(isBetween));
        isWhole = calls.length < PAGE_SIZE;
      }
      // The call may be on a page that was not read.
      if (found.length === 0 && !isWhole) return undefined;
      const newest = found.slice(0, FIND_MAX).toReversed();
      return newest.flatMap(({ uuid, status: word }) => {
        const status = statusOf(word);
        return status === undefined ? [] : [{ callId: uuid, status }];
      });
    },
  };
}

interface Listing {
  client: VonageClient;
  credentials: ProviderCredentials;
  since: Date;
  signal: AbortSignal;
}

/** One page of the account's calls, beginning at a record. */
async function listCalls(
  { client, credentials, since, signal }: Listing,
  recordIndex: number,
): Promise<z.infer<typeof listed>[]> {
  const start = new Date(since.getTime() - CLOCKS_APART_MS).toISOString();
  const query = new URLSearchParams([
    ['date_start', `${start.slice(0, 19)}Z`],
    ['page_size', String(PAGE_SIZE)],
    ['record_index', String(recordIndex)],
    ['order', 'asc'],
  ]);
  const wanted = callsRequest('find-calls', 'GET', { suffix: `?${query}`, repeatable: true });
  const answer = await client.send(credentials, wanted, signal);
  return answerOf(answer, wanted, callList)._embedded.calls;
}

function dialBody(request: DialRequest): Record<string, unknown> {
  const { from, to } = request;
  // Vonage would choose one of the application's numbers at random.
  assert(from !== null, 'a caller id');
  return {
    to: [isSip(to) ? { type: 'sip', uri: to } : { type: 'phone', number: to }],
    from: { type: 'phone', number: from },
    answer_url: [request.answerUrl],
    answer_method: 'POST',
    event_url: [request.statusUrl],
    event_method: 'POST',
    ringing_timer: within(request.ringS, RING_S_MAX),
    length_timer: within(request.callS, VONAGE_CALL_S_MAX),
  };
}

/** Throws PROVIDER_AUTH if the call's webhooks could not be verified: its callee would have silence. */
function checkSigningSecret(credentials: ProviderCredentials): void {
  if (checkedCredentials(credentials).signature_secret) return;
  const reason = 'signature_secret is missing, which verifies the webhooks of calls';
  throw new GatewayError('PROVIDER_AUTH', { provider: 'vonage', reason });
}

async function readCall(
  client: VonageClient,
  credentials: ProviderCredentials,
  callId: string,
  signal: AbortSignal,
): Promise<CallSnapshot | undefined> {
  const wanted = callsRequest('get-call', 'GET', { callId, repeatable: true });
  const answer = await client.send(credentials, wanted, signal);
  if (answer.status === 404) return undefined;
  const read = answerOf(answer, wanted, call);
  const status = statusOf(read.status);
  if (status === undefined) throw unreadableAnswer({ provider: 'vonage', ...wanted });
  return { status, durationS: secondsOf(read.duration), answeredBy: null };
}

async function isOver(
  client: VonageClient,
  credentials: ProviderCredentials,
  callId: string,
  signal: AbortSignal,
): Promise<boolean> {
  const found = await readCall(client, credentials, callId, signal);
  return found === undefined || isTerminal(found.status);
}

function redirection(action: string, callId: string, ncco: Ncco): VonageRequest {
  const body = { action: 'transfer', destination: { type: 'ncco', ncco } };
  return callsRequest(action, 'PUT', { callId, body, repeatable: false });
}

function callsRequest(
  action: string,
  method: VonageRequest['method'],
  more: { callId?: string; suffix?: string; body?: unknown; repeatable: boolean },
): VonageRequest {
  const { callId, suffix = '', body, repeatable } = more;
  const one = callId === undefined ? '' : `/${encodeURIComponent(callId)}`;
  return { action, method, api: 'calls', path: `/v1/calls${one}${suffix}`, body, repeatable };
}

function addressOf(given: z.infer<typeof endpoints>): string | undefined {
  const one = Array.isArray(given) ? given[0] : given;
  return one?.number ?? one?.uri;
}

function within(seconds: number, max: number): number {
  return Math.min(max, Math.max(1, Math.round(seconds)));
}
