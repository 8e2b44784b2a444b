// Notifies the former owner of a waiting call that another process has adopted it: a worker of this gateway by the
// inter-process channel, one of another gateway by `toOthers`. A message that is lost costs seconds: the former owner
// looks in the store as well (call/start/call-adoption.ts).

import type { AdoptedCall } from '../call/start/call-adoption.ts';
import { adoptedCall } from './gateway-notes.ts';
import type { IpcChannel } from './ipc-channel.ts';

export interface AdoptionNotes {
  /** Delivers a note to the worker of this gateway that had the call. Returns false if it is none of its workers. */
  deliver(call: AdoptedCall): boolean;
}

/** Relays the notes of this gateway's workers. `numberOf`: the running worker with that name in the store. */
export function relayAdoptions(
  link: IpcChannel,
  numberOf: (node: string) => number | undefined,
  toOthers: (call: AdoptedCall) => void,
): AdoptionNotes {
  const deliver = ({ runId, from }: AdoptedCall): boolean => {
    const number = numberOf(from);
    if (number === undefined) return false;
    link.notify(number, 'adopted-elsewhere', { runId });
    return true;
  };
  link.onNotification('adopted', (body) => {
    const call = adoptedCall.parse(body);
    if (!deliver(call)) toOthers(call);
  });
  return { deliver };
}
