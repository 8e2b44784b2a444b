// Calls of the load tool's callers over the balancer: they talk, hear every 20 ms whether the agent's audio comes, and
// count the calls that are refused or broken off.

import { LoadClient } from '../load/caller/load-client.ts';
import type { LoadSummary } from '../load/figures/load-summary.ts';
import { loadOptionsOf } from '../load/figures/measure.ts';
import { type LoadTarget, useGateway } from '../load/load-target.ts';
import type { GatewayCluster } from './cluster.ts';
import { type Ledger, msUntil } from './ledger.ts';

const CONNECT_MS_MAX = 20_000;
const LEAD_MS = 80;

export interface LoadedCallsOptions {
  calls: number;
  callsPerSecond: number;
}

/** Calls one after the other on a number of lines. */
export interface SeriesOptions {
  total: number;
  lines: number;
  callSeconds: number;
}

export class LoadedCalls {
  readonly #client = new LoadClient();
  readonly #target: LoadTarget;
  readonly #placed: Promise<unknown>;

  private constructor(target: LoadTarget, options: LoadedCallsOptions, series?: SeriesOptions) {
    this.#target = target;
    const load = loadOptionsOf(target, {
      ...options,
      scenario: 'talk',
      interruptionsPerSecond: 1,
      leadMs: LEAD_MS,
      cores: undefined,
      hostilePerSecond: 0,
    });
    this.#placed = this.#client.ask(
      series === undefined
        ? { order: 'place', options: load }
        : { order: 'series', options: load, series },
    );
    this.#placed.catch(() => undefined); // The caller that waits for it gets it again.
  }

  /** Places the calls, and goes on placing them when it resolves. */
  static async begin(cluster: GatewayCluster, options: LoadedCallsOptions): Promise<LoadedCalls> {
    return new LoadedCalls(await loadTarget(cluster), options);
  }

  /** Holds calls one after the other, and goes on when it resolves. `placed` waits for the last one. */
  static async series(cluster: GatewayCluster, series: SeriesOptions): Promise<LoadedCalls> {
    const options = { calls: series.lines, callsPerSecond: series.lines / series.callSeconds };
    return new LoadedCalls(await loadTarget(cluster), options, series);
  }

  /** All calls placed, and as many runs as there may be are running. */
  static async up(
    cluster: GatewayCluster,
    ledger: Ledger,
    options: LoadedCallsOptions,
  ): Promise<LoadedCalls> {
    const calls = await LoadedCalls.begin(cluster, options);
    await calls.placed();
    await msUntil(
      async () => (await ledger.open()).every(({ state }) => state === 'running'),
      CONNECT_MS_MAX,
    );
    await calls.measure();
    return calls;
  }

  async placed(): Promise<void> {
    await this.#placed;
  }

  /** Lateness counts from here on. */
  async measure(): Promise<void> {
    await this.#client.ask({ order: 'measure' });
  }

  /** Hangs up. */
  async finish(): Promise<LoadSummary> {
    await this.#client.ask({ order: 'measured' });
    const { summary } = await this.#client.ask({ order: 'finish' });
    await this.end();
    if (summary === undefined) throw new Error('the load process gave no summary');
    return summary;
  }

  /** Breaks them off. */
  async end(): Promise<void> {
    this.#client.stop();
    await this.#target.stop().catch(() => undefined); // Its gateway may be dead.
  }
}

/** An agent that is set up at one gateway, and called over the balancer. */
async function loadTarget(cluster: GatewayCluster): Promise<LoadTarget> {
  const target = await useGateway({
    url: (await cluster.readyGateway()).url,
    apiKey: cluster.apiKey,
    pid: undefined,
    provider: 'twilio',
    scenario: 'talk',
    providerHost: '127.0.0.1',
  });
  const { pathname } = new URL(target.webhookUrl);
  return { ...target, webhookUrl: `${cluster.url}${pathname}` };
}
