// The built gateway on a machine without processor time: its processes run for a fifth of the time only. What is late
// is slow and not gone: a campaign with as many calls as such a machine can carry ends exactly.

import { expect, it } from 'vitest';
import { campaignTrial } from '../trial/campaign-trial.ts';
import { kindSeed } from '../trial/kind-seed.ts';

const CONTACTS = 30;
const LIMIT_MS = 150_000;

it('a campaign ends exactly with a fifth of a core, and no worker is said to be gone', async () => {
  const report = await campaignTrial({
    contacts: CONTACTS,
    kills: 0,
    concurrency: 20,
    ratePerSecond: 10,
    maxRetries: 0,
    outages: 0,
    outageMs: 0,
    isKilledBetweenDials: false,
    share: { onMs: 20, everyMs: 100 },
    engine: 'embedded',
    seed: kindSeed(CONTACTS),
    limitMs: LIMIT_MS,
    say: () => undefined,
  });
  expect(report.broken).toEqual([]);
  expect(report.dials).toBeGreaterThanOrEqual(CONTACTS);
  for (const text of ['WORKER_GONE', 'a worker died', 'events not stored']) {
    expect(report.log, text).not.toContain(text);
  }
}, 180_000);
