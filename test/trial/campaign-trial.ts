// A campaign against the simulated callees, with a gateway killed in the middle again and again. What the gateways
// say at the end is judged by the provider's ledger and by its own rows.

import type { Client } from 'pg';
import type { EngineName } from '../store/databases.ts';
import { CampaignClient, type Counters } from './campaign-client.ts';
import { DutyCycle, type Share } from './duty-cycle.ts';
import { judge, mostAtOnce, mostWithin, type Verdict } from './judge.ts';
import { attemptRows, contactRows, openRuns, recount } from './rows.ts';
import { SimulatedCallees } from './simulated-callees.ts';
import { startTrialGateways, type TrialGateways } from './trial-gateways.ts';

export interface TrialOptions {
  contacts: number;
  /** Default: one. Several have a PostgreSQL server, a Redis and a balancer. */
  gateways?: number;
  /** Whose build several gateways run. Default: this checkout. */
  checkout?: string;
  kills: number;
  /** Times that Redis is killed, in the middle. Default: never. */
  redisKills?: number;
  /** Calls of the campaign at a time. */
  concurrency: number;
  /** Calls of the campaign in a second. */
  ratePerSecond: number;
  maxRetries: number;
  /** Times that the provider is out of order, and for how long. */
  outages: number;
  outageMs: number;
  /** Whether a kill waits for a moment at which no dial is under way. */
  isKilledBetweenDials: boolean;
  /** Part of the time for which the gateway's processes run once the campaign has started. Default: always. */
  share?: Share;
  engine: EngineName;
  seed: string;
  /** Milliseconds after which the trial is given up. */
  limitMs: number;
  say: (line: string) => void;
}

export interface TrialReport extends Verdict {
  seconds: number;
  /** Dials that reached the provider, and the calls that it placed. */
  dials: number;
  calls: number;
  /** Dials that reached it while it was out of order, but for the first seconds. */
  dialsOutOfOrder: number;
  /** The busiest minute's dials, in a second. */
  dialsPerSecond: number;
  /** Processor time of the gateway for one dial, the call that follows included. */
  cpuMsPerDial: number;
  mostAtOnce: number;
  mostInASecond: number;
  /** Status callbacks that the gateway took longer than SLOW_MS to answer, and the slowest one in milliseconds. */
  slowCallbacks: number;
  slowestCallbackMs: number;
  /** What the gateway logged. */
  log: string;
}

const ACCOUNT_SID = `AC${'7'.repeat(32)}`;
const AUTH_TOKEN = 'trial-token';
const CALLERS = ['+14155550100', '+14155550101', '+14155550102'];
const POLL_MS = 500;
const SLOW_MS = 5_000;

export async function campaignTrial(options: TrialOptions): Promise<TrialReport> {
  const { seed, gateways: count = 1, concurrency } = options;
  const callees = new SimulatedCallees({
    accountSid: ACCOUNT_SID,
    authToken: AUTH_TOKEN,
    numbers: CALLERS,
    seed,
  });
  const providerUrl = await callees.listen();
  const callLimit = concurrency + 50;
  const gateways = await startTrialGateways({ ...options, gateways: count, callLimit });
  let cycle: DutyCycle | undefined;
  try {
    const client = new CampaignClient(gateways.url, gateways.apiKey);
    const campaignId = await client.setUp({
      providerUrl,
      accountSid: ACCOUNT_SID,
      authToken: AUTH_TOKEN,
      callers: CALLERS,
      phoneNumbers: phoneNumbers(options.contacts),
      ...options,
    });
    const { share } = options;
    cycle = share && new DutyCycle(() => gateways.pid, share);
    const startedMs = performance.now();
    await untilCompleted(options, { gateways, callees, client, campaignId });
    const seconds = (performance.now() - startedMs) / 1_000;
    const cpuSeconds = gateways.cpuSeconds();
    const log = gateways.log();
    const connection = await gateways.connect();
    try {
      const verdict = await verdictOf(connection, callees, options);
      const counters = await client.campaign(campaignId);
      const measured = figures(callees, cpuSeconds);
      const faults = [
        ...(await counterFaults(connection, counters)),
        ...limitFaults(measured, options),
        ...paceFaults(callees.dialledAt, options.ratePerSecond),
      ];
      const broken = [...verdict.broken, ...faults];
      return { broken, facts: verdict.facts, seconds, log, ...measured };
    } finally {
      await connection.end();
    }
  } finally {
    cycle?.stop();
    await gateways.end();
    await callees.close();
  }
}

interface Scene {
  gateways: TrialGateways;
  callees: SimulatedCallees;
  client: CampaignClient;
  campaignId: string;
}

/** Kills gateways and Redis, and puts the provider out of order, as the options say. */
async function untilCompleted(options: TrialOptions, scene: Scene): Promise<void> {
  const { gateways, callees } = scene;
  const startedMs = performance.now();
  let kills = 0;
  let redisKills = 0;
  for (;;) {
    if (performance.now() - startedMs > options.limitMs) {
      throw new Error('the trial takes too long');
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    const processed = await processedSoFar(scene);
    if (processed === undefined) return;
    const done = processed / options.contacts;
    if (isOutageDue(callees, done, options)) {
      options.say(`the provider is out of order after ${processed} contacts`);
      callees.beOutOfOrderFor(options.outageMs);
    }
    if (isRedisKillDue(done, redisKills, options)) {
      redisKills += 1;
      options.say(`kill -9 of Redis after ${processed} contacts`);
      await gateways.killRedis();
    }
    if (!isKillDue(callees, done, { kills, options })) continue;
    if (options.isKilledBetweenDials) await callees.betweenDials();
    kills += 1;
    options.say(`kill -9 number ${kills} after ${processed} contacts`);
    await gateways.kill();
  }
}

/** Contacts so far; undefined once all are done. Throws if the campaign has stopped. */
async function processedSoFar({ client, campaignId }: Scene): Promise<number | undefined> {
  const { state, processed } = await client.progress(campaignId);
  if (state === 'completed') return undefined;
  if (state === 'running' || state === 'syncing') return processed;
  const campaign = JSON.stringify(await client.campaign(campaignId));
  throw new Error(`the campaign is ${state}: ${campaign}`);
}

/** `done`: share of the contacts. */
function isOutageDue(callees: SimulatedCallees, done: number, { outages }: TrialOptions): boolean {
  const past = callees.outages.length;
  return past < outages && done >= (past + 0.5) / outages;
}

function isRedisKillDue(done: number, past: number, { redisKills = 0 }: TrialOptions): boolean {
  return past < redisKills && done >= (past + 0.5) / redisKills;
}

function isKillDue(
  callees: SimulatedCallees,
  done: number,
  { kills, options }: { kills: number; options: TrialOptions },
): boolean {
  const isTooSoon = Date.now() < (callees.outages.at(-1)?.from ?? 0) + NOTICED_MS;
  return !isTooSoon && kills < options.kills && done >= (kills + 1) / (options.kills + 2);
}

/** Valid numbers of California, ten million of them. */
function phoneNumbers(count: number): string[] {
  return Array.from({ length: count }, (_each, index) => `+1415${2_000_000 + index}`);
}

async function verdictOf(
  connection: Client,
  callees: SimulatedCallees,
  options: TrialOptions,
): Promise<Verdict> {
  const verdict = judge({
    callsTo: (phoneNumber) => callees.callsTo(phoneNumber),
    contacts: await contactRows(connection),
    attempts: await attemptRows(connection),
    callsMax: options.maxRetries + 1,
  });
  const open = await openRuns(connection);
  const broken = [...verdict.broken, ...(open === 0 ? [] : [`${open} runs are left open`])];
  return { broken, facts: verdict.facts };
}

/** What the API counts and what there is, counted in another way. */
async function counterFaults(connection: Client, counters: Counters): Promise<string[]> {
  const counted = await recount(connection);
  return Object.entries(counted).flatMap(([name, count]) =>
    JSON.stringify(counters[name as keyof Counters]) === JSON.stringify(count)
      ? []
      : [
          `${name} is ${JSON.stringify(counters[name as keyof Counters])}, counted ${JSON.stringify(count)}`,
        ],
  );
}

/** Windows in which dials are counted, in seconds: in each a campaign may make up for a stall of one second. */
const PACE_WINDOWS = [1, 2, 5, 30];

/** Five dials fail within this time, with those that were on their way; nothing is killed meanwhile. */
const NOTICED_MS = 5_000;
/** Interval of the dials of a campaign that waits for its provider. */
const PROBE_MS = 15_000;

function limitFaults(
  { mostAtOnce: calls, dialsOutOfOrder: tries }: ReturnType<typeof figures>,
  { concurrency, outages, outageMs }: TrialOptions,
): string[] {
  const triesMax = outages * (Math.max(0, outageMs - NOTICED_MS) / PROBE_MS + 1);
  return [
    ...(tries <= triesMax ? [] : [`${tries} dials at a provider that is out of order`]),
    ...(calls <= concurrency ? [] : [`${calls} calls at once, ${concurrency} are allowed`]),
  ];
}

function paceFaults(dialledAt: readonly number[], ratePerSecond: number): string[] {
  return PACE_WINDOWS.flatMap((seconds) => {
    const dials = mostWithin(dialledAt, seconds * 1_000);
    const dialsMax = ratePerSecond * (seconds + 1) + 1;
    return dials <= dialsMax ? [] : [`${dials} dials in ${seconds} s, ${dialsMax} are allowed`];
  });
}

function figures(callees: SimulatedCallees, cpuSeconds: number) {
  const dials = callees.dialledAt.length;
  return {
    dials,
    calls: callees.calls.size,
    dialsOutOfOrder: callees.dialledAt.filter((at) =>
      callees.outages.some(({ from, to }) => at >= from + NOTICED_MS && at < to),
    ).length,
    dialsPerSecond: mostWithin(callees.dialledAt, 60_000) / 60,
    cpuMsPerDial: (cpuSeconds * 1_000) / dials,
    mostAtOnce: mostAtOnce(callees.calls.values()),
    mostInASecond: mostWithin(callees.dialledAt, 1_000),
    slowCallbacks: callees.callbackMs.filter((ms) => ms > SLOW_MS).length,
    slowestCallbackMs: Math.max(0, ...callees.callbackMs),
  };
}
