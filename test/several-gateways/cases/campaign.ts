// A campaign over three gateways of which one after the other is killed: the trial of one gateway, by the same judge.

import { campaignTrial } from '../../trial/campaign-trial.ts';
import { ALWAYS, type ClusterCase, type Stage } from '../cluster-case.ts';

const GATEWAYS = 3;
const KILLS = 3;
const LIMIT_MS = 8 * 60_000;

export const campaign: readonly ClusterCase[] = [
  {
    name: 'campaign',
    title: 'a campaign loses no contact and dials none twice while gateways are killed',
    needs: ALWAYS,
    run: hold,
  },
];

async function hold({ build, findings, contacts, say }: Stage): Promise<void> {
  const report = await campaignTrial({
    contacts,
    gateways: GATEWAYS,
    ...(build !== undefined && { checkout: build }),
    kills: KILLS,
    redisKills: 1,
    concurrency: 20,
    ratePerSecond: 10,
    maxRetries: 1,
    outages: 0,
    outageMs: 0,
    isKilledBetweenDials: false,
    engine: 'server',
    seed: 'several gateways',
    limitMs: LIMIT_MS,
    say,
  });
  findings.exactly('rules that are broken', report.broken.length, 0);
  for (const line of report.broken.slice(0, 5)) findings.note('broken', line);
  findings.note('dials', report.dials);
  findings.note('calls', report.calls);
  findings.note('seconds', report.seconds);
  findings.note('slowest callback (ms)', report.slowestCallbackMs);
}
