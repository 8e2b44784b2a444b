// One of the gateways: started with its own data folder and name, killed, stopped, suspended and started again.

import { readFileSync } from 'node:fs';
import { ApiClient } from '../demo/api-client.ts';
import { Gateway, type GatewayOptions } from '../demo/gateway.ts';
import { familyOf } from '../load/figures/process-figures.ts';

const READY_MS_MAX = 60_000;
const LOOK_MS = 50;
/** Longer than every call of a case. */
const STOP_MS_MAX = 90_000;

export class ClusterGateway {
  /** `PATCHBAY_NODE`, and its server at the balancer. */
  readonly name: string;
  readonly url: string;
  readonly dataFolder: string;
  readonly logFile: string;
  #options: GatewayOptions;
  #gateway: Gateway | undefined;

  constructor(name: string, options: GatewayOptions) {
    this.name = name;
    this.url = `http://${options.address ?? '127.0.0.1'}:${options.port}`;
    this.dataFolder = options.dataFolder;
    this.logFile = options.logFile;
    this.#options = options;
  }

  get pid(): number {
    return this.#gateway?.pid ?? 0;
  }

  /** `changes`: other settings or another build, from now on. Resolves when it takes calls. */
  async start(changes: Pick<GatewayOptions, 'env' | 'checkout'> = {}): Promise<void> {
    const env = { ...this.#options.env, ...changes.env };
    this.#options = { ...this.#options, ...changes, env };
    this.#gateway = await Gateway.start(this.#options);
    await this.untilReady();
  }

  async untilReady(): Promise<void> {
    const until = performance.now() + READY_MS_MAX;
    while (!(await this.isReady())) {
      if (performance.now() > until) throw new Error(`${this.name} does not become ready`);
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }

  async isReady(): Promise<boolean> {
    try {
      return (await fetch(`${this.url}/ready`, { signal: AbortSignal.timeout(1_000) })).ok;
    } catch {
      return false; // It is not there.
    }
  }

  api(key: string): ApiClient {
    return new ApiClient(this.url, key);
  }

  async metrics(): Promise<string> {
    const answer = await fetch(`${this.url}/metrics`, { signal: AbortSignal.timeout(5_000) });
    return await answer.text();
  }

  /** All its processes at once, as with a machine that loses its power. */
  async kill(): Promise<void> {
    const { pid } = this;
    if (pid === 0) return;
    signalAll(familyOf(pid), 'SIGKILL');
    await this.#gateway?.kill();
    this.#gateway = undefined;
  }

  /** Drains it. The exit code; null if it had to be killed. */
  async stop(): Promise<number | null> {
    const code = await this.#gateway?.stop(STOP_MS_MAX);
    this.#gateway = undefined;
    return code ?? null;
  }

  suspend(): void {
    signalAll(familyOf(this.pid), 'SIGSTOP');
  }

  resume(): void {
    signalAll(familyOf(this.pid), 'SIGCONT');
  }

  /** Kills one of its call workers. */
  killWorker(): void {
    const worker = familyOf(this.pid).find((pid) => isWorker(pid));
    if (worker === undefined) throw new Error(`${this.name} has no call worker`);
    process.kill(worker, 'SIGKILL');
  }

  get log(): string {
    return readFileSync(this.logFile, 'utf8');
  }
}

function isWorker(pid: number): boolean {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes('worker');
}

function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // It has ended.
    }
  }
}
