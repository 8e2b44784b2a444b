// Several gateways from the build on one PostgreSQL, with Redis, files in S3 and HAProxy in front, on free ports of this
// machine and in a temporary folder. `end` ends what `start` has started, and what was started since.

import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ApiClient } from '../demo/api-client.ts';
import { freePort } from '../fakes/free-port.ts';
import { ClusterDatabase } from './cluster-database.ts';
import { ClusterGateway } from './cluster-gateway.ts';
import { Balancer, type Routing } from './engines/balancer.ts';
import { Network } from './engines/network.ts';
import { ObjectStore } from './engines/object-store.ts';
import { type Pooler, startPooler } from './engines/pooler.ts';
import { ENDS_WITH_PARENT } from './engines/program.ts';
import { Redis } from './engines/redis.ts';

export interface ClusterWishes {
  gateways: number;
  /** Default: token. */
  routing?: Routing;
  /** Default: true. */
  hasRedis?: boolean;
  /** Default: false. Without it the gateways share the folders of uploads. */
  hasObjectStore?: boolean;
  /** PgBouncer before the database. Default: false. */
  isPooled?: boolean;
  /** Whether the last gateway is in a network namespace of its own. Default: false. */
  isLastApart?: boolean;
  /** Call workers of each. Default: 1. */
  workers?: number;
  env?: Readonly<Record<string, string>>;
  /** Of the gateway with this number, from 1. */
  envOf?: (number: number) => Readonly<Record<string, string>>;
  /** Checkout whose build runs. Default: this one. */
  checkout?: string;
}

export const SECRET_KEY = '5c'.repeat(32);
const API_KEY = 'b1'.repeat(20);
const LOOPBACK = '127.0.0.1';

export class GatewayCluster {
  readonly folder = mkdtempSync(join(tmpdir(), 'patchbay-cluster-'));
  readonly gateways: ClusterGateway[] = [];
  readonly #wishes: ClusterWishes;
  #database: ClusterDatabase | undefined;
  #balancer: Balancer | undefined;
  #redis: Redis | undefined;
  #objectStore: ObjectStore | undefined;
  #poolers: Pooler[] = [];
  #network: Network | undefined;

  private constructor(wishes: ClusterWishes) {
    this.#wishes = wishes;
    chmodSync(this.folder, 0o755); // Servers run as nobody in it.
  }

  /** Resolves when every gateway takes calls and the balancer knows it. */
  static async start(wishes: ClusterWishes): Promise<GatewayCluster> {
    const cluster = new GatewayCluster(wishes);
    try {
      await cluster.#startEngines();
      await cluster.#startGateways();
      return cluster;
    } catch (error) {
      await cluster.end();
      throw error;
    }
  }

  /** The public address, which is the balancer's. */
  get url(): string {
    return this.balancer.url;
  }

  get apiKey(): string {
    return API_KEY;
  }

  get database(): ClusterDatabase {
    return present(this.#database, 'database');
  }

  get balancer(): Balancer {
    return present(this.#balancer, 'balancer');
  }

  get redis(): Redis {
    return present(this.#redis, 'Redis');
  }

  get objectStore(): ObjectStore {
    return present(this.#objectStore, 'object store');
  }

  get network(): Network {
    return present(this.#network, 'network');
  }

  /** From 1. */
  gateway(number: number): ClusterGateway {
    return present(this.gateways[number - 1], `gateway ${number}`);
  }

  /** The API of one gateway, past the balancer. */
  api(number: number): ApiClient {
    return this.gateway(number).api(API_KEY);
  }

  /** One that takes calls. */
  async readyGateway(): Promise<ClusterGateway> {
    for (const gateway of this.gateways) if (await gateway.isReady()) return gateway;
    throw new Error('no gateway is ready');
  }

  /** Process ids by name, for figures. */
  pids(): Record<string, number> {
    return {
      haproxy: this.balancer.pid,
      postgresql: this.database.pid,
      ...(this.#redis && { redis: this.#redis.pid }),
      ...Object.fromEntries(this.gateways.map(({ name, pid }) => [name, pid])),
    };
  }

  /** Waits until the balancer sends requests to a gateway that has just become ready. */
  async untilBalanced(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, BALANCER_NOTICES_MS));
  }

  /** One more gateway, not started. The balancer knows it from its next configuration on. */
  async addGateway(): Promise<ClusterGateway> {
    const gateway = await this.#prepareGateway(this.gateways.length + 1);
    this.gateways.push(gateway);
    return gateway;
  }

  configureBalancer(): void {
    this.balancer.configure(this.gateways, this.#wishes.routing ?? 'token');
  }

  async end(): Promise<void> {
    this.#network?.join();
    await Promise.all(this.gateways.map((gateway) => gateway.kill()));
    await this.#balancer?.kill();
    await this.#redis?.kill();
    await this.#objectStore?.end();
    await Promise.all(this.#poolers.map((pooler) => pooler.end()));
    await this.#database?.end();
    this.#network?.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #startEngines(): Promise<void> {
    const { hasRedis = true, hasObjectStore = false, isPooled = false } = this.#wishes;
    if (this.#wishes.isLastApart === true) this.#network = new Network();
    const outside = this.#network?.hostAddress;
    this.#balancer = await Balancer.prepare(this.folder);
    this.#database = await ClusterDatabase.start(this.folder);
    const addresses = outside === undefined ? [LOOPBACK] : [LOOPBACK, outside];
    if (hasRedis) this.#redis = await Redis.start(this.folder, addresses);
    if (hasObjectStore) this.#objectStore = await ObjectStore.start();
    if (isPooled) await this.#pool(LOOPBACK);
    // Its socket would be reached through every cut.
    if (outside !== undefined) await this.#pool(outside);
  }

  async #pool(address: string): Promise<void> {
    const { url } = this.database;
    this.#poolers.push(await startPooler(url, { folder: this.folder, address }));
  }

  async #startGateways(): Promise<void> {
    for (let number = 1; number <= this.#wishes.gateways; number++) await this.addGateway();
    this.configureBalancer();
    await this.balancer.start();
    // What is still starting could not be ended.
    const started = await Promise.allSettled(this.gateways.map((gateway) => gateway.start()));
    for (const each of started) if (each.status === 'rejected') throw each.reason;
    await this.untilBalanced();
  }

  async #prepareGateway(number: number): Promise<ClusterGateway> {
    const { checkout, gateways } = this.#wishes;
    const name = `gw${number}`;
    const network = number === gateways ? this.#network : undefined;
    const [address, port] = [network?.address ?? LOOPBACK, await freePort()];
    const dataFolder = join(this.folder, name);
    this.#shareUploads(dataFolder);
    return new ClusterGateway(name, {
      dataFolder,
      logFile: join(this.folder, `${name}.log`),
      port,
      address,
      through: [...(network?.through ?? []), ...ENDS_WITH_PARENT],
      ...(checkout !== undefined && { checkout }),
      env: {
        ...this.#environment(name, number, network),
        ...(knowsNodeUrl(checkout) && { PATCHBAY_NODE_URL: `http://${address}:${port}` }),
      },
    });
  }

  #environment(name: string, number: number, network: Network | undefined): Record<string, string> {
    const { workers = 1, env = {}, envOf = () => ({}) } = this.#wishes;
    const pooler = network === undefined ? this.#poolers[0] : this.#poolers.at(-1);
    const database = pooler?.url ?? this.database.url;
    return {
      PATCHBAY_NODE: name,
      PATCHBAY_PUBLIC_URL: this.url,
      PATCHBAY_SECRET_KEYS: SECRET_KEY,
      PATCHBAY_BOOTSTRAP_API_KEY: API_KEY,
      PATCHBAY_WORKERS: String(workers),
      PATCHBAY_CALL_LIMIT: '1000',
      PATCHBAY_LOAD_LIMIT: '0',
      PATCHBAY_DELAY_LIMIT_MS: '0',
      PATCHBAY_STALL_SECONDS: '0',
      PATCHBAY_STT: 'none',
      OPENAI_BASE_URL: '',
      OPENAI_API_KEY: '',
      DATABASE_URL: database,
      ...(this.#redis && { REDIS_URL: this.#redis.url }),
      ...this.#objectStore?.environment,
      ...env,
      ...envOf(number),
    };
  }

  /** Clips and lists of the first organization. Recordings of calls stay each gateway's own. */
  #shareUploads(dataFolder: string): void {
    if (this.#wishes.hasObjectStore === true) return;
    for (const kind of ['recordings', 'campaigns']) {
      const [shared, own] = [join(this.folder, kind, '1'), join(dataFolder, 'files', kind)];
      for (const folder of [shared, own]) mkdirSync(folder, { recursive: true });
      symlinkSync(shared, join(own, '1'));
    }
  }
}

/** Two checks, and a second for their answers. */
const BALANCER_NOTICES_MS = 3_000;

/** Whether the build of a checkout has the setting: one before it refuses what it does not know. */
function knowsNodeUrl(checkout = '.'): boolean {
  return readFileSync(join(checkout, 'docs/settings.md'), 'utf8').includes('PATCHBAY_NODE_URL');
}

function present<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`this cluster has no ${what}`);
  return value;
}
