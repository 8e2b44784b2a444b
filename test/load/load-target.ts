// The gateway that a load measurement rings: one of our own, started from the build with a data folder of
// its own and pinned to a core, or any other that is reached by its URL.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from 'pg';
import { ApiClient } from '../demo/api-client.ts';
import { Gateway } from '../demo/gateway.ts';
import { freePort } from '../fakes/free-port.ts';
import { databaseOf, type EngineName, startServer, type TestServer } from '../store/databases.ts';
import { pinFamily } from './figures/process-figures.ts';
import { startAccount } from './load-account.ts';
import { setUpAgent } from './load-agent.ts';
import type { Scenario } from './load-options.ts';
import { ServiceClient } from './services/service-client.ts';
import type { Account, HostedName } from './wires/wire.ts';

const INBOUND_PATH = '/api/v1/telephony/inbound/run';
const NUMBER = '+15550100999';
const LOOPBACK = '127.0.0.1';

export interface LoadTarget extends Account {
  webhookUrl: string;
  to: string;
  /** Where its Prometheus metrics are; undefined if they are not known. */
  metricsUrl: string | undefined;
  /** Its process, if that runs on this machine. */
  pid: number | undefined;
  /** Tells this measurement's calls from those of others at the same gateway. */
  series: number;
  /** Undefined: the agent is somebody else's. */
  agent: { api: ApiClient; apiKey: string; workflowId: string } | undefined;
  /** Undefined: the gateway's own. */
  services?: ServiceClient | undefined;
  /** To its database; undefined if that is not known. */
  connect?: (() => Promise<Client>) | undefined;
  /** A database server that the gateway uses alone, which is no child of it. */
  databasePid?: number | undefined;
  /** Its services fail during the measurement. */
  isBreakable?: boolean | undefined;
  stop(): Promise<void>;
}

export interface OwnGatewayOptions {
  /** Whose calls. Default: twilio. */
  provider?: HostedName;
  scenario: Scenario;
  /** Load in percent above which new calls are refused. Default: none. */
  loadLimit?: string | undefined;
  /** Default: embedded. */
  engine?: EngineName;
  /** Worker processes; undefined: as the gateway has it. */
  workers: number | undefined;
  /** Cores in the notation of taskset; undefined: all. */
  cores: string | undefined;
  /** Whether anyone may sign up, as an attacker does. */
  isSignUpOpen: boolean;
  /** fake: streaming services in a process of their own. Default: the embedded ones, without a recogniser. */
  services?: 'fake' | undefined;
  /** Whether the primary ones can be broken. */
  isBreakable?: boolean;
  /** Checkout whose build runs. Default: this one. */
  checkout?: string;
}

/** A fresh gateway with an agent for the scenario. Needs the build. */
export async function startOwnGateway(options: OwnGatewayOptions): Promise<LoadTarget> {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-load-'));
  const logFile = join(folder, 'gateway.log');
  const { provider = 'twilio', scenario, cores } = options;
  const services =
    options.services === undefined
      ? undefined
      : await ServiceClient.start(folder, { isBreakable: options.isBreakable ?? false });
  const dataFolder = join(folder, 'data');
  const server = options.engine === 'server' ? await startServer() : undefined;
  const gateway = await Gateway.start({
    dataFolder,
    logFile,
    port: await freePort(),
    env: environmentOf(options, { server, services }),
    ...(options.checkout !== undefined && { checkout: options.checkout }),
  });
  const pid = gateway.pid ?? 0;
  let remote: LoadTarget | undefined;
  const stop = async (): Promise<void> => {
    try {
      await remote?.stop();
    } finally {
      await gateway.stop();
      services?.stop();
      await server?.stop();
    }
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    if (scenario === 'barge-in' && gateway.keypadOnly) {
      throw new Error('barge-in needs the recogniser (libpocketsphinx3, pocketsphinx-en-us)');
    }
    remote = await useGateway({
      url: gateway.url,
      apiKey: await gateway.firstKey(),

      pid,
      provider,
      scenario,
      providerHost: LOOPBACK,
      services,
    });
    if (cores !== undefined) for (const each of [pid, server?.pid ?? pid]) pinFamily(each, cores);
    return {
      ...remote,

      isBreakable: options.isBreakable,
      databasePid: server?.pid,
      stop,
      connect: databaseOf(dataFolder, server?.url).connect,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function environmentOf(
  { scenario, workers, isSignUpOpen, loadLimit = '0' }: OwnGatewayOptions,
  { server, services }: { server: TestServer | undefined; services: ServiceClient | undefined },
): Record<string, string> {
  return {
    PATCHBAY_CALL_LIMIT: '10000',
    // What is measured is what it carries, not when it refuses.
    PATCHBAY_LOAD_LIMIT: loadLimit,
    PATCHBAY_DELAY_LIMIT_MS: loadLimit === '0' ? '0' : '40',
    LOG_LEVEL: 'warn',
    // A recogniser for each call would be what is measured; without words nothing can be interrupted.
    PATCHBAY_STT: scenario === 'barge-in' ? 'auto' : 'none',
    OPENAI_BASE_URL: '',
    OPENAI_API_KEY: '',
    // The provider of the calls is on this machine.
    ...(isSignUpOpen ? { ENABLE_SIGNUP: 'true', PATCHBAY_OUTSIDE_ALLOW: LOOPBACK } : {}),
    ...(server === undefined ? {} : { DATABASE_URL: server.url }),
    ...(services === undefined ? {} : { NODE_EXTRA_CA_CERTS: services.authorityFile }),
    ...(workers === undefined ? {} : { PATCHBAY_WORKERS: String(workers) }),
  };
}

/** A gateway of this kind that runs already: the agent is set up over its API. `providerHost` is this
 *  machine's name as the gateway reaches it. */
export async function useGateway(options: {
  url: string;
  apiKey: string;
  pid: number | undefined;
  provider: HostedName;
  scenario: Scenario;
  providerHost: string;
  services?: ServiceClient | undefined;
}): Promise<LoadTarget> {
  const { url, apiKey, pid, provider, scenario, providerHost, services } = options;
  const series = newSeries();
  const to = `${NUMBER.slice(0, 4)}${String(series % 10 ** 7).padStart(8, '0')}`;
  // Its REST interface answers the gateway; the calls come from the load process.
  const { account, configuration, close } = await startAccount({
    provider,
    gatewayUrl: url,
    number: to,
    series,
    providerHost,
  });
  const api = new ApiClient(url, apiKey);
  try {
    if (services !== undefined) await api.useSpeech(services.settings());
    const { workflowId, remove } = await setUpAgent(api, {
      configuration,
      scenario,
      isConversing: services !== undefined,
      number: to,
      series,
    });
    return {
      ...account,
      webhookUrl: `${url}${INBOUND_PATH}`,
      to,
      metricsUrl: `${url}/metrics`,
      pid,
      series,
      agent: { api, apiKey, workflowId },
      services,
      stop: () => remove().finally(close),
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Any gateway that answers Twilio's webhook with a media stream. Its agent is somebody else's. */
export function ringGateway(
  options: Account & { webhookUrl: string; to: string; pid: number | undefined },
): LoadTarget {
  const stop = (): Promise<void> => Promise.resolve();
  return { ...options, series: newSeries(), metricsUrl: undefined, agent: undefined, stop };
}

/** Half seconds: every measurement has its own calls, numbers and names, also those that begin in the same
 *  half second. */
function newSeries(): number {
  lastSeries = Math.max(Math.floor(Date.now() / 500), lastSeries + 1);
  return lastSeries % 2 ** 24;
}

let lastSeries = 0;
