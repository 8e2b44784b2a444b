// The id of one transfer in the URLs of its webhooks and media: the run, by which its process is found, the kind, and a
// part that cannot be guessed.

import type { Random } from '../std/random.ts';

/** 128 bits: some providers sign nothing but the URL. */
const SECRET_BYTES = 16;
const TRANSFER_ID = /^(\d{1,19})-([cw])[0-9a-f]{32}$/;

/** `warm`: the gateway dials the destination, and must not leave it alone. */
export function newTransferId(runId: string, kind: 'cold' | 'warm', random: Random): string {
  return `${runId}-${kind[0]}${random.bytes(SECRET_BYTES).toString('hex')}`;
}

export function isTransferId(id: string): boolean {
  return TRANSFER_ID.test(id);
}

export function isWarmTransfer(id: string): boolean {
  return TRANSFER_ID.exec(id)?.[2] === 'w';
}

/** The run of a transfer; any other id as it is. */
export function runOfId(id: string): string {
  return TRANSFER_ID.exec(id)?.[1] ?? id;
}
