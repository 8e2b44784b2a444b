// A small campaign at an unreliable provider, the gateway killed in the middle. `npm run trial` does it with
// ten thousand contacts, and with what takes a minute to find out: that a dial has placed no call.

import { expect, it } from 'vitest';
import { campaignTrial } from '../trial/campaign-trial.ts';
import { kindSeed } from '../trial/kind-seed.ts';

const CONTACTS = 30;
/** The news of a call that ended while the gateway was away are looked up after 90 seconds: then it takes 140. */
const LIMIT_MS = 240_000;

it('loses no contact, never calls a contact twice at a time and counts right, though it is killed', async () => {
  const report = await campaignTrial({
    contacts: CONTACTS,
    kills: 1,
    concurrency: 10,
    ratePerSecond: 5,
    // A retry has to wait for 30 seconds at least.
    maxRetries: 0,
    outages: 0,
    outageMs: 0,
    isKilledBetweenDials: true,
    engine: 'embedded',
    seed: kindSeed(CONTACTS),
    limitMs: LIMIT_MS,
    say: () => undefined,
  });
  expect(report.broken).toEqual([]);
  expect(report.dials).toBeGreaterThanOrEqual(CONTACTS);
}, 270_000);
