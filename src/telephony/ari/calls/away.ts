// A caller whose call could not be given its audio: the channel goes on in the dialplan at the label `away` of its
// extension, as it does while no gateway is connected. Source: asterisk §4.3.

import { codeOf } from '../../../errors/gateway-error.ts';
import { deadlineSignal } from '../../../std/deadline.ts';
import { pause } from '../../../std/pause.ts';
import { bestEffort, hangUpChannel } from '../rest/best-effort.ts';
import { ariFaultOf, isAriNotFound } from '../rest/client.ts';
import { ariChannel, isInApplication, isSentOn } from '../rest/messages.ts';
import type { AriContext } from '../rest/peer.ts';
import type { AriCall } from './ari-call.ts';
import type { CallTable } from './call-table.ts';

const LABEL = 'away';
/** After a request that may have been carried out: a PBX that is busy or restarts is back within seconds. A proxy that
 *  answers for it may do so for minutes, while its events still arrive: half an hour in all. */
const LOOKS_MAX = 64;
const LOOK_MS_MAX = 5_000;
/** After each look; the last is repeated. */
const LOOK_PAUSES_MS = [2_000, 2_000, 10_000, 30_000] as const;

/** Ends our part of a call whose media were not opened because of `error`. A call that is over, or that somebody has
 *  hung up, is ended; one that we dialled and that still rings goes on ringing. Never rejects. */
export async function giveUp(
  peer: AriContext,
  { held, call }: { held: CallTable; call: AriCall },
  error: unknown,
): Promise<void> {
  const { id, direction } = call;
  if (direction === 'outbound' && !call.answered) return;
  const isCallers = call.over.aborted || call.isCancelled || codeOf(error) === 'PBX_CALL_GONE';
  if (direction === 'inbound' && !isCallers && (await isSentAway(peer, held, call))) return;
  await hangUpChannel(peer, id, 'failure');
}

/** False if the channel waits in our application, as where the extension has no such label. */
async function isSentAway(peer: AriContext, held: CallTable, call: AriCall): Promise<boolean> {
  const path = `channels/${encodeURIComponent(call.id)}/continue`;
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

/** Until the PBX says so; a reconciliation may end the call before, or find that it has gone on. */
async function isStillOurs(peer: AriContext, call: AriCall): Promise<boolean> {
  const { clock, log } = peer;
  call.isUnwanted = true;
  for (let looks = 1; looks <= LOOKS_MAX && !call.over.aborted; looks++) {
    const deadline = deadlineSignal(clock, LOOK_MS_MAX, 'look for the caller', call.over);
    try {
      return await isWithUs(peer, call.id, deadline.signal);
    } catch (error) {
      log.debug({ err: error }, 'caller not found yet');
    } finally {
      deadline.done();
    }
    const pauseMs = LOOK_PAUSES_MS[Math.min(looks, LOOK_PAUSES_MS.length) - 1] ?? 0;
    await pause(clock, pauseMs, call.over);
  }
  return false;
}

/** Whether the caller's channel is in our application, or one that we dialled will be. Who goes on in the dialplan is not
 *  ours to hang up. Throws what `AriClient` throws. */
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
