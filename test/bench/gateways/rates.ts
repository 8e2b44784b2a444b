// Calls that are started a second over the API, and short calls and events a second, over one gateway and over several on
// this machine, and what limits them. As many requests are under way as `--at-once` says for each gateway.
// Run: npx tsx test/bench/gateways/rates.ts [--gateways 1,2,3] [--seconds 10] [--at-once 16] [--json FILE]

import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { Pool } from 'undici';
import { startAcceptingTwilio } from '../../fakes/twilio/accepting-twilio.ts';
import { machineBusyMs } from '../../load/figures/process-figures.ts';
import { GatewayCluster } from '../../several-gateways/cluster.ts';
import { Ledger, pause } from '../../several-gateways/ledger.ts';
import type { Lot } from '../../trial/fate.ts';
import { SimulatedCallees } from '../../trial/simulated-callees.ts';
import { machine } from '../machine.ts';
import { bottleneck, cpuByProcess, percentBetween } from './processes.ts';

/** Of each of the two providers. */
const CALLERS = { starts: '+14155550100', calls: '+14155550101' };
const ACCOUNT = { accountSid: `AC${'7'.repeat(32)}`, authToken: 'rates-token' };
const LOT: Lot = {
  fate: 'answered',
  reply: 'created',
  news: 'in-order',
  ringMs: 200,
  talkMs: 400,
  listedAfterMs: 0,
};
const WARM_UP_MS = 5_000;
const START_MS_MAX = 20_000;
const FAILURE_CHARACTERS_MAX = 200;
const CLOSED_MS_MAX = 60_000;

const { values } = parseArgs({
  options: {
    gateways: { type: 'string', default: '1,2,3' },
    seconds: { type: 'string', default: '10' },
    'at-once': { type: 'string', default: '16' },
    json: { type: 'string' },
  },
});

async function main(): Promise<void> {
  const rows: Record<string, unknown>[] = [];
  for (const gateways of values.gateways.split(',').map(Number)) {
    const cluster = await GatewayCluster.start({
      gateways,
      env: { PATCHBAY_CALL_LIMIT: '10000', LOG_LEVEL: 'warn' },
    });
    try {
      rows.push({ gateways, what: 'starts', ...(await starts(cluster)) });
      rows.push({ gateways, what: 'short calls', ...(await shortCalls(cluster)) });
    } finally {
      await cluster.end();
    }
  }
  console.table(rows);
  if (values.json !== undefined) {
    const report = { at: new Date().toISOString(), machine: machine(), rows };
    writeFileSync(values.json, `${JSON.stringify(report, null, 2)}\n`);
  }
}

/** At a provider that accepts every dial and never rings. */
async function starts(cluster: GatewayCluster): Promise<Record<string, unknown>> {
  const provider = await startAcceptingTwilio(CALLERS.starts);
  try {
    return await measure(cluster, await setUp(cluster, 'starts', provider.url));
  } finally {
    await provider.close();
  }
}

/** With people who answer after a moment, and hang up after another. */
async function shortCalls(cluster: GatewayCluster): Promise<Record<string, unknown>> {
  const callees = new SimulatedCallees({
    ...ACCOUNT,
    numbers: [CALLERS.calls],
    seed: 'rates',
    lotOf: () => LOT,
  });
  try {
    const target = await setUp(cluster, 'calls', await callees.listen());
    return await measure(cluster, target);
  } finally {
    const ledger = new Ledger(cluster.database);
    const open = (await ledger.open()).filter(({ state }) => state === 'running');
    await ledger.msUntilClosed(
      open.map(({ id }) => id),
      CLOSED_MS_MAX,
    );
    await callees.close();
  }
}

interface StartTarget {
  configurationId: string;
  agentUuid: string;
}

async function setUp(
  cluster: GatewayCluster,
  name: keyof typeof CALLERS,
  providerUrl: string,
): Promise<StartTarget> {
  const api = cluster.api(1);
  const configurationId = await api.createConfiguration(
    name,
    {
      provider: 'twilio',
      account_sid: name === 'starts' ? `AC${'8'.repeat(32)}` : ACCOUNT.accountSid,
      auth_token: ACCOUNT.authToken,
      api_base_url: providerUrl,
    },
    false,
  );
  await api.addNumber(configurationId, { address: CALLERS[name], is_default_caller_id: true });
  const { uuid: agentUuid } = await api.createWorkflow(name, AGENT);
  return { configurationId, agentUuid };
}

async function measure(
  cluster: GatewayCluster,
  target: StartTarget,
): Promise<Record<string, unknown>> {
  const ledger = new Ledger(cluster.database);
  const load = new ClosedLoop(cluster, target);
  await pause(WARM_UP_MS);
  const [before, startsBefore] = [cpuByProcess(cluster), load.done];
  const [eventsBefore, busyBefore] = [await ledger.countEvents(), machineBusyMs()];
  const own = process.cpuUsage();
  const sinceMs = performance.now();
  await pause(Number(values.seconds) * 1_000);
  const elapsedMs = performance.now() - sinceMs;
  const { user, system } = process.cpuUsage(own);
  const after = cpuByProcess(cluster);
  const busyPercent = ((machineBusyMs() - busyBefore) / elapsedMs) * 100;
  const events = (await ledger.countEvents()) - eventsBefore;
  const count = load.done - startsBefore;
  await load.end();
  const percents = percentBetween(before, after, elapsedMs);
  const all: [string, number][] = [
    ...percents,
    ['this measurement', Math.round((user + system) / 10 / elapsedMs)],
  ];
  return {
    'a second': Math.round((count * 1_000) / elapsedMs),
    failed: load.failed,
    'events a second': Math.round((events * 1_000) / elapsedMs),
    'machine (%)': Math.round(busyPercent),
    bottleneck: bottleneck(
      all.toSorted(([, one], [, other]) => other - one),
      { cores: cpus().length, busyPercent },
    ),
    'CPU (% of a core)': all.map((each) => each.join(' ')).join(', '),
  };
}

/** So many starts under way at each gateway, all the time. */
class ClosedLoop {
  done = 0;
  failed = 0;
  readonly #configurationId: string;
  readonly #apiKey: string;
  readonly #path: string;
  readonly #pools: Pool[];
  readonly #loops: Promise<void>[];
  #isOver = false;
  #lastFailure = '';
  #nth = 0;

  constructor(cluster: GatewayCluster, { configurationId, agentUuid }: StartTarget) {
    const atOnce = Number(values['at-once']);
    this.#apiKey = cluster.apiKey;
    this.#path = `/api/v1/public/agent/workflow/${agentUuid}`;
    this.#configurationId = configurationId;
    this.#pools = cluster.gateways.map(({ url }) => new Pool(url, { connections: atOnce }));
    this.#loops = this.#pools.flatMap((pool) =>
      Array.from({ length: atOnce }, () => this.#loop(pool)),
    );
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#loops);
    await Promise.all(this.#pools.map((pool) => pool.destroy()));
    if (this.failed > 0)
      console.log(`${this.failed} starts failed; the last: ${this.#lastFailure}`);
  }

  async #loop(pool: Pool): Promise<void> {
    while (!this.#isOver) {
      try {
        await this.#start(pool);
        this.done += 1;
      } catch (error) {
        this.failed += 1;
        this.#lastFailure = String(error).slice(0, FAILURE_CHARACTERS_MAX);
      }
    }
  }

  async #start(pool: Pool): Promise<void> {
    const reply = await pool.request({
      method: 'POST',
      path: this.#path,
      headers: { 'x-api-key': this.#apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({
        phone_number: `+1415${2_000_000 + this.#nth++}`,
        telephony_configuration_id: this.#configurationId,
      }),
      signal: AbortSignal.timeout(START_MS_MAX),
    });
    const text = await reply.body.text();
    if (reply.statusCode !== 200) throw new Error(`${reply.statusCode} ${text}`);
  }
}

const position = { x: 0, y: 0 };
const AGENT = {
  nodes: [
    { id: '1', type: 'startCall', position, data: { name: 'A', prompt: 'Hi', greeting: 'Hello.' } },
    { id: '2', type: 'endCall', position, data: { name: 'B', prompt: 'Bye' } },
  ],
  edges: [{ id: '1-2', source: '1', target: '2', data: { label: 'end', condition: 'always' } }],
};

await main();
