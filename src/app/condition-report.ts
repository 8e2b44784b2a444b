// Stores the condition of this gateway (model/gateway-condition.ts) every few seconds, for `patchbay cluster status`, where
// other gateways may be on the same database. Each report compares the clocks of machine and database.

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

/** Starts the reports; undefined for a gateway with a database of its own. */
export function startConditionReport(
  config: Pick<Config, 'databaseUrl' | 'workers'> & Peers,
  deps: ConditionReportDeps,
): JobLoop | undefined {
  if (config.databaseUrl === undefined) return undefined;
  const { store, notReady, workers, clock, log } = deps;
  const version = ownVersion();
  const peers = new PeerStateReader(registry, config);
  let skewSeconds: number | null = null;
  const loop = new JobLoop({
    clock,
    everyMs: REPORT_MS,
    run: async () => {
      const condition: GatewayCondition = {
        version,
        not_ready: [...notReady()],
        workers: workers(),
        workers_wanted: config.workers,
        clock_skew_seconds: skewSeconds,
        ...(await peers.read()),
      };
      const sentAtMs = clock.now();
      const storedAtMs = await store.clusterStatus.report(condition);
      // The database has read its clock about half way.
      const ownMs = (sentAtMs + clock.now()) / 2;
      if (storedAtMs === undefined) return;
      skewSeconds = (storedAtMs - ownMs) / 1_000;
      clockSkewSeconds.set(skewSeconds);
    },
    onError: (error) => log.debug({ err: error }, 'condition of the gateway not stored'),
  });
  void loop.start();
  return loop;
}
