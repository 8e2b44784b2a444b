import { expect, it } from 'vitest';
import { answersOf, fixedServices, percentile } from './answers.ts';

/** Together what they take in a whole gateway, in docs/performance.md: an answer without its endpointing. */
const SERVICES_MS = { recognition: 25, voice: 18 };

it('a caller with a complete answer gets the first frame after 330 ms in half of the cases', async () => {
  const { responseMs, afterSoundMs, misrecognised } = await answersOf(fixedServices(SERVICES_MS));
  expect(misrecognised).toBe(0);
  expect(responseMs).toHaveLength(28);
  expect(percentile(responseMs, 0.5)).toBeLessThanOrEqual(330);
  expect(percentile(responseMs, 0)).toBeGreaterThan(200);
  expect(percentile(afterSoundMs, 0.5)).toBeLessThanOrEqual(430);
}, 60_000);
