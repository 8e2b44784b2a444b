// Plivo's calls over REST: place, end, redirect, read. Source: plivo.com/docs/voice/api/call

import { z } from 'zod';
import type { CallStatus } from '../../model/provider.ts';
import { accountNumbers, ensureApplication } from '../plivo-xml/account.ts';
import type { AccountClient } from '../plivo-xml/account-client.ts';
import { outcomeOf, secondsOf, statusOf } from '../plivo-xml/call-fields.ts';
import {
  callPath,
  dialBody,
  endCall,
  joinCalls,
  lookUp,
  placeCall,
  pressKeys,
  redirectCall,
} from '../plivo-xml/calls.ts';
import type { CallSnapshot, DialRequest, ProviderControl } from '../provider/provider.ts';
import type { Rest } from '../provider/rest-client.ts';
import type { ProviderCredentials } from '../provider/terms.ts';
import { createPlivoClient, plivoNumbers } from './account.ts';
import type { PlivoConfig } from './config.ts';

/** Plivo's own limits, in seconds. */
const RING_S_MAX = 600;
export const PLIVO_CALL_S_MAX = 86_400;
/** Calls in one list, Plivo's maximum. */
const FIND_MAX = 20;
/** Tolerance between Plivo's clock and ours. */
const CLOCKS_APART_MS = 60_000;
/** Longest detection of an answering machine at Plivo; meanwhile the conversation continues. */
const DETECTION_MS = 5_000;

const number = z.string().nullish();
const openCall = z.looseObject({ call_status: z.string(), from: number, to: number });
const record = z.looseObject({
  call_uuid: z.string().optional(),
  from_number: number,
  to_number: number,
  call_state: z.string().nullish(),
  hangup_cause_code: z.union([z.string(), z.int()]).nullish(),
  hangup_cause_name: z.string().nullish(),
  answer_time: z.string().nullish(),
  initiation_time: z.string().nullish(),
});
type CallRecord = z.infer<typeof record>;
const openCalls = z.object({ calls: z.array(z.string()) });
const records = z.object({ objects: z.array(record) });

export function createPlivoControl(rest: Rest): ProviderControl {
  const client = createPlivoClient(rest);
  return {
    ...accountNumbers(client, plivoNumbers).control,

    ensureApplication: (credentials, wanted, signal) =>
      ensureApplication(client, { credentials, wanted, signal }),

    dial(credentials, request, signal) {
      const limits = { ringS: RING_S_MAX, callS: PLIVO_CALL_S_MAX };
      const more = detection(client.account(credentials), request);
      return placeCall(client, { credentials, body: dialBody(request, limits, more), signal });
    },

    async hangUp(credentials, callId, signal) {
      if (await endCall(client, { credentials, path: callPath(callId), signal })) return;
      // A call in Plivo's queue is still a request.
      await endCall(client, {
        credentials,
        path: `Request/${encodeURIComponent(callId)}/`,
        signal,
      });
    },

    transfer(credentials, callId, target, signal) {
      return redirectCall(client, { credentials, callId, target, signal });
    },

    join: (credentials, calls, signal) => joinCalls(client, { credentials, calls, signal }),

    sendDigits(credentials, callId, digits, signal) {
      return pressKeys(client, { credentials, callId, digits, signal });
    },

    getCall: (credentials, callId, signal) => getCall(client, { credentials, callId, signal }),

    async findCalls(credentials, { from, to, since }, signal) {
      const numbers = { to_number: to, ...(from !== null && { from_number: from }) };
      const list = <T>(query: Record<string, string>, schema: z.ZodType<T>) => {
        const path = `Call/?${new URLSearchParams(query)}`;
        return lookUp(client, { credentials, action: 'find-calls', path, schema, signal });
      };
      const [live, queued, ended] = await Promise.all([
        list({ status: 'live', ...numbers }, openCalls),
        list({ status: 'queued' }, openCalls),
        list({ limit: String(FIND_MAX), ...numbers }, records),
      ]);
      const look = { credentials, signal, numbers: { from, to } };
      const between = (ids: readonly string[] = [], status: OpenStatus) =>
        ids.slice(0, FIND_MAX).map((callId) => openBetween(client, { ...look, callId }, status));
      // An open call has no time of its dial, and must not be overlooked.
      const open = [...between(live?.calls, 'live'), ...between(queued?.calls, 'queued')];
      const found = (await Promise.all(open)).flat();
      const sinceMs = since.getTime() - CLOCKS_APART_MS;
      const over = (ended?.objects ?? []).flatMap((call) => {
        const isOlder = Date.parse(call.initiation_time ?? '') < sinceMs;
        const { call_uuid: callId } = call;
        return callId === undefined || isOlder ? [] : [{ callId, status: snapshotOf(call).status }];
      });
      // Plivo lists the queue for the whole account, without a filter: calls behind its first ones are not known.
      const isCut = (queued?.calls.length ?? 0) >= FIND_MAX;
      if (isCut && found.length + over.length === 0) return undefined;
      return [...found, ...over].slice(0, FIND_MAX);
    },
  };
}

function detection(
  { amd_enabled }: PlivoConfig,
  { answeredByUrl }: DialRequest,
): Record<string, unknown> {
  if (!amd_enabled) return {};
  return {
    machine_detection: 'true',
    machine_detection_time: DETECTION_MS,
    // With a URL the call is answered at once; without one Plivo delays it until it has detected.
    machine_detection_url: answeredByUrl,
    machine_detection_method: 'POST',
  };
}

type OpenStatus = 'live' | 'queued';

interface Look {
  credentials: ProviderCredentials;
  callId: string;
  signal: AbortSignal;
}

/** A call, with its numbers if Plivo returns them. */
interface KnownCall {
  snapshot: CallSnapshot;
  from?: string | null | undefined;
  to?: string | null | undefined;
}

async function getCall(
  client: AccountClient<PlivoConfig>,
  look: Look,
): Promise<CallSnapshot | undefined> {
  return (await readCall(client, look))?.snapshot;
}

/** Reads a call that is live, over with a record, or still in Plivo's queue. */
async function readCall(
  client: AccountClient<PlivoConfig>,
  look: Look,
): Promise<KnownCall | undefined> {
  const live = await readOpen(client, look, 'live');
  if (live !== undefined) return live;
  const path = callPath(look.callId);
  const over = await lookUp(client, { ...look, action: 'get-call', path, schema: record });
  if (over === undefined) return readOpen(client, look, 'queued');
  return { snapshot: snapshotOf(over), from: over.from_number, to: over.to_number };
}

async function readOpen(
  client: AccountClient<PlivoConfig>,
  look: Look,
  status: OpenStatus,
): Promise<KnownCall | undefined> {
  const path = `${callPath(look.callId)}?status=${status}`;
  const call = await lookUp(client, { ...look, action: 'get-call', path, schema: openCall });
  return call && { snapshot: openSnapshot(call.call_status), from: call.from, to: call.to };
}

/** The call, if it is between the two numbers. Undefined if it has left the list meanwhile. */
async function openBetween(
  client: AccountClient<PlivoConfig>,
  { numbers: { from, to }, ...look }: Look & { numbers: { from: string | null; to: string } },
  status: OpenStatus,
): Promise<{ callId: string; status: CallStatus }[]> {
  const call = (await readOpen(client, look, status)) ?? (await readCall(client, look));
  const isOther = (wanted: string | null, number: string | null | undefined): boolean =>
    wanted !== null && Boolean(number) && number?.replace(/^\+/, '') !== wanted;
  if (call === undefined || isOther(to, call.to) || isOther(from, call.from)) return [];
  return [{ callId: look.callId, status: call.snapshot.status }];
}

/** Snapshot of a live call. An unknown word of a later version counts as in progress. */
function openSnapshot(word: string): CallSnapshot {
  return { status: statusOf(word) ?? 'in-progress', durationS: null, answeredBy: null };
}

function snapshotOf(call: CallRecord): CallSnapshot {
  const status = outcomeOf({
    status: (call.call_state ?? '').toLowerCase().replace('_', '-'),
    code: call.hangup_cause_code?.toString(),
    isAnswered: typeof call.answer_time === 'string' && call.answer_time !== '',
  });
  return { status, durationS: secondsOf(call['call_duration']), answeredBy: null };
}
