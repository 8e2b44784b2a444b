// Callers whose media could not be opened: the channel continues in the dialplan at the label `away` of its extension,
// as it does while no gateway is connected. Source: asterisk §4.3.

import { codeOf } from '../../../errors/gateway-error.ts';
import { deadlineSignal } from '../../../std/deadline.ts';
import { pause } from '../../../std/pause.ts';
import { bestEffort } from '../rest/best-effort.ts';
import { ariFaultOf, isAriNotFound } from '../rest/client.ts';
import { ariChannel, isInApplication, isSentOn } from '../rest/messages.ts';
import type { AriContext } from '../rest/peer.ts';
import type { AriCall } from './ari-call.ts';
import type { CallTable } from './call-table.ts';
import { hangUpUntilTaken, pauseMsAfter, TRIES_MAX } from './hang-up.ts';

const LABEL = 'away';
const LOOK_MS_MAX = 5_000;
/** Hang-up cause "bearer capability not available": SIP 488, "Not Acceptable Here". */
const NO_CODEC = 58;

/** Ends our part of a call whose media were not opened because of `error`. A call that is over, or that was hung up, is
 *  ended. Never rejects. */
export async function giveUp(
  peer: AriContext,
  { held, call }: { held: CallTable; call: AriCall },
  error: unknown,
): Promise<void> {
  const { direction } = call;
  // The dialplan could not make itself heard either.
  if (codeOf(error) === 'PBX_CODEC') {
    call.refuse(NO_CODEC);
    return hangUpUntilTaken(peer, call, String(NO_CODEC));
  }
  const isCallers = call.over.aborted || call.isCancelled || codeOf(error) === 'PBX_CALL_GONE';
  // A conversation has begun: the dialplan has nothing to add to it.
  if (!call.isLeft && direction === 'inbound' && !isCallers && (await isSentAway(peer, held, call)))
    return;
  await hangUpUntilTaken(peer, call, 'failure');
}

/** Sends the caller to the label `away`. False if the channel stays in our application, as where the extension has no
 *  such label. */
async function isSentAway(peer: AriContext, held: CallTable, call: AriCall): Promise<boolean> {
  const path = `channels/${encodeURIComponent(call.channelId)}/continue`;
  const request = { action: 'away', method: 'POST', path, query: { label: LABEL } } as const;
  held.sendAway(call.id);
  call.released = true;
  const status = await bestEffort(peer, request);
  if (status !== undefined && status <= 299) return true;
  // A lost answer or an error of a proxy does not say whether the caller goes on.
  if (!(await isStillOurs(peer, call))) return true;
  held.keep(call.id);
  call.released = false;
  return false;
}

/** Whether the channel is still ours after a request that may have been carried out. Asks until the PBX answers, which
 *  is back within seconds where it is busy or restarts. Meanwhile a reconciliation may end the call, or find it in the
 *  dialplan. */
async function isStillOurs(peer: AriContext, call: AriCall): Promise<boolean> {
  const { clock, log } = peer;
  call.isUnwanted = true;
  for (let looks = 1; looks <= TRIES_MAX && !call.over.aborted; looks++) {
    const deadline = deadlineSignal(clock, LOOK_MS_MAX, 'look for the caller', call.over);
    try {
      return await isWithUs(peer, call.channelId, deadline.signal);
    } catch (error) {
      log.debug({ err: error }, 'caller not found yet');
    } finally {
      deadline.done();
    }
    await pause(clock, pauseMsAfter(looks), call.over);
  }
  return false;
}

/** Whether the caller's channel is in our application, or will be once it answers our dial. A caller who continues in
 *  the dialplan must not be hung up by us. Throws what `AriClient` throws. */
export async function isWithUs(
  { client, account, ids }: Pick<AriContext, 'client' | 'account' | 'ids'>,
  callId: string,
  signal: AbortSignal,
): Promise<boolean> {
  const path = `channels/${encodeURIComponent(callId)}`;
  const request = { action: 'look', method: 'GET', path } as const;
  const answer = await client.send(request, signal);
  if (isAriNotFound(answer)) return false;
  const channel = answer.status === 200 ? ariChannel.safeParse(answer.body).data : undefined;
  if (channel === undefined) throw ariFaultOf(request, answer);
  if (ids.kindOf(callId) !== undefined) return !isSentOn(channel);
  return isInApplication(channel, account.app);
}
