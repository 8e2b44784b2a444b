// Randomness as a dependency, so that tests can fix it.

import { randomBytes, randomInt, randomUUID } from 'node:crypto';

export interface Random {
  /** A version 4 UUID. */
  uuid(): string;
  /** `count` cryptographically secure bytes, for tokens and keys. */
  bytes(count: number): Buffer;
  /** An integer in 0..exclusiveMax-1. */
  integer(exclusiveMax: number): number;
}

export const systemRandom: Random = {
  uuid: () => randomUUID(),
  bytes: (count) => randomBytes(count),
  integer: (exclusiveMax) => randomInt(exclusiveMax),
};
