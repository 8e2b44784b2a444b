// Redis, the database and the balancer: each is lost in the middle of calls, and comes back.

import { z } from 'zod';
import { Bystanders } from '../bystanders.ts';
import type { GatewayCluster } from '../cluster.ts';
import { ALWAYS, type ClusterCase, type Stage } from '../cluster-case.ts';
import { Ledger, msUntil, pause } from '../ledger.ts';
import { LiveFeed } from '../live-feed.ts';
import { LoadedCalls } from '../loaded-calls.ts';
import { metricOf } from '../metric.ts';
import { type Begun, Telephones } from '../telephones.ts';

const CALLS = 20;
const AWAY_MS = 10_000;
/** Calls that begin meanwhile. */
const NEW_CALLS = 5;
const BACK_MS_MAX = 5_000;
const CLOSED_MS_MAX = 30_000;
const SPEAKS = 'rtf-bot-started-speaking';
const SAYS = 'rtf-node-transition';
/** By polling. */
const POLLED_MS_MAX = 3_000;

export const engineLosses: readonly ClusterCase[] = [
  {
    name: 'redis-killed',
    title: 'calls go on and new ones are taken while Redis is dead, and live views return with it',
    needs: ALWAYS,
    run: (stage) =>
      loseRedis(stage, {
        isNoticed: true,
        lose: ({ redis }) => redis.kill(),
        giveBack: ({ redis }) => redis.start(),
      }),
  },
  {
    name: 'redis-hung',
    title: 'the same while Redis hangs',
    needs: ALWAYS,
    run: (stage) =>
      loseRedis(stage, {
        isNoticed: true,
        lose: async ({ redis }) => redis.suspend(),
        giveBack: async ({ redis }) => redis.resume(),
      }),
  },
  {
    name: 'redis-restarted',
    title: 'nobody notices that Redis is restarted',
    needs: ALWAYS,
    run: (stage) =>
      loseRedis(stage, {
        isNoticed: false,
        lose: async ({ redis }) => {
          await redis.kill();
          await redis.start();
        },
        giveBack: async () => undefined,
      }),
  },
  {
    name: 'database-restarted',
    title: 'calls outlive a restart of the database, and their events are complete',
    needs: ALWAYS,
    run: loseDatabase,
  },
  {
    name: 'balancer-restarted',
    title: 'new calls are taken after a restart of the balancer; a reload of it loses none',
    needs: ALWAYS,
    run: loseBalancer,
  },
];

interface Loss {
  /** Whether the gateways must notice it: a restart may be over before. */
  isNoticed: boolean;
  lose(cluster: GatewayCluster): Promise<void>;
  giveBack(cluster: GatewayCluster): Promise<void>;
}

async function loseRedis(stage: Stage, { isNoticed, lose, giveBack }: Loss): Promise<void> {
  const { findings, atEnd } = stage;
  const cluster = await stage.start({ gateways: 2 });
  const ledger = new Ledger(cluster.database);
  const telephones = await Telephones.connect(cluster);
  atEnd(() => telephones.close());
  const watched = await telephones.callIn(cluster.gateway(1));
  const calls = await LoadedCalls.up(cluster, ledger, { calls: CALLS, callsPerSecond: 10 });
  atEnd(() => calls.end());
  const bystanders = await Bystanders.of(ledger);
  const feed = await feedElsewhere(cluster, telephones, watched);
  atEnd(async () => feed.close());

  await lose(cluster);
  findings.exactly('new calls refused while it is away', await refusedOf(cluster, NEW_CALLS), 0);
  const polledMs = await pressAndWait(watched, feed, SAYS);
  findings.atMost('a stored item is seen elsewhere after (ms)', polledMs, POLLED_MS_MAX);
  await pause(AWAY_MS);
  if (isNoticed)
    findings.exactly('gateways whose metrics say so', await countWithoutRedis(cluster), 2);
  await giveBack(cluster);
  const backMs = await msUntilLive(watched, feed);
  findings.atMost('it is back to the first live-only item elsewhere (ms)', backMs, BACK_MS_MAX);
  findings.exactly('gateways whose metrics say so afterwards', await countWithoutRedis(cluster), 0);
  if (isNoticed) {
    const warnings = cluster.gateways.map(({ log }) => countWarnings(log));
    findings.exactly('warnings of it in each log', warnings.join(', '), '1, 1');
  }
  await bystanders.check(findings);
  const { lostFrames, dropped, underruns } = await calls.finish();
  findings.exactly('calls broken off', dropped, 0);
  findings.exactly('lost frames', lostFrames, 0);
  findings.note('gaps that callers hear', underruns);
  findings.works('the gateways are the same processes', await isUnchanged(cluster));
}

const REDIS_UP = /^patchbay_redis_up\b/;

async function countWithoutRedis({ gateways }: GatewayCluster): Promise<number> {
  const texts = await Promise.all(gateways.map((gateway) => gateway.metrics()));
  return texts.filter((text) => metricOf(text, REDIS_UP) === 0).length;
}

/** Lines about Redis at the level of a warning or above. */
function countWarnings(log: string): number {
  const lines = log.split('\n').filter((line) => line.startsWith('{') && /redis/i.test(line));
  return lines.filter((line) => warning.safeParse(JSON.parse(line)).success).length;
}

const warning = z.looseObject({ level: z.enum(['warn', 'error', 'fatal']) });

function feedElsewhere(
  cluster: GatewayCluster,
  { workflow }: Telephones,
  { run }: Begun,
): Promise<LiveFeed> {
  const path = `/api/v1/workflow/${workflow.id}/runs/${run.id}/events`;
  return LiveFeed.open(cluster.gateway(2).url + path, cluster.apiKey);
}

const PRESS_EVERY_MS = 4_000;

/** Presses a key, on which the agent goes on to another step. Milliseconds until the feed has an item of the type. */
async function pressAndWait({ call }: Begun, feed: LiveFeed, type: string): Promise<number> {
  const sinceMs = performance.now();
  await call.pressDigits('1');
  return await msUntil(() => feed.since(sinceMs, type).length > 0, PRESS_EVERY_MS);
}

/** Milliseconds until the feed has live-only items again, which nothing stores. */
async function msUntilLive(watched: Begun, feed: LiveFeed): Promise<number> {
  const sinceMs = performance.now();
  for (let presses = 0; presses < 5; presses++) {
    await pressAndWait(watched, feed, SPEAKS);
    const [first] = feed.since(sinceMs, SPEAKS);
    if (first !== undefined) return first.atMs - sinceMs;
  }
  return Number.POSITIVE_INFINITY;
}

/** Of so many calls that begin. */
async function refusedOf(cluster: GatewayCluster, calls: number): Promise<number> {
  const more = await LoadedCalls.begin(cluster, { calls, callsPerSecond: calls });
  await more.placed();
  await pause(2_000);
  const { refused, dropped } = await more.finish();
  return refused + dropped;
}

async function isUnchanged({ gateways }: GatewayCluster): Promise<boolean> {
  const ready = await Promise.all(gateways.map((gateway) => gateway.isReady()));
  return ready.every(Boolean) && gateways.every(({ pid }) => pid > 0);
}

async function loseDatabase(stage: Stage): Promise<void> {
  const { findings } = stage;
  const cluster = await stage.start({ gateways: 2 });
  const ledger = new Ledger(cluster.database);
  const calls = await LoadedCalls.up(cluster, ledger, { calls: CALLS, callsPerSecond: 10 });
  stage.atEnd(() => calls.end());
  const bystanders = await Bystanders.of(ledger);
  await cluster.database.crash();
  await pause(AWAY_MS);
  await cluster.database.startAgain();
  const isTaken = async (): Promise<boolean> => (await refusedOf(cluster, 1)) === 0;
  const takenMs = await msUntil(isTaken, CLOSED_MS_MAX);
  findings.atMost('it is back to a call that has talked for 2 s (ms)', takenMs, CLOSED_MS_MAX);
  await bystanders.check(findings);
  const open = (await ledger.open()).map(({ id }) => id);
  const { lostFrames, dropped } = await calls.finish();
  findings.exactly('calls broken off', dropped, 0);
  findings.exactly('lost frames', lostFrames, 0);
  const closedMs = await ledger.msUntilClosed(open, CLOSED_MS_MAX);
  findings.atMost('hang-up to closed runs (ms)', closedMs, CLOSED_MS_MAX);
  findings.exactly('runs with gaps in their numbers', (await ledger.runsWithGaps()).length, 0);
  findings.exactly(
    'runs that ended other than once',
    (await ledger.runsEndedOtherThanOnce()).length,
    0,
  );
}

async function loseBalancer(stage: Stage): Promise<void> {
  const { findings } = stage;
  const cluster = await stage.start({ gateways: 2 });
  const ledger = new Ledger(cluster.database);
  const calls = await LoadedCalls.up(cluster, ledger, { calls: CALLS, callsPerSecond: 10 });
  stage.atEnd(() => calls.end());
  const bystanders = await Bystanders.of(ledger);
  const former = await cluster.balancer.reload();
  stage.atEnd(async () => former?.end('SIGKILL'));
  findings.exactly('new calls refused after a reload', await refusedOf(cluster, NEW_CALLS), 0);
  await bystanders.check(findings);
  // The former process still has the sockets of the first calls.
  const open = (await ledger.open()).map(({ id }) => id);
  await former?.end('SIGKILL');
  await cluster.balancer.kill();
  await cluster.balancer.start();
  await cluster.untilBalanced();
  findings.exactly('new calls refused after a restart', await refusedOf(cluster, NEW_CALLS), 0);
  const closedMs = await ledger.msUntilClosed(open, CLOSED_MS_MAX);
  findings.atMost('restart to closed runs (ms)', closedMs, CLOSED_MS_MAX);
}
