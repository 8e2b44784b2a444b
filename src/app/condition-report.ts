// The condition of this gateway (model/gateway-condition.ts). Where other gateways may be on the same database it is stored
// every few seconds, for `patchbay cluster status`; each report compares the clocks of machine and database.

import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import { clockSkewSeconds } from '../metrics/api-metrics.ts';
import { registry } from '../metrics/metrics.ts';
import type { GatewayCondition } from '../model/gateway-condition.ts';
import type { Clock } from '../std/clock.ts';
import { JobLoop } from '../std/job-loop.ts';
import type { ClusterStatusStore } from '../store/cluster-status.ts';
import { ownVersion } from './own-version.ts';
import { PeerStateReader, type Peers } from './peer-states.ts';

/** Interval of the reports: each is a statement. */
const REPORT_MS = 5_000;

export interface ConditionReportDeps {
  store: { clusterStatus: Pick<ClusterStatusStore, 'report'> };
  notReady: () => readonly string[];
  /** Call workers that serve. */
  workers: () => number;
  clock: Clock;
  log: Log;
}

/** The condition of this gateway at this moment. */
export class OwnCondition {
  /** The database's clock minus that of the machine; null before the first comparison. */
  skewSeconds: number | null = null;
  readonly #version = ownVersion();
  readonly #peers: PeerStateReader;
  readonly #config: Pick<Config, 'workers'>;
  readonly #deps: Pick<ConditionReportDeps, 'notReady' | 'workers'>;

  constructor(
    config: Pick<Config, 'workers'> & Peers,
    deps: Pick<ConditionReportDeps, 'notReady' | 'workers'>,
  ) {
    this.#peers = new PeerStateReader(registry, config);
    this.#config = config;
    this.#deps = deps;
  }

  async read(): Promise<GatewayCondition> {
    return {
      version: this.#version,
      not_ready: [...this.#deps.notReady()],
      workers: this.#deps.workers(),
      workers_wanted: this.#config.workers,
      clock_skew_seconds: this.skewSeconds,
      ...(await this.#peers.read()),
    };
  }
}

/** Starts the reports; undefined for a gateway with a database of its own. */
export function startConditionReport(
  config: Pick<Config, 'databaseUrl' | 'workers'> & Peers,
  deps: ConditionReportDeps,
): JobLoop | undefined {
  if (config.databaseUrl === undefined) return undefined;
  const { store, clock, log } = deps;
  const own = new OwnCondition(config, deps);
  const loop = new JobLoop({
    clock,
    everyMs: REPORT_MS,
    run: async () => {
      const condition = await own.read();
      const sentAtMs = clock.now();
      const storedAtMs = await store.clusterStatus.report(condition);
      // The database has read its clock about half way.
      const ownMs = (sentAtMs + clock.now()) / 2;
      if (storedAtMs === undefined) return;
      own.skewSeconds = (storedAtMs - ownMs) / 1_000;
      clockSkewSeconds.set(own.skewSeconds);
    },
    onError: (error) => log.debug({ err: error }, 'condition of the gateway not stored'),
  });
  void loop.start();
  return loop;
}
