// A small campaign over three gateways behind a balancer, of which one is killed, and Redis too. `npm run cluster` and
// `npm run trial -- --nodes 3` do more.

import { expect, it } from 'vitest';
import { ALWAYS } from '../several-gateways/cluster-case.ts';
import { missing } from '../several-gateways/needs.ts';
import { campaignTrial } from '../trial/campaign-trial.ts';
import { kindSeed } from '../trial/kind-seed.ts';

const CONTACTS = 30;
/** News that were lost with a gateway are looked up after 90 seconds. */
const LIMIT_MS = 240_000;

const reason = missing(ALWAYS);
if (reason !== undefined) process.stderr.write(`No several gateways: ${reason}.\n`);

it.skipIf(reason !== undefined)(
  'three gateways lose no contact and call none twice at a time, though one of them and Redis are killed',
  async () => {
    const report = await campaignTrial({
      contacts: CONTACTS,
      gateways: 3,
      kills: 1,
      redisKills: 1,
      concurrency: 10,
      ratePerSecond: 5,
      // A retry has to wait for 30 seconds at least.
      maxRetries: 0,
      outages: 0,
      outageMs: 0,
      isKilledBetweenDials: true,
      engine: 'server',
      seed: kindSeed(CONTACTS),
      limitMs: LIMIT_MS,
      say: () => undefined,
    });
    expect(report.broken).toEqual([]);
    expect(report.dials).toBeGreaterThanOrEqual(CONTACTS);
  },
  300_000,
);
