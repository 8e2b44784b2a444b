// Id of one transfer in the URLs of its webhooks and media: the run, by which its process is found, the kind, and an
// unguessable part.

import type { Random } from '../std/random.ts';

/** Bytes of the unguessable part, 128 bits: some providers sign only the URL. */
const SECRET_BYTES = 16;
const TRANSFER_ID = /^(\d{1,19})-([cw])[0-9a-f]{32}$/;

/** Creates an id. `warm`: the gateway dials the destination, and must not leave that call alone. */
export function newTransferId(runId: string, kind: 'cold' | 'warm', random: Random): string {
  return `${runId}-${kind[0]}${random.bytes(SECRET_BYTES).toString('hex')}`;
}

export function isTransferId(id: string): boolean {
  return TRANSFER_ID.test(id);
}

export function isWarmTransfer(id: string): boolean {
  return TRANSFER_ID.exec(id)?.[2] === 'w';
}

/** The run of a transfer's id; any other id unchanged. */
export function runOfId(id: string): string {
  return TRANSFER_ID.exec(id)?.[1] ?? id;
}
