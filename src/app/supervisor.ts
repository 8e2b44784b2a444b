// The composition root of a gateway with several workers: the first process, which keeps the database and
// the workers running and takes part in no call.

import { shareMetrics } from '../cluster/metrics-aggregation.ts';
import { WorkerSupervisor } from '../cluster/worker-supervisor.ts';
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import { collectProcessMetrics, registry } from '../metrics/metrics.ts';
import { entryPoint } from '../runtime/entry-point.ts';
import { systemClock as clock } from '../std/clock.ts';
import { systemRandom as random } from '../std/random.ts';
import { openStore } from '../store/open.ts';
import { leaveReplaced } from './gateway-parts.ts';

/** For whoever says where the gateway listens. */
export interface FirstApiKey {
  ensureFirst(): Promise<{ apiKey: string } | undefined>;
}

export interface SupervisedGateway {
  accounts: FirstApiKey;
  stop(): Promise<void>;
}

/** Settles when all workers serve. Throws what the store throws, and WORKER_FAILED. */
export async function supervise(config: Config, log: Log): Promise<SupervisedGateway> {
  collectProcessMetrics();
  const { dataFolder, databaseUrl, node, callLimit, workers, drainMs } = config;
  const secrets = { keys: config.secretKeys };
  const store = await openStore({
    dataFolder,
    databaseUrl,
    node,
    onReplaced: leaveReplaced(log),
    secrets,
    callLimit,
    clock,
    random,
    log,
  });
  const entry = entryPoint('../main.ts', import.meta.url);
  const supervisor = new WorkerSupervisor({ workers, entry, epoch: store.epoch, clock, log });
  shareMetrics(supervisor.link, registry);
  try {
    await supervisor.start();
  } catch (error) {
    await store.close();
    throw error;
  }
  return {
    accounts: store.accounts,
    async stop() {
      await supervisor.stop(drainMs);
      await store.close();
    },
  };
}
