// Destinations of warm transfers that a killed process left alone: it had dialled them, or they listened to the
// announcement, and nobody else hangs them up. Their calls' ids were stored as the provider gave them.

import type { CallEvent } from '../../model/call-event.ts';
import type { Run } from '../../model/run.ts';
import { isWarmTransfer } from '../../model/transfer-id.ts';
import { isObject } from '../../std/json.ts';

/** Of the entry that is stored when the destination's call has an id. */
export const DIALLED = 'transfer-dialled';
/** How far a destination is that nobody talks with: as entries of the run's callbacks name it. */
const LEFT: ReadonlySet<string> = new Set([
  DIALLED,
  'transfer-ringing',
  'transfer-answered',
  'transfer-answering-machine',
]);

/** The provider's ids of their calls. Not of one that is over, or talks with the caller. */
export function leftDestinations({ logs }: Run, events: readonly CallEvent[]): string[] {
  const entries = logs['telephony_status_callbacks'];
  if (!Array.isArray(entries)) return [];
  const left = new Map<string, string>();
  const others = new Set(
    events.flatMap(({ body }) =>
      body.type === 'transfer.result' && !LEFT.has(`transfer-${body.outcome}`)
        ? [body.transferId]
        : [],
    ),
  );
  for (const entry of entries) {
    if (!isObject(entry)) continue;
    const { transfer_id: id, call_id: callId, status } = entry;
    if (typeof id !== 'string' || typeof callId !== 'string' || !isWarmTransfer(id)) continue;
    if (LEFT.has(String(status))) left.set(id, callId);
    else others.add(id);
  }
  for (const id of others) left.delete(id);
  return [...left.values()];
}
