// Chance as a thing that is handed in, so that tests can make it certain.

import { randomBytes, randomInt, randomUUID } from 'node:crypto';

export interface Random {
  /** A version 4 UUID. */
  uuid(): string;
  /** `count` bytes fit for tokens and keys. */
  bytes(count: number): Buffer;
  /** A whole number in 0..exclusiveMax-1. */
  integer(exclusiveMax: number): number;
}

export const systemRandom: Random = {
  uuid: () => randomUUID(),
  bytes: (count) => randomBytes(count),
  integer: (exclusiveMax) => randomInt(exclusiveMax),
};
