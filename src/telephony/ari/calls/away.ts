// A caller whose call could not be given its audio: the channel goes on in the dialplan at the label `away` of its
// extension, as it does while no gateway is connected. Source: asterisk §4.3.

import { codeOf } from '../../../errors/gateway-error.ts';
import { bestEffort, hangUpChannel } from '../rest/best-effort.ts';
import type { AriContext } from '../rest/peer.ts';
import type { AriCall } from './ari-call.ts';
import type { CallTable } from './call-table.ts';

const LABEL = 'away';

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

/** False if the extension has no such label. */
async function isSentAway(peer: AriContext, held: CallTable, call: AriCall): Promise<boolean> {
  const path = `channels/${encodeURIComponent(call.id)}/continue`;
  const request = { action: 'away', method: 'POST', path, query: { label: LABEL } } as const;
  held.sendAway(call.id);
  call.released = true;
  const status = await bestEffort(peer, request);
  if (status !== undefined && status <= 299) return true;
  held.keep(call.id);
  call.released = false;
  return false;
}
