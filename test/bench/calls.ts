// How many calls one core carries: a gateway of its own, pinned to one core, and a far end on another
// that listens to how late the agent's frames come. Every call has Twilio framing both ways, voice
// activity detection, an event log and a recording; the agent speaks the whole time.

import { fork, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiClient } from '../demo/api-client.ts';
import { freePort, Gateway } from '../demo/gateway.ts';
import { type FakeTwilio, startFakeTwilio } from '../fakes/twilio/fake-twilio.ts';
import type { LoadOptions, LoadSummary } from './load/load-process.ts';

const ACCOUNT_SID = `AC${'5'.repeat(32)}`;
const AUTH_TOKEN = 'bench-token';
const NUMBER = '+15550100999';
/** Clock ticks a second in /proc (sysconf(_SC_CLK_TCK) on Linux). */
const TICKS_PER_SECOND = 100;
const PAGE_KB = 4;
const CALLS_PER_SECOND = 20;
const SENTENCE =
  'This is a long announcement, spoken without a pause, so that the line is never silent while we listen to its rhythm. ';
/** Longer than any measurement: about seven seconds a sentence. */
const SENTENCES = 20;

export interface CallsFigures {
  calls: number;
  failures: number;
  framesReceived: number;
  latenessP50Ms: number;
  latenessP95Ms: number;
  latenessP99Ms: number;
  latenessMaxMs: number;
  /** Of one core, while all calls run. */
  gatewayCpuPercent: number;
  gatewayRssPerCallKb: number;
}

export interface CallsOptions {
  calls: number;
  seconds: number;
  /** µ-law without a header: what every caller says. */
  speechFile: string;
}

/** One measurement with a fresh gateway. Linux with `taskset` only. */
export async function benchCalls(options: CallsOptions): Promise<CallsFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-bench-'));
  const gateway = await Gateway.start({
    dataFolder: join(folder, 'data'),
    logFile: join(folder, 'gateway.log'),
    port: await freePort(),
    env: { PATCHBAY_CALL_LIMIT: '10000', LOG_LEVEL: 'warn', PATCHBAY_STT: 'none' },
  });
  // Answers the gateway's REST requests only; the calls come from the load process.
  const rest = await startFakeTwilio({
    publicWebhookBase: gateway.url,
    accountSid: ACCOUNT_SID,
    authToken: AUTH_TOKEN,
    numbers: [NUMBER],
  });
  try {
    const pid = gateway.pid ?? 0;
    pin(pid, 0);
    await setUp(new ApiClient(gateway.url, await gateway.firstKey()), rest);
    const idleRssKb = rssKb(pid);
    const { summary, cpuPercent, busyRssKb } = await load(gateway, pid, options);
    return {
      calls: summary.calls,
      failures: summary.failures.length,
      framesReceived: summary.framesReceived,
      latenessP50Ms: summary.latenessP50Ms,
      latenessP95Ms: summary.latenessP95Ms,
      latenessP99Ms: summary.latenessP99Ms,
      latenessMaxMs: summary.latenessMaxMs,
      gatewayCpuPercent: cpuPercent,
      gatewayRssPerCallKb: Math.max(0, busyRssKb - idleRssKb) / Math.max(1, summary.calls),
    };
  } finally {
    await gateway.stop();
    await rest.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function setUp(api: ApiClient, rest: FakeTwilio): Promise<void> {
  const configuration = await api.createConfiguration('bench', {
    provider: 'twilio',
    account_sid: ACCOUNT_SID,
    auth_token: AUTH_TOKEN,
    api_base_url: rest.baseUrl,
  });
  const text = SENTENCE.repeat(SENTENCES);
  const position = { x: 0, y: 0 };
  const agent = await api.createWorkflow('Announcement', {
    nodes: [
      {
        id: '1',
        type: 'startCall',
        position,
        data: { name: 'Start', prompt: text, greeting: text, say: text, allow_interrupt: false },
      },
      { id: '2', type: 'endCall', position, data: { name: 'End', prompt: 'Bye.', say: 'Bye.' } },
    ],
    edges: [
      {
        id: '1-2',
        source: '1',
        target: '2',
        data: { label: 'done', condition: 'done', phrases: ['goodbye'] },
      },
    ],
  });
  await api.addNumber(configuration, { address: NUMBER, inbound_workflow_id: agent.id });
}

interface Loaded {
  summary: LoadSummary;
  cpuPercent: number;
  busyRssKb: number;
}

type News = { ready: true } | { measured: true } | { result: LoadSummary } | { error: string };

function load(gateway: Gateway, pid: number, options: CallsOptions): Promise<Loaded> {
  const child = fork(new URL('./load/load-process.ts', import.meta.url), {
    execArgv: ['--import', 'tsx'],
  });
  pin(child.pid ?? 0, 1 % cpus().length);
  const request: LoadOptions = {
    publicUrl: gateway.url,
    accountSid: ACCOUNT_SID,
    authToken: AUTH_TOKEN,
    to: NUMBER,
    calls: options.calls,
    seconds: options.seconds,
    callsPerSecond: CALLS_PER_SECOND,
    speechFile: options.speechFile,
  };
  child.send(request);
  return new Promise((resolve, reject) => {
    let before = { cpuS: 0, at: 0 };
    let measured = { cpuPercent: 0, busyRssKb: 0 };
    child.on('message', (news: News) => {
      const at = performance.now();
      if ('ready' in news) before = { cpuS: cpuSeconds(pid), at };
      if ('measured' in news) {
        const share = (cpuSeconds(pid) - before.cpuS) / ((at - before.at) / 1_000);
        measured = { cpuPercent: share * 100, busyRssKb: rssKb(pid) };
      }
      if ('result' in news) resolve({ summary: news.result, ...measured });
      if ('error' in news) reject(new Error(news.error));
    });
    child.on('exit', () => reject(new Error('the load process ended early')));
  });
}

function pin(pid: number, core: number): void {
  spawnSync('taskset', ['-a', '-p', '-c', String(core), String(pid)]);
}

/** User and system time of the process so far. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

function rssKb(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * PAGE_KB;
}
