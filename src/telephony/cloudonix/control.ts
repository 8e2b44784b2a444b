// Cloudonix' calls over REST: place, end, redirect, read, find. Source: providers §5.1, §5.6.

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { DialRequest, ProviderControl } from '../provider/provider.ts';
import { unreadableAnswer } from '../provider/rest-failure.ts';
import type { ProviderCredentials } from '../provider/terms.ts';
import { conferenceDocument, dialDocument } from '../twiml/twiml-documents.ts';
import { createCloudonixApplications, createCloudonixNumbers } from './account.ts';
import {
  answerOf,
  type CloudonixClient,
  type CloudonixRequest,
  checkedCredentials,
} from './client.ts';
import { durationOf, sessionFacts, statusOf, TOKEN } from './session-status.ts';
import { withProof } from './webhook-proof.ts';

/** Longest ring time in seconds. Cloudonix documents no limit; these are ours. */
const RING_S_MAX = 600;
export const CLOUDONIX_CALL_S_MAX = 86_400;

const DIALABLE = /^(\+?\d{3,15}|sips?:\S+)$/i;
const SESSION = '/customers/self/domains/{domain}/sessions';
const NOT_FOUND = 404;

/** Calls that are returned. */
const FIND_MAX = 20;
/** Tolerance between Cloudonix' clock and ours. */
const CLOCKS_APART_MS = 60_000;

const created = z.object({ token: z.string().regex(TOKEN) });
const listed = z.array(z.looseObject({}));
const numbersOf = z.object({ callerId: z.string(), destination: z.string() });

export function createCloudonixControl(client: CloudonixClient): ProviderControl {
  return {
    ...createCloudonixNumbers(client),
    ...createCloudonixApplications(client),
    ...createCalls(client),
    ...createLookUps(client),
  };
}

function createCalls(
  client: CloudonixClient,
): Pick<ProviderControl, 'dial' | 'hangUp' | 'transfer' | 'join'> {
  return {
    async dial(credentials, request, signal) {
      const path = '/calls/{domain}/application';
      const json = dialBody(credentials, request);
      const wanted = { action: 'dial', method: 'POST', path, json, repeatable: false } as const;
      const answer = await client.send(credentials, wanted, signal);
      const { token } = answerOf(answer, wanted, created);
      return { callId: token, metadata: { call_id: token } };
    },

    async hangUp(credentials, callId, signal) {
      const wanted: CloudonixRequest = {
        action: 'hang-up',
        method: 'DELETE',
        path: sessionPath(callId),
        json: null,

        repeatable: true,
        isUrgent: true,
      };
      const answer = await client.send(credentials, wanted, signal);
      if (answer.status !== NOT_FOUND) answerOf(answer, wanted, z.unknown());
    },

    async transfer(credentials, callId, target, signal) {
      // The document would be accepted, and the call would end if the target cannot be dialled.
      if (!DIALABLE.test(target.to)) {
        const reason = 'neither a number nor a SIP address';
        throw new GatewayError('PROVIDER_DESTINATION', { provider: 'cloudonix', reason });
      }
      const ringS = within(target.ringS, RING_S_MAX);
      // The result at the destination is not reported: there is no documented callback.
      const cxml = dialDocument({ to: target.to, callerId: target.callerId, ringS });
      const wanted = redirection('transfer', callId, cxml);
      answerOf(await client.send(credentials, wanted, signal), wanted, z.unknown());
    },

    async join(credentials, { callId, legId, name }, signal) {
      for (const each of [legId, callId]) {
        const wanted = redirection('join', each, conferenceDocument(name));
        answerOf(await client.send(credentials, wanted, signal), wanted, z.unknown());
      }
    },
  };
}

function redirection(action: string, callId: string, cxml: string): CloudonixRequest {
  return {
    action,
    method: 'POST',
    path: `/calls/{domain}/sessions/${pathPart(callId)}/application`,
    json: { cxml },
    repeatable: false,
    isUrgent: true,
  };
}

function createLookUps(client: CloudonixClient): Pick<ProviderControl, 'getCall' | 'findCalls'> {
  return {
    async getCall(credentials, callId, signal) {
      const wanted = reading('get-call', sessionPath(callId));
      const answer = await client.send(credentials, wanted, signal);
      if (answer.status === NOT_FOUND) return undefined;
      const session = answerOf(answer, wanted, sessionFacts);
      const status = statusOf(session);
      if (status === undefined) throw unreadableAnswer({ provider: 'cloudonix', ...wanted });
      return { status, durationS: durationOf(session), answeredBy: null };
    },

    /** Lists current calls only, so an empty list does not prove that no call was placed. */
    async findCalls(credentials, { from, to, since }, signal) {
      const wanted = reading('find-calls', SESSION);
      const answer = await client.send(credentials, wanted, signal);
      if (answer.status === NOT_FOUND) return undefined;
      const sinceMs = since.getTime() - CLOCKS_APART_MS;
      const found = answerOf(answer, wanted, listed).flatMap((each) => {
        const session = sessionFacts.safeParse(each).data;
        const numbers = numbersOf.safeParse(each).data;
        if (session === undefined || numbers === undefined) return [];
        const isBetween =
          digitsOf(numbers.destination) === digitsOf(to) &&
          (from === null || digitsOf(numbers.callerId) === digitsOf(from));
        const status = statusOf(session);
        // A call with an unreadable date must not be overlooked.
        const createdMs = session.createdAt ?? Number.POSITIVE_INFINITY;
        if (!isBetween || status === undefined || createdMs < sinceMs) return [];
        return [{ callId: session.token, status, createdMs }];
      });
      if (found.length === 0) return undefined;
      return found
        .toSorted((a, b) => (a.createdMs === b.createdMs ? 0 : b.createdMs - a.createdMs))
        .slice(0, FIND_MAX)
        .map(({ callId, status }) => ({ callId, status }));
    },
  };
}

function reading(action: string, path: string): CloudonixRequest {
  return { action, method: 'GET', path, json: null, repeatable: true };
}

/** Both URLs are signed by us: Cloudonix signs nothing, and sends the key of an application only to the application's own
 *  URL. */
function dialBody(credentials: ProviderCredentials, request: DialRequest): Record<string, unknown> {
  const { bearer_token: secret } = checkedCredentials(credentials);
  return {
    destination: request.to,
    ...(request.from !== null && { ['caller-id']: request.from }),
    url: withProof(request.answerUrl, secret),
    method: 'POST',
    callback: withProof(request.statusUrl, secret),
    ['timeout']: within(request.ringS, RING_S_MAX),
    timeLimit: within(request.callS, CLOUDONIX_CALL_S_MAX),
  };
}

function within(seconds: number, max: number): number {
  return Math.min(max, Math.max(1, Math.round(seconds)));
}

function sessionPath(callId: string): string {
  return `${SESSION}/${pathPart(callId)}`;
}

/** The session's token for a path. Throws PROVIDER_REFUSED for another value: a path with dots would address something
 *  else. */
function pathPart(callId: string): string {
  if (TOKEN.test(callId)) return callId;
  const reason = 'not the token of a session';
  throw new GatewayError('PROVIDER_REFUSED', { provider: 'cloudonix', reason });
}

/** Digits of a number, which Cloudonix stores as free text, with or without `+`. */
function digitsOf(number: string): string {
  return number.replace(/^\+/, '');
}
