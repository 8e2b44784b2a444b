// Compares a secret with what a client sent, in constant time.

import { createHash, timingSafeEqual } from 'node:crypto';

/** The lengths may differ. */
export function isSameSecret(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => createHash('sha256').update(text).digest());
  return a !== undefined && b !== undefined && timingSafeEqual(a, b);
}
