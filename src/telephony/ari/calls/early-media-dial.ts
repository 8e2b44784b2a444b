// Dialling with early media, in two steps: create a channel, which is in our application from the start, then dial it.
// So audio before the answer reaches us. Source: asterisk §4.2; the caller id was tested.

import { GatewayError } from '../../../errors/gateway-error.ts';
import type { Clock } from '../../../std/clock.ts';
import { deadlineSignal } from '../../../std/deadline.ts';
import { type AriClient, ariFaultOf, isAriNotFound } from '../rest/client.ts';
import type { AriAccount } from '../rest/config.ts';
import { type AriChannel, ariChannel } from '../rest/messages.ts';
import { createQuery, type Dialled, jitterBufferOf, ringQuery } from './dial-endpoint.ts';

/** Pause between two looks. A new channel is in the application after a few milliseconds, or later on a busy PBX. */
const LOOK_MS = 20;
const LOOKS_MAX = 150;
const TAKE_BACK_MS_MAX = 5_000;
/** Statuses of a request about a channel: 409 while it is in no application, 412 while it is in one and not answered. */
const NOT_YET = 409;
const UNANSWERED = 412;

export interface EarlyMediaContext {
  account: AriAccount;
  client: AriClient;
  clock: Clock;
}

/** Throws what `AriClient` throws. After any error the channel may exist: see `takeBack`. */
export async function dialWithEarlyMedia(
  line: EarlyMediaContext,
  dialled: Dialled,
  signal: AbortSignal,
): Promise<AriChannel> {
  const { client } = line;
  const { channelId, ringS } = dialled;
  const query = createQuery(line.account, dialled);
  const request = { action: 'dial', method: 'POST', path: 'channels/create', query } as const;
  const channel = await client.get({ ...request, body: bodyOf(dialled) }, ariChannel, signal);
  await untilEntered(line, channelId, signal);
  // Sent once, only here, and never again for any answer: a channel that is dialled twice crashes Asterisk 22.10.
  const path = `channels/${channelId}/dial`;
  await client.run({ action: 'dial', method: 'POST', path, query: ringQuery(ringS) }, signal);
  return channel;
}

/** Hangs up after a failed dial, so that no phone keeps ringing. Never rejects. */
export async function cancelDial(
  { client, clock }: EarlyMediaContext,
  channelId: string,
): Promise<void> {
  const deadline = deadlineSignal(clock, TAKE_BACK_MS_MAX, 'take back a dial');
  const path = `channels/${channelId}`;
  try {
    await client.send({ action: 'hang-up', method: 'DELETE', path }, deadline.signal);
  } catch {
    // The connection ends the channel when it has rung for too long.
  } finally {
    deadline.done();
  }
}

/** The connected line's number is what the far end sees; the channel's own number is only visible at the PBX. */
function bodyOf(dialled: Dialled): object {
  const variables = jitterBufferOf(dialled);
  for (const party of ['CONNECTEDLINE(all)', 'CALLERID(all)']) {
    if (dialled.callerId) variables[party] = dialled.callerId;
  }
  return { variables };
}

/** Waits until the application has the channel: a dial before that is refused. The looks have no effect. */
async function untilEntered(
  { client, clock }: EarlyMediaContext,
  channelId: string,
  signal: AbortSignal,
): Promise<void> {
  const path = `channels/${channelId}/silence`;
  for (let looks = 0; looks < LOOKS_MAX; looks++) {
    const request = { action: 'look', method: 'DELETE', path } as const;
    const answer = await client.send(request, signal);
    if (isAriNotFound(answer)) throw new GatewayError('PBX_CALL_GONE');
    if (answer.status === UNANSWERED || answer.status <= 299) return;
    if (answer.status !== NOT_YET) throw ariFaultOf(request, answer);
    await new Promise<void>((resolve) => clock.after(LOOK_MS, resolve));
  }
  const reason = 'the channel did not enter the application';
  throw new GatewayError('PROVIDER_FAILED', { provider: 'ari', action: 'dial', reason });
}
