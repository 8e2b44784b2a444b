// A campaign against the crowd, with the gateway killed in the middle again and again. What the gateway
// says at the end is judged by the provider's ledger and by its own rows.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from 'pg';
import { Gateway } from '../demo/gateway.ts';
import { freePort } from '../fakes/free-port.ts';
import { type EngineName, startDatabase } from '../store/databases.ts';
import { CampaignClient, type Counters } from './campaign-client.ts';
import { Crowd } from './crowd.ts';
import { judge, mostAtOnce, mostWithin, type Verdict } from './judge.ts';
import { attemptRows, contactRows, openRuns, recount } from './rows.ts';

export interface TrialOptions {
  contacts: number;
  kills: number;
  /** Calls of the campaign at a time. */
  concurrency: number;
  /** Calls of the campaign in a second. */
  ratePerSecond: number;
  maxRetries: number;
  engine: EngineName;
  seed: string;
  /** Milliseconds after which the trial is given up. */
  limitMs: number;
  say: (line: string) => void;
}

export interface TrialReport extends Verdict {
  seconds: number;
  /** Dials that reached the provider. */
  dials: number;
  /** The busiest minute's dials, in a second. */
  dialsPerSecond: number;
  /** Processor time of the gateway for one dial, the call that follows included. */
  cpuMsPerDial: number;
  mostAtOnce: number;
  mostInASecond: number;
}

const ACCOUNT_SID = `AC${'7'.repeat(32)}`;
const AUTH_TOKEN = 'trial-token';
const CALLERS = ['+14155550100', '+14155550101', '+14155550102'];
const POLL_MS = 500;
const TICKS_PER_SECOND = 100;

export async function campaignTrial(options: TrialOptions): Promise<TrialReport> {
  const database = await startDatabase(options.engine);
  const crowd = new Crowd({
    accountSid: ACCOUNT_SID,
    authToken: AUTH_TOKEN,
    numbers: CALLERS,
    seed: options.seed,
  });
  const providerUrl = await crowd.listen();
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
  let gateway = await Gateway.start(gatewayOptions);
  try {
    const apiKey = await gateway.firstKey();
    const client = new CampaignClient(gateway.url, apiKey);
    const campaignId = await client.setUp({
      providerUrl,
      accountSid: ACCOUNT_SID,
      authToken: AUTH_TOKEN,
      callers: CALLERS,
      phoneNumbers: phoneNumbers(options.contacts),
      ...options,
    });
    const startedMs = performance.now();
    let cpuSeconds = 0;
    let kills = 0;
    for (;;) {
      if (performance.now() - startedMs > options.limitMs)
        throw new Error('the trial takes too long');
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      const progress = await client.progress(campaignId);
      if (progress.state === 'completed') break;
      if (progress.state !== 'running' && progress.state !== 'syncing')
        throw new Error(
          `the campaign is ${progress.state}: ${JSON.stringify(await client.campaign(campaignId))}`,
        );
      if (
        kills >= options.kills ||
        progress.processed < ((kills + 1) * options.contacts) / (options.kills + 2)
      )
        continue;
      cpuSeconds += cpuOf(gateway.pid);
      kills += 1;
      options.say(`kill -9 number ${kills} after ${progress.processed} contacts`);
      await gateway.kill();
      gateway = await Gateway.start(gatewayOptions);
    }
    cpuSeconds += cpuOf(gateway.pid);
    const seconds = (performance.now() - startedMs) / 1_000;
    const connection = await database.connect();
    try {
      const verdict = await verdictOf(connection, crowd, options);
      const counters = await client.campaign(campaignId);
      const measured = figures(crowd, cpuSeconds);
      const faults = [
        ...(await counterFaults(connection, counters)),
        ...limitFaults(measured, options),
      ];
      const broken = [...verdict.broken, ...faults];
      return { broken, facts: verdict.facts, seconds, ...measured };
    } finally {
      await connection.end();
    }
  } finally {
    await gateway.kill();
    await crowd.close();
    await database.stop();
  }
}

/** Valid numbers of California, ten million of them. */
function phoneNumbers(count: number): string[] {
  return Array.from({ length: count }, (_each, index) => `+1415${2_000_000 + index}`);
}

async function verdictOf(
  connection: Client,
  crowd: Crowd,
  options: TrialOptions,
): Promise<Verdict> {
  const verdict = judge({
    callsTo: (phoneNumber) => crowd.callsTo(phoneNumber),
    contacts: await contactRows(connection),
    attempts: await attemptRows(connection),
    attemptsMax: options.maxRetries + 1,
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

/** A dial that waits for its turn may be a moment late, and so stand closer to the next. */
const LATE_SHARE = 1.1;

function limitFaults(
  { mostAtOnce: calls, mostInASecond: dials }: ReturnType<typeof figures>,
  { concurrency, ratePerSecond }: TrialOptions,
): string[] {
  return [
    ...(calls <= concurrency ? [] : [`${calls} calls at once, ${concurrency} are allowed`]),
    ...(dials <= ratePerSecond * LATE_SHARE + 1
      ? []
      : [`${dials} dials in a second, ${ratePerSecond} are allowed`]),
  ];
}

function figures(crowd: Crowd, cpuSeconds: number) {
  const dials = crowd.dialledAt.length;
  return {
    dials,
    dialsPerSecond: mostWithin(crowd.dialledAt, 60_000) / 60,
    cpuMsPerDial: (cpuSeconds * 1_000) / dials,
    mostAtOnce: mostAtOnce(crowd.calls.values()),
    mostInASecond: mostWithin(crowd.dialledAt, 1_000),
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
