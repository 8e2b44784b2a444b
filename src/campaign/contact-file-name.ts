// The name of a contact file in its contacts' ids. Source: contract §9.3.

import { createHash } from 'node:crypto';

const DIGITS = 8;

/** `csv_` and eight hex digits of the storage key's MD5: a name, not a proof. */
export function sourceKeyOf(sourceId: string): string {
  return `csv_${createHash('md5').update(sourceId).digest('hex').slice(0, DIGITS)}`;
}
