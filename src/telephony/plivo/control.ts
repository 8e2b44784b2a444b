// Plivo's calls over REST: place, end, redirect, read. Source: plivo.com/docs/voice/api/call

import { z } from 'zod';
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
import { createNumbers } from '../plivo-xml/numbers.ts';
import type { CallSnapshot, DialRequest, ProviderControl } from '../provider/provider.ts';
import type { Rest } from '../provider/rest-client.ts';
import type { ProviderCredentials } from '../provider/terms.ts';
import { createPlivoClient } from './client.ts';
import type { PlivoConfig } from './config.ts';
import { plivoNumbers } from './numbers.ts';

/** Plivo's own limits, in seconds. */
const RING_S_MAX = 600;
export const PLIVO_CALL_S_MAX = 86_400;
/** Calls in one list. */
const FIND_MAX = 20;
/** Tolerance between Plivo's clock and ours. */
const CLOCKS_APART_MS = 60_000;
/** Plivo detects for at most this long; meanwhile the conversation goes on. */
const DETECTION_MS = 5_000;

const openCall = z.looseObject({ call_status: z.string() });
const record = z.looseObject({
  call_uuid: z.string().optional(),
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
    ...createNumbers(client, plivoNumbers),

    dial(credentials, request, signal) {
      const limits = { ringS: RING_S_MAX, callS: PLIVO_CALL_S_MAX };
      const more = detection(client.account(credentials), request);
      return placeCall(client, { credentials, body: dialBody(request, limits, more), signal });
    },

    async hangUp(credentials, callId, signal) {
      if (await endCall(client, { credentials, path: callPath(callId), signal })) return;
      // A call that waits in Plivo's queue is a request still.
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
        const path = `Call/?${new URLSearchParams({ ...query, ...numbers })}`;
        return lookUp(client, { credentials, action: 'find-calls', path, schema, signal });
      };
      const [live, queued, ended] = await Promise.all([
        list({ status: 'live' }, openCalls),
        list({ status: 'queued' }, openCalls),
        list({ limit: String(FIND_MAX) }, records),
      ]);
      const open = [...(live?.calls ?? []), ...(queued?.calls ?? [])].slice(0, FIND_MAX);
      // An open call says nothing of when it was placed, and must not be overlooked.
      const found = await Promise.all(
        open.map(async (callId) => {
          const call = await getCall(client, { credentials, callId, signal });
          return call === undefined ? [] : [{ callId, status: call.status }];
        }),
      );
      const sinceMs = since.getTime() - CLOCKS_APART_MS;
      const over = (ended?.objects ?? []).flatMap((call) => {
        const isOlder = Date.parse(call.initiation_time ?? '') < sinceMs;
        const { call_uuid: callId } = call;
        return callId === undefined || isOlder ? [] : [{ callId, status: snapshotOf(call).status }];
      });
      return [...found.flat(), ...over].slice(0, FIND_MAX);
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

/** A call is live, over with a record, or still in Plivo's queue. */
async function getCall(
  client: AccountClient<PlivoConfig>,
  {
    credentials,
    callId,
    signal,
  }: { credentials: ProviderCredentials; callId: string; signal: AbortSignal },
): Promise<CallSnapshot | undefined> {
  const read = <T>(query: string, schema: z.ZodType<T>) => {
    const path = `${callPath(callId)}${query}`;
    return lookUp(client, { credentials, action: 'get-call', path, schema, signal });
  };
  const live = await read('?status=live', openCall);
  if (live !== undefined) return openSnapshot(live.call_status);
  const over = await read('', record);
  if (over !== undefined) return snapshotOf(over);
  const queued = await read('?status=queued', openCall);
  return queued && openSnapshot(queued.call_status);
}

/** A live call with a word of a later version is in progress. */
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
