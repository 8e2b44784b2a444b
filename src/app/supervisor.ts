// The composition root of the supervisor: the first process of a gateway. It owns the database and the listening
// socket, keeps the API process and the call workers running, and handles no call.

import { shareMetrics } from '../cluster/metrics-aggregation.ts';
import { WorkerSupervisor } from '../cluster/worker-supervisor.ts';
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import { collectProcessMetrics, registry } from '../metrics/metrics.ts';
import { entryPoint } from '../runtime/entry-point.ts';
import {
  bindListenHandle,
  type ListenHandle,
  selfTestListenHandle,
} from '../runtime/listen-handle.ts';
import { reportSelfTest } from '../runtime/self-test-report.ts';
import { systemClock as clock } from '../std/clock.ts';
import { openNodeStore, startWatchdog } from './node-parts.ts';

/** In addition to the time after which a blocked process kills itself. */
const SILENT_EXTRA_MS = 5_000;

/** For callers that print the gateway's address. */
export interface FirstApiKey {
  ensureFirst(given?: string): Promise<{ apiKey: string } | undefined>;
}

export interface SupervisedGateway {
  accounts: FirstApiKey;
  stop(): Promise<void>;
}

/** Settles when all processes serve. Throws what the store throws, and WORKER_FAILED. */
export async function supervise(config: Config, log: Log): Promise<SupervisedGateway> {
  collectProcessMetrics();
  const store = await openNodeStore(config, log, undefined);
  const listener = await openListener(config, log);
  const supervisor = new WorkerSupervisor({
    workers: config.workers,
    entry: entryPoint('../main.ts', import.meta.url),
    epoch: store.epoch,
    listener,
    silentMsMax: config.stallMs === 0 ? 0 : config.stallMs + SILENT_EXTRA_MS,
    clock,
    log,
  });
  shareMetrics(supervisor.link, registry);
  try {
    await supervisor.start();
  } catch (error) {
    await store.close();
    throw error;
  }
  // Whatever runs the gateway starts it again; the other processes end with this one.
  const watchdog = startWatchdog(config, log);
  return {
    accounts: store.accounts,
    async stop() {
      await supervisor.stop(config.drainMs);
      await watchdog?.stop();
      listener?.close();
      await store.close();
    },
  };
}

/** Undefined: the API process binds by itself, and refuses connections during its restart. */
async function openListener({ host, port }: Config, log: Log): Promise<ListenHandle | undefined> {
  const fault = await selfTestListenHandle(clock);
  reportSelfTest(log, 'listen-handle', fault);
  return fault === undefined ? bindListenHandle(host, port) : undefined;
}
