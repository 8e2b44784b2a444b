// `npm run trial`: a campaign of 10,000 contacts at an unreliable provider that is out of order for a minute now
// and then, the gateway killed ten times. Options: --contacts, --kills, --outages, --concurrency, --rate,
// --retries, --engine embedded|server, --seed. `--nodes 3`: 2,000 contacts over three gateways behind a balancer, of
// which one by chance is killed each time, and Redis once (--redis-kills).

import { parseArgs } from 'node:util';
import { campaignTrial, type TrialReport } from './campaign-trial.ts';

const LIMIT_MS = 90 * 60_000;
const OUTAGE_MS = 60_000;
const BROKEN_SHOWN = 20;
const CONTACTS = 10_000;
const CONTACTS_OF_SEVERAL = 2_000;

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '1' },
    contacts: { type: 'string' },
    'redis-kills': { type: 'string', default: '1' },
    kills: { type: 'string', default: '10' },
    outages: { type: 'string', default: '2' },
    concurrency: { type: 'string', default: '60' },
    rate: { type: 'string', default: '100' },
    retries: { type: 'string', default: '2' },
    engine: { type: 'string', default: 'embedded' },
    seed: { type: 'string', default: 'crowd' },
  },
});

const gateways = Number(values.nodes);
const report = await campaignTrial({
  contacts: Number(values.contacts ?? (gateways === 1 ? CONTACTS : CONTACTS_OF_SEVERAL)),
  gateways,
  redisKills: gateways === 1 ? 0 : Number(values['redis-kills']),
  kills: Number(values.kills),
  concurrency: Number(values.concurrency),
  ratePerSecond: Number(values.rate),
  maxRetries: Number(values.retries),
  outages: Number(values.outages),
  outageMs: OUTAGE_MS,
  isKilledBetweenDials: false,
  engine: values.engine === 'server' ? 'server' : 'embedded',
  seed: values.seed,
  limitMs: LIMIT_MS,
  say: (line) => console.log(line),
});
print(report);
process.exitCode = report.broken.length === 0 ? 0 : 1;

function print({ broken, facts, log: _log, ...figures }: TrialReport): void {
  for (const [name, figure] of Object.entries({ ...figures, ...facts })) {
    console.log(`  ${name.padEnd(36)} ${Number.isInteger(figure) ? figure : figure.toFixed(2)}`);
  }
  for (const line of broken.slice(0, BROKEN_SHOWN)) console.log(`BROKEN ${line}`);
  console.log(broken.length === 0 ? 'Every rule held.' : `${broken.length} rules broken.`);
}
