// Files of calls and of organizations in a real S3, which goes away and comes back.

import { CampaignClient } from '../../trial/campaign-client.ts';
import { SimulatedCallees } from '../../trial/simulated-callees.ts';
import type { GatewayCluster } from '../cluster.ts';
import { ALWAYS, type ClusterCase, type Stage } from '../cluster-case.ts';
import { Ledger, pause, recordingsOf } from '../ledger.ts';
import { LoadedCalls } from '../loaded-calls.ts';

const CALLS = 10;
const TALK_MS = 4_000;
/** Calls while the S3 is away: that many at a time, one after the other. */
const LINES = 2;
const CALL_SECONDS = 10;
const STORED_MS_MAX = 60_000;
const CONTACTS = 3;
const CALLER = '+14155550100';
const ACCOUNT = { accountSid: `AC${'7'.repeat(32)}`, authToken: 'files-token' };

export const files: readonly ClusterCase[] = [
  {
    name: 'files',
    title: 'recordings and lists are read at every gateway, wherever they came in',
    needs: [...ALWAYS, 'object store'],
    run: store,
  },
  {
    name: 'files-away',
    title: 'no recording is lost while the S3 is away',
    needs: [...ALWAYS, 'object store'],
    run: storeWhileAway,
  },
];

async function store(stage: Stage): Promise<void> {
  const { findings } = stage;
  const cluster = await stage.start({ gateways: 2, hasObjectStore: true });
  const ledger = new Ledger(cluster.database);
  await hold(stage, cluster, ledger);
  await judge(stage, { cluster, ledger, calls: CALLS });
  // The list comes in at one gateway, and is read at another.
  const callees = new SimulatedCallees({ ...ACCOUNT, numbers: [CALLER], seed: 'files' });
  const providerUrl = await callees.listen();
  stage.atEnd(() => callees.close());
  const client = new CampaignClient(cluster.gateway(1).url, cluster.apiKey);
  const campaignId = await client.create({
    providerUrl,
    ...ACCOUNT,
    callers: [CALLER],
    phoneNumbers: Array.from({ length: CONTACTS }, (_each, row) => `+1415${2_000_000 + row}`),
    concurrency: null,
    ratePerSecond: 1,
    maxRetries: 0,
  });
  const elsewhere = new CampaignClient(cluster.gateway(2).url, cluster.apiKey);
  await elsewhere.start(campaignId);
  await pause(TALK_MS);
  const { contact_count: contacts } = await elsewhere.campaign(campaignId);
  findings.exactly('contacts of a list that came in elsewhere', contacts, CONTACTS);
}

async function storeWhileAway(stage: Stage): Promise<void> {
  const { findings, awaySeconds } = stage;
  const cluster = await stage.start({ gateways: 2, hasObjectStore: true });
  const ledger = new Ledger(cluster.database);
  // The clip of the agent is in the S3 before that is away.
  const total = LINES * Math.max(1, Math.floor(awaySeconds / CALL_SECONDS) - 1);
  const series = { total, lines: LINES, callSeconds: CALL_SECONDS };
  const calls = await LoadedCalls.series(cluster, series);
  stage.atEnd(() => calls.end());
  await cluster.objectStore.halt();
  const sinceMs = performance.now();
  stage.say(`the S3 is away for ${awaySeconds} s`);
  await calls.placed();
  const { refused, dropped } = await calls.finish();
  findings.exactly('calls refused or broken off', refused + dropped, 0);
  await pause(awaySeconds * 1_000 - (performance.now() - sinceMs));
  await cluster.objectStore.resume();
  await judge(stage, { cluster, ledger, calls: total });
  findings.note('seconds for which it was away', awaySeconds);
}

/** Some calls from begin to end. */
async function hold(stage: Stage, cluster: GatewayCluster, ledger: Ledger): Promise<void> {
  const calls = await LoadedCalls.up(cluster, ledger, { calls: CALLS, callsPerSecond: 5 });
  stage.atEnd(() => calls.end());
  await pause(TALK_MS);
  const { refused, dropped } = await calls.finish();
  stage.findings.exactly('calls refused or broken off', refused + dropped, 0);
  await ledger.msUntilClosed(
    (await ledger.open()).map(({ id }) => id),
    STORED_MS_MAX,
  );
}

/** Every recording is in the S3, and read at both gateways, whole and in part. */
async function judge(
  { findings }: Stage,
  { cluster, ledger, calls }: { cluster: GatewayCluster; ledger: Ledger; calls: number },
): Promise<void> {
  const sinceMs = performance.now();
  let missing = calls;
  while (missing > 0 && performance.now() - sinceMs < STORED_MS_MAX) {
    await pause(500);
    missing = calls - (await cluster.objectStore.count(recordingsOf(await ledger.all())));
  }
  findings.note('recordings', calls);
  findings.exactly('recordings missing in the S3', missing, 0);
  findings.note('until the last one was there (ms)', performance.now() - sinceMs);
  const reads = await Promise.all(cluster.gateways.map(({ url }) => readAll(cluster, ledger, url)));
  findings.exactly(
    'recordings that a gateway cannot read',
    reads.reduce((sum, each) => sum + each, 0),
    0,
  );
}

/** How many cannot be read over a gateway. */
async function readAll(cluster: GatewayCluster, ledger: Ledger, url: string): Promise<number> {
  let failed = 0;
  for (const { recordingKey } of await ledger.all()) {
    const isRead = recordingKey !== null && (await isReadable(cluster, url, recordingKey));
    if (!isRead) failed += 1;
  }
  return failed;
}

async function isReadable(cluster: GatewayCluster, url: string, key: string): Promise<boolean> {
  const headers = { 'X-API-Key': cluster.apiKey };
  const asked = await fetch(`${url}/api/v1/s3/signed-url?key=${encodeURIComponent(key)}`, {
    headers,
  });
  if (!asked.ok) return false;
  const link = String(((await asked.json()) as { url?: unknown }).url).replace(cluster.url, url);
  const part = await fetch(link, { headers: { range: 'bytes=0-43' } });
  const head = Buffer.from(await part.arrayBuffer());
  return part.status === 206 && head.length === 44 && head.toString('latin1', 0, 4) === 'RIFF';
}
