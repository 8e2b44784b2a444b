// Twilio's calls over REST: place, end, redirect, read. Source: twilio-oai, twilio_api_v2010, Calls.

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { DialRequest, ProviderControl } from '../provider/provider.ts';
import type { Rest } from '../provider/rest-client.ts';
import { conferenceDocument, dialDocument } from '../twiml/twiml-documents.ts';
import { createTwilioNumbers } from './account.ts';
import {
  answerOf,
  checkedCredentials,
  createTwilioClient,
  isTwilioNotFound,
  type TwilioClient,
  unreadable,
} from './client.ts';
import type { TwilioConfig } from './config.ts';
import { statusOf } from './webhook.ts';

/** Twilio's own limits, in seconds. */
const RING_S_MAX = 600;
export const TWILIO_CALL_S_MAX = 86_400;

const DIALABLE = /^(\+\d{8,15}|sips?:\S+)$/i;

const created = z.object({ sid: z.string().min(1), status: z.string().optional() });
const call = z.looseObject({ status: z.string(), answered_by: z.string().nullish() });
const callList = z.object({
  calls: z.array(z.object({ sid: z.string(), status: z.string(), date_created: z.string() })),
});

/** Calls that are returned. */
const FIND_MAX = 20;
/** Tolerance between Twilio's clock and ours. */
const CLOCKS_APART_MS = 60_000;

export function createTwilioControl(rest: Rest): ProviderControl {
  const client = createTwilioClient(rest);
  return {
    ...createTwilioNumbers(client).control,
    ...callQueries(client),

    async dial(credentials, request, signal) {
      const form = dialForm(request, checkedCredentials(credentials));
      const wanted = { action: 'dial', path: 'Calls.json', form, repeatable: false };
      const answer = await client.send(credentials, wanted, signal);
      const { sid, status } = answerOf(answer, wanted, created);
      return {
        callId: sid,
        metadata: { call_id: sid, ...(status && { provider_status: status }) },
      };
    },

    async hangUp(credentials, callId, signal) {
      const form = new URLSearchParams([['Status', 'completed']]);
      const wanted = { action: 'hang-up', path: callPath(callId), form, repeatable: true };
      const answer = await client.send(credentials, wanted, signal);
      if (!isTwilioNotFound(answer)) answerOf(answer, wanted, z.unknown());
    },

    async transfer(credentials, callId, target, signal) {
      // Twilio accepts any text, and ends the call if it cannot be dialled.
      if (!DIALABLE.test(target.to)) {
        const reason = 'neither a number with its country code nor a SIP address';
        throw new GatewayError('PROVIDER_DESTINATION', { provider: 'twilio', reason });
      }
      const ringS = within(target.ringS, RING_S_MAX);
      const form = new URLSearchParams([['Twiml', dialDocument({ ...target, ringS })]]);
      const wanted = { action: 'transfer', path: callPath(callId), form, repeatable: false };
      answerOf(await client.send(credentials, wanted, signal), wanted, z.unknown());
    },

    async join(credentials, { callId, legId, name }, signal) {
      const form = new URLSearchParams([['Twiml', conferenceDocument(name)]]);
      for (const each of [legId, callId]) {
        const wanted = { action: 'join', path: callPath(each), form, repeatable: false };
        answerOf(await client.send(credentials, wanted, signal), wanted, z.unknown());
      }
    },
  };
}

/** Queries about calls at Twilio. */
function callQueries(client: TwilioClient): Pick<ProviderControl, 'getCall' | 'findCalls'> {
  return {
    async getCall(credentials, callId, signal) {
      const wanted = { action: 'get-call', path: callPath(callId), form: null, repeatable: true };
      const answer = await client.send(credentials, wanted, signal);
      if (answer.status === 404) return undefined;
      const read = answerOf(answer, wanted, call);
      const status = statusOf(read.status);
      if (status === undefined) throw unreadable(wanted);
      const durationS = secondsOf(read['duration']);
      return { status, durationS, answeredBy: read.answered_by ?? null };
    },

    async findCalls(credentials, { from, to, since }, signal) {
      const query = new URLSearchParams([
        ['To', to],
        ...fromField(from),
        ['PageSize', String(FIND_MAX)],
      ]);
      const path = `Calls.json?${query}`;
      const wanted = { action: 'find-calls', path, form: null, repeatable: true };
      const { calls } = answerOf(await client.send(credentials, wanted, signal), wanted, callList);
      const sinceMs = since.getTime() - CLOCKS_APART_MS;
      return calls.slice(0, FIND_MAX).flatMap(({ sid, status: word, date_created: created }) => {
        const status = statusOf(word);
        // A call with an unreadable date must not be overlooked.
        const isOlder = Date.parse(created) < sinceMs;
        return status === undefined || isOlder ? [] : [{ callId: sid, status }];
      });
    },
  };
}

function dialForm(request: DialRequest, config: TwilioConfig): URLSearchParams {
  const form = new URLSearchParams([
    ['To', request.to],
    ...fromField(request.from),
    ['Url', request.answerUrl],
    ['Method', 'POST'],
    ['StatusCallback', request.statusUrl],
    ['StatusCallbackMethod', 'POST'],
    ['Timeout', String(within(request.ringS, RING_S_MAX))],
    ['TimeLimit', String(within(request.callS, TWILIO_CALL_S_MAX))],
  ]);
  for (const event of ['initiated', 'ringing', 'answered', 'completed']) {
    form.append('StatusCallbackEvent', event);
  }
  if (config.amd_enabled) {
    form.set('MachineDetection', 'Enable');
    form.set('AsyncAmd', 'true'); // Otherwise Twilio delays the call until detection is finished.
    form.set('AsyncAmdStatusCallback', request.answeredByUrl);
    form.set('AsyncAmdStatusCallbackMethod', 'POST');
  }
  return form;
}

/** Form field with the caller's number, without which Twilio refuses a dial. */
function fromField(from: string | null): [string, string][] {
  return from === null ? [] : [['From', from]];
}

function within(seconds: number, max: number): number {
  return Math.min(max, Math.max(1, Math.round(seconds)));
}

/** Whole seconds; null until the call has ended. Twilio writes them as digits. */
function secondsOf(text: unknown): number | null {
  return typeof text === 'string' && /^\d{1,9}$/.test(text) ? Number(text) : null;
}

function callPath(callId: string): string {
  return `Calls/${encodeURIComponent(callId)}.json`;
}
