// The gateways of a trial: one on its own, or several behind a balancer. They are killed again and again, and started again.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { Gateway, type GatewayOptions } from '../demo/gateway.ts';
import { freePort } from '../fakes/free-port.ts';
import { processFigures } from '../load/figures/process-figures.ts';
import { GatewayCluster } from '../several-gateways/cluster.ts';
import type { ClusterGateway } from '../several-gateways/cluster-gateway.ts';
import { type EngineName, startDatabase, type TestDatabase } from '../store/databases.ts';

export interface TrialGatewaysOptions {
  gateways: number;
  callLimit: number;
  /** Of a single one; several need a server. */
  engine: EngineName;
  seed: string;
  say: (line: string) => void;
  /** Whose build several gateways run. Default: this checkout. */
  checkout?: string;
}

export interface TrialGateways {
  /** The public address. */
  readonly url: string;
  readonly apiKey: string;
  /** Process of a single one. */
  readonly pid: number | undefined;
  /** Kills one. It is there again, or on its way, when this resolves. */
  kill(): Promise<void>;
  killRedis(): Promise<void>;
  /** Processor time so far, of those that were killed as well. */
  cpuSeconds(): number;
  /** What they logged. */
  log(): string;
  connect(): Promise<Client>;
  end(): Promise<void>;
}

export async function startTrialGateways(options: TrialGatewaysOptions): Promise<TrialGateways> {
  return options.gateways === 1
    ? await OneGateway.start(options)
    : await SeveralGateways.start(options);
}

const SETTINGS = {
  PATCHBAY_STT: 'none',
  LOG_LEVEL: 'warn',
  OPENAI_BASE_URL: '',
  OPENAI_API_KEY: '',
};

class OneGateway implements TrialGateways {
  readonly apiKey: string;
  readonly #database: TestDatabase;
  readonly #options: GatewayOptions;
  #gateway: Gateway;
  #cpuSeconds = 0;

  private constructor(of: {
    database: TestDatabase;
    options: GatewayOptions;
    gateway: Gateway;
    apiKey: string;
  }) {
    this.apiKey = of.apiKey;
    this.#database = of.database;
    this.#options = of.options;
    this.#gateway = of.gateway;
  }

  static async start({ engine, callLimit }: TrialGatewaysOptions): Promise<OneGateway> {
    const database = await startDatabase(engine);
    const { target, dataFolder } = database;
    const options = {
      dataFolder,
      logFile: join(dataFolder, 'gateway.log'),
      port: await freePort(),
      env: {
        ...SETTINGS,
        PATCHBAY_CALL_LIMIT: String(callLimit),
        ...(target.kind === 'server' ? { DATABASE_URL: target.url } : {}),
      },
    };
    const gateway = await Gateway.start(options);
    const apiKey = await gateway.firstKey();
    return new OneGateway({ database, options, gateway, apiKey });
  }

  get url(): string {
    return this.#gateway.url;
  }

  get pid(): number | undefined {
    return this.#gateway.pid;
  }

  async kill(): Promise<void> {
    this.#cpuSeconds = this.cpuSeconds();
    await this.#gateway.kill();
    this.#gateway = await Gateway.start(this.#options);
  }

  killRedis(): Promise<void> {
    return Promise.reject(new Error('one gateway has no Redis'));
  }

  cpuSeconds(): number {
    return this.#cpuSeconds + cpuSecondsOf(this.pid);
  }

  log(): string {
    return readFileSync(this.#options.logFile, 'utf8');
  }

  connect(): Promise<Client> {
    return this.#database.connect();
  }

  async end(): Promise<void> {
    await this.#gateway.kill();
    await this.#database.stop();
  }
}

/** How long a killed gateway, and Redis, is away: some times its runs are closed by others, some times by itself. */
const AWAY_MS_MAX = 20_000;
const REDIS_AWAY_MS = 5_000;

class SeveralGateways implements TrialGateways {
  readonly #cluster: GatewayCluster;
  readonly #options: TrialGatewaysOptions;
  #kills = 0;
  #cpuSecondsOfDead = 0;
  /** The start of the one that was killed last. */
  #starting: Promise<void> = Promise.resolve();

  private constructor(cluster: GatewayCluster, options: TrialGatewaysOptions) {
    this.#cluster = cluster;
    this.#options = options;
  }

  static async start(options: TrialGatewaysOptions): Promise<SeveralGateways> {
    const { gateways, callLimit, checkout } = options;
    const env = { ...SETTINGS, PATCHBAY_CALL_LIMIT: String(callLimit) };
    const cluster = await GatewayCluster.start({
      gateways,
      env,
      ...(checkout !== undefined && { checkout }),
    });
    return new SeveralGateways(cluster, options);
  }

  get url(): string {
    return this.#cluster.url;
  }

  get apiKey(): string {
    return this.#cluster.apiKey;
  }

  get pid(): undefined {
    return undefined;
  }

  /** One by chance. The one before is there again. */
  async kill(): Promise<void> {
    await this.#starting;
    const { say, seed } = this.#options;
    this.#kills += 1;
    const { gateways } = this.#cluster;
    const [which, awayShare] = drawn(`${seed} kill ${this.#kills}`);
    const gateway = gateways[Math.floor(which * gateways.length)];
    if (gateway === undefined) throw new Error('there is no gateway');
    const awayMs = awayShare * AWAY_MS_MAX;
    say(`it is ${gateway.name}, away for ${(awayMs / 1_000).toFixed(1)} s`);
    this.#cpuSecondsOfDead += cpuSecondsOf(gateway.pid);
    await gateway.kill();
    this.#starting = startAfter(gateway, awayMs);
    this.#starting.catch(() => undefined); // Met by the next kill, or the end.
  }

  async killRedis(): Promise<void> {
    const { redis } = this.#cluster;
    await redis.kill();
    await new Promise((resolve) => setTimeout(resolve, REDIS_AWAY_MS));
    await redis.start();
  }

  cpuSeconds(): number {
    const { gateways } = this.#cluster;
    const living = gateways.reduce((sum, { pid }) => sum + cpuSecondsOf(pid), 0);
    return this.#cpuSecondsOfDead + living;
  }

  log(): string {
    return this.#cluster.gateways.map(({ log }) => log).join('\n');
  }

  async connect(): Promise<Client> {
    const client = new Client({ connectionString: this.#cluster.database.url });
    await client.connect();
    return client;
  }

  async end(): Promise<void> {
    await this.#starting.catch(() => undefined); // It is judged by what the trial found.
    await this.#cluster.end();
  }
}

async function startAfter(gateway: ClusterGateway, ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
  await gateway.start();
}

/** Two numbers from 0 to 1, the same for the same text. */
function drawn(text: string): [number, number] {
  const digest = createHash('sha256').update(text).digest();
  return [digest.readUInt16BE(0) / 65_536, digest.readUInt16BE(2) / 65_536];
}

function cpuSecondsOf(pid: number | undefined): number {
  return pid === undefined || pid === 0 ? 0 : processFigures(pid).cpuMs / 1_000;
}
