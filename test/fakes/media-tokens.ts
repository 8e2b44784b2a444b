// Media tokens of a process under test. All have one key, as gateways on one database.

import type { Clock } from '../../src/std/clock.ts';
import { systemRandom } from '../../src/std/random.ts';
import { MediaTokenSigner } from '../../src/transport/media-token.ts';
import {
  createMediaTokens,
  type MediaTokenStore,
  type MediaTokensOptions,
} from '../../src/transport/media-token-store.ts';

export const mediaSigner = new MediaTokenSigner([Buffer.alloc(32, 7)]);

export function mediaTokens({
  label = 'gw1',
  worker = 1,
  ...options
}: {
  clock: Clock;
  label?: string;
  worker?: number;
} & Partial<MediaTokensOptions>): MediaTokenStore {
  const place = { label, worker };
  return createMediaTokens({ random: systemRandom, signer: mediaSigner, place, ...options });
}
