// Vobiz's calls over REST: place, end, redirect, read. Source: docs.vobiz.ai (call, cdr)

import { z } from 'zod';
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
import type { CallSnapshot, ProviderControl } from '../provider/provider.ts';
import type { Rest } from '../provider/rest-client.ts';
import type { ProviderCredentials } from '../provider/terms.ts';
import { createVobizClient, vobizNumbers } from './account.ts';
import type { VobizConfig } from './config.ts';

/** Limits in seconds. The longest call is not documented; this is the length of a stream in the examples. */
const RING_S_MAX = 120;
export const VOBIZ_CALL_S_MAX = 14_400;

const openCall = z.looseObject({ call_status: z.string() });
/** Fields of a call's record, which Vobiz writes when the call is over. */
const record = z.looseObject({
  uuid: z.string().optional(),
  answer_time: z.string().nullish(),
  hangup_cause: z.string().nullish(),
  hangup_cause_code: z.union([z.string(), z.int()]).nullish(),
});
const oneRecord = z.object({ data: record });

export function createVobizControl(rest: Rest): ProviderControl {
  const client = createVobizClient(rest);
  return {
    ...accountNumbers(client, vobizNumbers).control,

    ensureApplication: (credentials, wanted, signal) =>
      ensureApplication(client, { credentials, wanted, signal }),

    dial(credentials, request, signal) {
      const body = dialBody(request, { ringS: RING_S_MAX, callS: VOBIZ_CALL_S_MAX });
      return placeCall(client, { credentials, body, signal });
    },

    async hangUp(credentials, callId, signal) {
      await endCall(client, { credentials, path: callPath(callId), signal });
    },

    transfer(credentials, callId, target, signal) {
      return redirectCall(client, { credentials, callId, target, signal });
    },

    join: (credentials, calls, signal) => joinCalls(client, { credentials, calls, signal }),

    sendDigits(credentials, callId, digits, signal) {
      return pressKeys(client, { credentials, callId, digits, signal });
    },

    getCall: (credentials, callId, signal) => getCall(client, { credentials, callId, signal }),

    // The list of live calls cannot be limited to two numbers, and records exist only of calls that are over.
    findCalls: () => Promise.resolve(undefined),
  };
}

/** Reads a call that is live, over with a record, or queued. */
async function getCall(
  client: AccountClient<VobizConfig>,
  {
    credentials,
    callId,
    signal,
  }: { credentials: ProviderCredentials; callId: string; signal: AbortSignal },
): Promise<CallSnapshot | undefined> {
  const look = { credentials, action: 'get-call', signal };
  const open = async (status: 'live' | 'queued'): Promise<CallSnapshot | undefined> => {
    const path = `${callPath(callId)}?status=${status}`;
    const call = await lookUp(client, { ...look, path, schema: openCall });
    if (call === undefined) return undefined;
    // A live call with an unknown status counts as in progress.
    const known = statusOf(call.call_status) ?? (status === 'live' ? 'in-progress' : 'initiated');
    return { status: known, durationS: null, answeredBy: null };
  };
  const live = await open('live');
  if (live !== undefined) return live;
  const path = `cdr/${encodeURIComponent(callId)}`;
  const over = await lookUp(client, { ...look, path, schema: oneRecord });
  return over === undefined ? open('queued') : snapshotOf(over.data);
}

function snapshotOf(call: z.infer<typeof record>): CallSnapshot {
  const status = outcomeOf({
    code: call.hangup_cause_code?.toString(),
    cause: call.hangup_cause ?? undefined,
    isAnswered: typeof call.answer_time === 'string' && call.answer_time !== '',
  });
  return { status, durationS: secondsOf(call['billsec']), answeredBy: null };
}
