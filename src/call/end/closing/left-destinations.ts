// Destinations of warm transfers that a killed process left without a party: dialled, ringing, or listening to the
// announcement. Crash recovery hangs them up by the call ids that were stored when the provider returned them.

import type { CallEvent } from '../../../model/call-event.ts';
import type { Run } from '../../../model/run.ts';
import { isWarmTransfer } from '../../../model/transfer-id.ts';
import { isObject } from '../../../std/json.ts';

/** Status of the entry that is stored when the provider has returned the id of the destination's call. */
export const DIALLED = 'transfer-dialled';
/** Statuses, in entries of the run's callbacks, of a destination that is connected to no other party. */
const LEFT: ReadonlySet<string> = new Set([
  DIALLED,
  'transfer-ringing',
  'transfer-answered',
  'transfer-answering-machine',
]);

/** The provider's ids of such destinations' calls. Excludes destinations that are over or connected to the caller. */
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
