// Call control over Asterisk's REST interface: dial, hang up, transfer, send digits. Source: asterisk §4.

import { codeOf, GatewayError } from '../../../errors/gateway-error.ts';
import type { CallStatus } from '../../../model/provider.ts';
import type { Clock } from '../../../std/clock.ts';
import type { DialRequest, DialResult, ProviderControl } from '../../provider/provider.ts';
import { isUncertain } from '../../provider/rest-failure.ts';
import type { ProviderCredentials } from '../../provider/terms.ts';
import { isWithUs } from '../calls/away.ts';
import type { CallTable } from '../calls/call-table.ts';
import { type Dialled, dialArgs, dialQuery, jitterBufferOf } from '../calls/dial-endpoint.ts';
import { explainedRefusal } from '../calls/dial-refusal.ts';
import {
  cancelDial,
  dialWithEarlyMedia,
  type EarlyMediaContext,
} from '../calls/early-media-dial.ts';
import { hangUpUntilTaken } from '../calls/hang-up.ts';
import type { MediaChoice } from '../media/transport-selection.ts';
import type { ChannelIds } from '../rest/channel-ids.ts';
import { type AriClient, isAriNotFound } from '../rest/client.ts';
import { type AriAccount, accountOf } from '../rest/config.ts';
import { type AriChannel, ariChannel } from '../rest/messages.ts';
import type { AriConnection } from './connection.ts';

export interface AriReach {
  account: AriAccount;
  client: AriClient;
  ids: ChannelIds;
  clock: Clock;
  /** How the audio of its calls will come. */
  media: MediaChoice;
  /** The connection with the call; undefined if this process does not have the call. */
  connection: AriConnection | undefined;
  /** The connection that gets the events of a call which is dialled now; undefined if none here does. */
  dialler: AriConnection | undefined;
  /** The calls of this process at that PBX, also without a connection. */
  held: Pick<CallTable, 'isSentAway'> | undefined;
}

/** Length of a tone, enough for any voice menu (ITU-T Q.24 asks for 40 ms at least). */
const TONE_MS = 120;
const PAUSE_MS = 80;

/** Channel states that correspond to a call status. */
const statuses = new Map<string, CallStatus>([
  ['Up', 'in-progress'],
  ['Ringing', 'ringing'],
  ['Ring', 'ringing'],
  ['Busy', 'busy'],
]);

export function createAriControl(reach: (account: AriAccount) => AriReach): ProviderControl {
  const at = (credentials: ProviderCredentials) => reach(accountOf(credentials));
  return {
    dial: (credentials, request, signal) => dial(at(credentials), request, signal),

    hangUp: (credentials, callId, signal) => hangUp(at(credentials), callId, signal),

    async transfer(credentials, callId, target, signal) {
      const { connection } = at(credentials);
      if (connection === undefined) throw new GatewayError('PBX_NOT_CONNECTED');
      await connection.handOver(callId, target, signal);
    },

    async sendDigits(credentials, callId, digits, signal) {
      const { client, connection } = at(credentials);
      const path = `${channelPath(connection, callId)}/dtmf`;
      const query = Object.fromEntries([
        ['dtmf', digits],
        ['duration', String(TONE_MS)],
        ['between', String(PAUSE_MS)],
      ]);
      const wanted = { action: 'digits', method: 'POST', path, query } as const;
      await client.run(wanted, signal);
    },

    async getCall(credentials, callId, signal) {
      const { client, connection } = at(credentials);
      const path = channelPath(connection, callId);
      const answer = await client.send({ action: 'get-call', method: 'GET', path }, signal);
      const channel = ariChannel.safeParse(answer.body);
      if (answer.status !== 200 || !channel.success) return undefined;
      const status = statuses.get(channel.data.state) ?? 'initiated';
      return { status, durationS: null, answeredBy: null };
    },

    // A PBX lists its current channels only, and not by their numbers.
    findCalls: () => Promise.resolve(undefined),
    ownsNumber: () => Promise.resolve(undefined),
    // The dialplan belongs to the PBX's administrator.
    configureInbound: () => Promise.resolve({ ok: true, message: null }),
    detachInbound: () => Promise.resolve({ ok: true, message: null }),
  };
}

/** Path of the call's current channel, which differs from the first one if its telephone transferred the call. */
function channelPath(connection: AriConnection | undefined, callId: string): string {
  const channelId = connection?.held.calls.get(callId)?.channelId ?? callId;
  return `channels/${encodeURIComponent(channelId)}`;
}

async function dial(
  { account, client, ids, clock, media, dialler }: AriReach,
  request: DialRequest,
  signal: AbortSignal,
): Promise<DialResult> {
  const callId = ids.outbound(request.runId);
  const line = { account, client, clock };
  const dialled = {
    channelId: callId,
    to: request.to,
    callerId: request.from,
    ringS: request.ringS,
    mediaFormat: media.format,
    args: dialArgs(request.runId),
    isStream: media.way !== 'rtp',
  };
  dialler?.dialling(callId, request.runId);
  try {
    const send = account.early_media ? dialWithEarlyMedia : dialAtOnce;
    const channel = await send(line, dialled, signal);
    dialler?.dialled(callId, 'placed');
    return { callId, metadata: { call_id: callId, channel_name: channel.name } };
  } catch (error) {
    // A call that may have been placed is recognised by its id when it answers into our application.
    const isKept = !account.early_media && isUncertain(codeOf(error));
    dialler?.dialled(callId, isKept ? 'uncertain' : 'refused');
    if (account.early_media) await cancelDial(line, callId);
    const { endpoint = '' } = dialQuery(account, dialled);
    throw await explainedRefusal(client, endpoint, error, signal);
  }
}

async function hangUp(
  { account, client, ids, connection, held }: AriReach,
  callId: string,
  signal: AbortSignal,
): Promise<void> {
  if (held?.isSentAway(callId) === true) return;
  const call = connection?.held.calls.get(callId);
  // A killed process may have sent the caller to the dialplan.
  if (call === undefined && !(await isWithUs({ client, account, ids }, callId, signal))) return;
  // The hang-up cause that follows is not the far end's.
  call?.cancel();
  const wanted = {
    action: 'hang-up',
    method: 'DELETE',
    path: channelPath(connection, callId),
    query: { reason: 'normal' },
  } as const;
  try {
    const { status } = await client.send(wanted, signal);
    if (status > 299 && !isAriNotFound({ status })) await client.run(wanted, signal);
  } catch (error) {
    if (call === undefined || connection === undefined) throw error;
    void hangUpUntilTaken(connection, call);
    // The connection has reported the fault already.
    if (connection.state.kind !== 'down') throw error;
  }
}

async function dialAtOnce(
  { account, client }: EarlyMediaContext,
  dialled: Dialled,
  signal: AbortSignal,
): Promise<AriChannel> {
  const query = dialQuery(account, dialled);
  const body = { variables: jitterBufferOf(dialled) };
  const wanted = { action: 'dial', method: 'POST', path: 'channels', query, body } as const;
  return await client.get(wanted, ariChannel, signal);
}
