// A campaign against the simulated callees, with the gateway killed in the middle again and again. What the gateway
// says at the end is judged by the provider's ledger and by its own rows.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from 'pg';
import { Gateway } from '../demo/gateway.ts';
import { freePort } from '../fakes/free-port.ts';
import { type EngineName, startDatabase } from '../store/databases.ts';
import { CampaignClient, type Counters } from './campaign-client.ts';
import { DutyCycle, type Share } from './duty-cycle.ts';
import { judge, mostAtOnce, mostWithin, type Verdict } from './judge.ts';
import { attemptRows, contactRows, openRuns, recount } from './rows.ts';
import { SimulatedCallees } from './simulated-callees.ts';

export interface TrialOptions {
  contacts: number;
  kills: number;
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
const TICKS_PER_SECOND = 100;

export async function campaignTrial(options: TrialOptions): Promise<TrialReport> {
  const database = await startDatabase(options.engine);
  const callees = new SimulatedCallees({
    accountSid: ACCOUNT_SID,
    authToken: AUTH_TOKEN,
    numbers: CALLERS,
    seed: options.seed,
  });
  const providerUrl = await callees.listen();
  const { target, dataFolder } = database;
  const gatewayOptions = {
    dataFolder,
    logFile: join(dataFolder, 'gateway.log'),
    port: await freePort(),
    env: {
      PATCHBAY_CALL_LIMIT: String(options.concurrency + 50),
      PATCHBAY_STT: 'none',
      LOG_LEVEL: 'warn',
      OPENAI_BASE_URL: '',
      OPENAI_API_KEY: '',
      ...(target.kind === 'server' ? { DATABASE_URL: target.url } : {}),
    },
  };
  const held = { gateway: await Gateway.start(gatewayOptions) };
  let cycle: DutyCycle | undefined;
  try {
    const client = new CampaignClient(held.gateway.url, await held.gateway.firstKey());
    const campaignId = await client.setUp({
      providerUrl,
      accountSid: ACCOUNT_SID,
      authToken: AUTH_TOKEN,
      callers: CALLERS,
      phoneNumbers: phoneNumbers(options.contacts),
      ...options,
    });
    const { share } = options;
    cycle = share && new DutyCycle(() => held.gateway.pid, share);
    const startedMs = performance.now();
    const restart = () => Gateway.start(gatewayOptions);
    const cpuSeconds = await untilCompleted(options, {
      held,
      restart,
      callees,
      client,
      campaignId,
    });
    const seconds = (performance.now() - startedMs) / 1_000;
    const log = readFileSync(gatewayOptions.logFile, 'utf8');
    const connection = await database.connect();
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
    await held.gateway.kill();
    await callees.close();
    await database.stop();
  }
}

interface Scene {
  /** The one that runs. */
  held: { gateway: Gateway };
  restart: () => Promise<Gateway>;
  callees: SimulatedCallees;
  client: CampaignClient;
  campaignId: string;
}

/** Kills the gateway and puts the provider out of order as the options say. The gateway's processor time. */
async function untilCompleted(options: TrialOptions, scene: Scene): Promise<number> {
  const { held, restart, callees, client, campaignId } = scene;
  const startedMs = performance.now();
  let cpuSeconds = 0;
  let kills = 0;
  for (;;) {
    if (performance.now() - startedMs > options.limitMs) {
      throw new Error('the trial takes too long');
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    const { state, processed } = await client.progress(campaignId);
    if (state === 'completed') return cpuSeconds + cpuOf(held.gateway.pid);
    if (state !== 'running' && state !== 'syncing') {
      const campaign = JSON.stringify(await client.campaign(campaignId));
      throw new Error(`the campaign is ${state}: ${campaign}`);
    }
    const done = processed / options.contacts;
    if (isOutageDue(callees, done, options)) {
      options.say(`the provider is out of order after ${processed} contacts`);
      callees.beOutOfOrderFor(options.outageMs);
    }
    if (!isKillDue(callees, done, { kills, options })) continue;
    if (options.isKilledBetweenDials) await callees.betweenDials();
    cpuSeconds += cpuOf(held.gateway.pid);
    kills += 1;
    options.say(`kill -9 number ${kills} after ${processed} contacts`);
    await held.gateway.kill();
    held.gateway = await restart();
  }
}

/** `done`: share of the contacts. */
function isOutageDue(callees: SimulatedCallees, done: number, { outages }: TrialOptions): boolean {
  const past = callees.outages.length;
  return past < outages && done >= (past + 0.5) / outages;
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

/** Seconds of processor time so far, of the process and of the database that it runs. */
function cpuOf(pid: number | undefined): number {
  if (pid === undefined) return 0;
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .split(' ')
    .filter(Boolean);
  return [String(pid), ...children].reduce((sum, each) => {
    const fields = readFileSync(`/proc/${each}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    return sum + (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  }, 0);
}
