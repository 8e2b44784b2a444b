// Telnyx' calls over Call Control: place, connect, end, transfer, keys, read. Source: developers.telnyx.com, Call
// Control API v2; providers §2.1, §2.2, §2.6.

import { createHash } from 'node:crypto';
import { z } from 'zod';
import { codeOf, GatewayError } from '../../errors/gateway-error.ts';
import type { AnswerRequest, DialRequest, ProviderControl } from '../provider/provider.ts';
import type { ProviderCredentials, RejectReason } from '../provider/terms.ts';
import { createTelnyxNumbers, ensureApplication } from './account.ts';
import {
  checkedCredentials,
  dataOf,
  isCallGone,
  type TelnyxClient,
  type TelnyxRequest,
} from './client.ts';
import type { TelnyxConfig } from './config.ts';
import { clientState, SILENCE_WHEN_IDLE, streamSettings } from './stream-settings.ts';

/** Telnyx' own limits, in seconds. */
export const RING_S = { min: 5, max: 600 };
const CALL_S_MIN = 30;
export const TELNYX_CALL_S_MAX = 14_400;
/** Characters of a digest that stands for a URL. */
const URL_DIGITS = 16;
/** Active calls among which one is searched; more than accounts have. */
const ACTIVE_MAX = 250;

const DIALABLE = /^(\+\d{8,15}|sips?:\S+)$/i;

const placed = z.object({
  call_control_id: z.string().min(1),
  call_leg_id: z.string().optional(),
  call_session_id: z.string().optional(),
});
const call = z.object({ is_alive: z.boolean(), call_duration: z.number().nonnegative().nullish() });
const active = z.array(
  z.object({ call_control_id: z.string(), client_state: z.string().nullish() }),
);

export function createTelnyxControl(client: TelnyxClient): ProviderControl {
  return {
    ...createTelnyxNumbers(client).control,
    ...callQueries(client),

    async dial(credentials, request, signal) {
      const body = dialBody(request, checkedCredentials(credentials));
      const wanted = {
        action: 'dial',
        method: 'POST',
        path: 'calls',
        body,
        repeatable: false,
      } as const;
      const answer = dataOf(await client.send(credentials, wanted, signal), wanted, placed);
      const { call_control_id: callId, call_leg_id, call_session_id } = answer;
      return {
        callId,
        metadata: {
          call_id: callId,
          ...(call_leg_id && { call_leg_id }),
          ...(call_session_id && { call_session_id }),
        },
      };
    },

    async hangUp(credentials, callId, signal) {
      const wanted = command(callId, 'hangup', {}, 'hang-up');
      const answer = await client.send(credentials, wanted, signal);
      if (!isCallGone(answer)) dataOf(answer, wanted, z.unknown());
    },

    async transfer(credentials, callId, target, signal) {
      if (!DIALABLE.test(target.to)) {
        const reason = 'neither a number with its country code nor a SIP address';
        throw new GatewayError('PROVIDER_DESTINATION', { provider: 'telnyx', reason });
      }
      const { to, callerId: from, digits, resultUrl } = target;
      // The transfer has no keys: the report of the answer returns them (webhook.ts).
      const transferId = resultUrl?.split('/').at(-1);
      const keys = digits !== undefined &&
        transferId !== undefined && { target_leg_client_state: clientState(transferId, digits) };
      const body = {
        to,
        from,
        timeout_secs: within(target.ringS, RING_S),
        ...keys,
        // From here on for both legs.
        ...(resultUrl !== undefined && { webhook_url: resultUrl, webhook_url_method: 'POST' }),
      };
      const wanted = { ...command(callId, 'transfer', body), repeatable: false };
      dataOf(await client.send(credentials, wanted, signal), wanted, z.unknown());
    },

    /** Joins both legs. The caller's stream ends with our socket, once they are bridged. */
    async join(credentials, { callId, legId }, signal) {
      const stop = command(legId, 'streaming_stop', {}, 'stop-stream');
      dataOf(await client.send(credentials, stop, signal), stop, z.unknown());
      // Each leg is hung up when the other ends.
      const body = { call_control_id: legId };
      const wanted = { ...command(callId, 'bridge', body, 'join'), repeatable: false };
      dataOf(await client.send(credentials, wanted, signal), wanted, z.unknown());
    },

    async sendDigits(credentials, callId, digits, signal) {
      const wanted = {
        ...command(callId, 'send_dtmf', { digits }, 'send-digits'),
        repeatable: false,
      };
      dataOf(await client.send(credentials, wanted, signal), wanted, z.unknown());
    },

    ensureApplication: (credentials, wish, signal) =>
      ensureApplication(client, { credentials, wish, signal }),
  };
}

/** Queries about calls at Telnyx. */
function callQueries(client: TelnyxClient): Pick<ProviderControl, 'getCall' | 'findCalls'> {
  return {
    /** Telnyx only reports whether the call is up, which a ringing one is too. */
    async getCall(credentials, callId, signal) {
      const path = `calls/${encodeURIComponent(callId)}`;
      const wanted = { action: 'get-call', method: 'GET', path, repeatable: true } as const;
      const answer = await client.send(credentials, wanted, signal);
      if (isCallGone(answer)) return undefined;
      const { is_alive: isAlive, call_duration: durationS } = dataOf(answer, wanted, call);
      return isAlive
        ? { status: 'in-progress', durationS: null, answeredBy: null }
        : { status: 'completed', durationS: durationS ?? null, answeredBy: null };
    },

    /** Telnyx only lists calls that are up: one that is not found may have ended. */
    async findCalls(credentials, { runId }, signal) {
      const { connection_id: connectionId } = checkedCredentials(credentials);
      if (!connectionId) return undefined;
      const query = new URLSearchParams([['page[limit]', String(ACTIVE_MAX)]]);
      const path = `connections/${encodeURIComponent(connectionId)}/active_calls?${query}`;
      const wanted = { action: 'find-calls', method: 'GET', path, repeatable: true } as const;
      const calls = dataOf(await client.send(credentials, wanted, signal), wanted, active);
      const state = clientState(runId);
      const found = calls.filter(({ client_state }) => client_state === state);
      if (found.length === 0) return undefined;
      return found.map(({ call_control_id: callId }) => ({ callId, status: 'in-progress' }));
    },
  };
}

/** Connects an inbound call, or an answered one of ours, to our media. Telnyx carries out the first of equal commands:
 *  a repeated one changes nothing. */
export async function connectCall(
  client: TelnyxClient,
  request: AnswerRequest,
  { credentials, signal }: { credentials: ProviderCredentials; signal: AbortSignal },
): Promise<void> {
  const { callId, runId, isAnswered, isWaiting, mediaUrl, statusUrl, resumption } = request;
  const streamId = resumption === undefined ? `stream-${callId}` : `stream-${callId}-${resumption}`;
  const settings = { ...streamSettings(mediaUrl), client_state: clientState(runId) };
  if (isWaiting) {
    // Telnyx refuses it for a call without audio.
    await client.send(credentials, command(callId, 'playback_stop', { stop: 'all' }), signal);
  }
  const wanted = isAnswered
    ? command(callId, 'streaming_start', { ...settings, command_id: streamId }, 'answer')
    : command(
        callId,
        'answer',
        {
          ...settings,
          ...SILENCE_WHEN_IDLE,
          command_id: `answer-${callId}`,
          webhook_url: statusUrl,
          webhook_url_method: 'POST',
        },
        'answer',
      );
  const answer = await client.send(credentials, wanted, signal);
  if (!isCallGone(answer)) dataOf(answer, wanted, z.unknown());
}

/** Refuses an inbound call. One that is answered already is hung up. */
export async function rejectCall(
  client: TelnyxClient,
  { callId, reason }: { callId: string; reason: RejectReason },
  { credentials, signal }: { credentials: ProviderCredentials; signal: AbortSignal },
): Promise<void> {
  const isBusy = reason === 'busy' || reason === 'draining';
  const body = { cause: isBusy ? 'USER_BUSY' : 'CALL_REJECTED', command_id: `reject-${callId}` };
  const wanted = command(callId, 'reject', body);
  const answer = await client.send(credentials, wanted, signal);
  if (isCallGone(answer)) return;
  try {
    dataOf(answer, wanted, z.unknown());
  } catch (error) {
    if (codeOf(error) !== 'PROVIDER_REFUSED') throw error;
    const hangUp = command(callId, 'hangup', {}, 'hang-up');
    const ended = await client.send(credentials, hangUp, signal);
    if (!isCallGone(ended)) dataOf(ended, hangUp, z.unknown());
  }
}

function dialBody(request: DialRequest, config: TelnyxConfig): Record<string, unknown> {
  const { runId, from, to, statusUrl, ringS, callS } = request;
  if (!config.webhook_public_key) {
    // A webhook about the answer starts the media: without its key the call would ring, and stay silent.
    const reason = 'webhook_public_key is missing, which verifies the webhooks of calls';
    throw new GatewayError('PROVIDER_AUTH', { provider: 'telnyx', reason });
  }
  if (!config.connection_id) {
    const reason = 'the configuration names no call control application: store it again';
    throw new GatewayError('PROVIDER_REFUSED', { provider: 'telnyx', action: 'dial', reason });
  }
  return {
    connection_id: config.connection_id,
    to,
    from: from ?? '',
    timeout_secs: within(ringS, RING_S),
    time_limit_secs: within(callS, { min: CALL_S_MIN, max: TELNYX_CALL_S_MAX }),
    webhook_url: statusUrl,
    webhook_url_method: 'POST',
    client_state: clientState(runId),
    command_id: dialCommandId(request),
    ...SILENCE_WHEN_IDLE,
    ...(config.amd_enabled && { answering_machine_detection: 'detect' }),
  };
}

/** Command id of a dial, equal for a repeated one. It includes the event URL: runs of another installation with the
 *  same account have the same ids, and Telnyx would take one's dial for a repetition of the other's. */
function dialCommandId({ runId, statusUrl }: DialRequest): string {
  const url = createHash('sha256').update(statusUrl).digest('hex').slice(0, URL_DIGITS);
  return `dial-${runId}-${url}`;
}

export function command(
  callId: string,
  name: string,
  body: Record<string, unknown>,
  action = name,
): TelnyxRequest & { method: 'POST' } {
  // The id contains colons.
  const path = `calls/${encodeURIComponent(callId)}/actions/${name}`;
  return { action, method: 'POST', path, body, repeatable: true };
}

export function within(seconds: number, { min, max }: { min: number; max: number }): number {
  return Math.min(max, Math.max(min, Math.round(seconds)));
}
