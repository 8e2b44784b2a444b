// Requests about calls that Plivo and Vobiz have in common: place, end, redirect, send keys.
// Source: plivo.com/docs/voice/api/call, docs.vobiz.ai (call)

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { CallsToJoin, DialRequest, DialResult, TransferTarget } from '../provider/provider.ts';
import type { ProviderCredentials } from '../provider/terms.ts';
import type { AccountClient, AccountRequest } from './account-client.ts';
import { conferenceUrl, isDialableByXml, transferUrl } from './xml-documents.ts';

/** Id of the dial, or a list of one id: some answers have a list, although one number is dialled. */
const requestId = z.union([z.string().min(1), z.tuple([z.string().min(1)], z.string())]);
const placed = z.object({ request_uuid: requestId });

export interface DialLimits {
  ringS: number;
  callS: number;
}

/** Body of a dial. `more`: fields of one provider. */
export function dialBody(
  request: DialRequest,
  { ringS, callS }: DialLimits,
  more: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    ...(request.from !== null && { from: request.from }),
    to: request.to,
    answer_url: request.answerUrl,
    answer_method: 'POST',
    // Otherwise the answer URL receives the hang-up.
    hangup_url: request.statusUrl,
    hangup_method: 'POST',
    ring_url: ringUrl(request.statusUrl),
    ring_method: 'POST',
    ring_timeout: within(request.ringS, ringS),
    time_limit: within(request.callS, callS),
    ...more,
  };
}

/** `…/ring-callback/<run>` beside `…/hangup-callback/<run>`. */
function ringUrl(statusUrl: string): string {
  return statusUrl.replace(/\/hangup-callback\/(?=[^/]*$)/, '/ring-callback/');
}

export async function placeCall(
  client: AccountClient,
  {
    credentials,
    body,
    signal,
  }: { credentials: ProviderCredentials; body: Record<string, unknown>; signal: AbortSignal },
): Promise<DialResult> {
  const wanted = asked('dial', 'POST', 'Call/', body);
  const response = await client.send(credentials, wanted, signal);
  const { request_uuid: id } = client.contentOf(response, wanted, placed);
  const callId = typeof id === 'string' ? id : id[0];
  return { callId, metadata: { call_id: callId } };
}

/** Ends the call. False if there was no such call any more. */
export async function endCall(
  client: AccountClient,
  {
    credentials,
    path,
    signal,
  }: { credentials: ProviderCredentials; path: string; signal: AbortSignal },
): Promise<boolean> {
  const wanted: AccountRequest = {
    ...asked('hang-up', 'DELETE', path, null),
    repeatable: true,
  };
  const response = await client.send(credentials, wanted, signal);
  if (response.status === 404) return false;
  client.contentOf(response, wanted, z.unknown());
  return true;
}

/** Makes the provider fetch the transfer's document for the caller's leg. */
export async function redirectCall(
  client: AccountClient,
  {
    credentials,
    callId,
    target,
    signal,
  }: {
    credentials: ProviderCredentials;
    callId: string;
    target: TransferTarget;
    signal: AbortSignal;
  },
): Promise<void> {
  const { provider } = client;
  const to = target.to.replace(/^\+/, '');
  if (!isDialableByXml(to)) {
    const reason = 'neither a number with its country code nor a SIP address';
    throw new GatewayError('PROVIDER_DESTINATION', { provider, reason });
  }
  const url = transferUrl(target.documentUrl ?? '', { ...target, to });
  const wanted = redirection('transfer', callId, url);
  client.contentOf(await client.send(credentials, wanted, signal), wanted, z.unknown());
}

/** Puts both calls into one conference. */
export async function joinCalls(
  client: AccountClient,
  {
    credentials,
    calls: { callId, legId, name, documentUrl },
    signal,
  }: { credentials: ProviderCredentials; calls: CallsToJoin; signal: AbortSignal },
): Promise<void> {
  for (const each of [legId, callId]) {
    const wanted = redirection('join', each, conferenceUrl(documentUrl, name));
    client.contentOf(await client.send(credentials, wanted, signal), wanted, z.unknown());
  }
}

function redirection(action: string, callId: string, url: string): AccountRequest {
  const body = { legs: 'aleg', aleg_url: url, aleg_method: 'POST' };
  return asked(action, 'POST', callPath(callId), body);
}

export async function pressKeys(
  client: AccountClient,
  {
    credentials,
    callId,
    digits,
    signal,
  }: { credentials: ProviderCredentials; callId: string; digits: string; signal: AbortSignal },
): Promise<void> {
  const wanted = asked('send-digits', 'POST', `${callPath(callId)}DTMF/`, { digits, leg: 'aleg' });
  client.contentOf(await client.send(credentials, wanted, signal), wanted, z.unknown());
}

/** The content of the answer; undefined for 404. */
export async function lookUp<T>(
  client: AccountClient,
  {
    credentials,
    action,
    path,
    schema,
    signal,
  }: {
    credentials: ProviderCredentials;
    action: string;
    path: string;
    schema: z.ZodType<T>;
    signal: AbortSignal;
  },
): Promise<T | undefined> {
  const wanted: AccountRequest = { ...asked(action, 'GET', path, null), repeatable: true };
  const response = await client.send(credentials, wanted, signal);
  return response.status === 404 ? undefined : client.contentOf(response, wanted, schema);
}

export function callPath(callId: string): string {
  return `Call/${encodeURIComponent(callId)}/`;
}

/** A request that is sent once. */
function asked(
  action: string,
  method: AccountRequest['method'],
  path: string,
  body: Record<string, unknown> | null,
): AccountRequest {
  return { action, method, path, body, repeatable: false };
}

function within(seconds: number, max: number): number {
  return Math.min(max, Math.max(1, Math.round(seconds)));
}
