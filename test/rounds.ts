// How many random rounds a test makes: few in `npm test`, many in `npm run test:full`. The seeds are random in both.

import { isFullSet } from './test-sets.ts';

/** `few` in `npm test`, `many` in `npm run test:full`: ten times as many unless said. */
export function rounds(few: number, many = few * 10): number {
  return isFullSet() ? many : few;
}
