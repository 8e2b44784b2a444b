// Composition root of the supervisor: the first process of a gateway. It owns the database and the listening socket,
// keeps the API process and the call workers running, and handles no calls.

import { isIP } from 'node:net';
import { shareMetrics } from '../cluster/metrics-aggregation.ts';
import { WorkerSupervisor } from '../cluster/worker-supervisor.ts';
import type { Config } from '../config.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import type { Log } from '../log.ts';
import { collectProcessMetrics, registry } from '../metrics/metrics.ts';
import { entryPoint } from '../runtime/entry-point.ts';
import {
  bindListenHandle,
  type ListenHandle,
  selfTestListenHandle,
} from '../runtime/listen-handle.ts';
import { reportSelfTest } from '../runtime/self-test-report.ts';
import { type Clock, systemClock as clock } from '../std/clock.ts';
import { checkS3 } from './s3-check.ts';
import type { FirstApiKey, SupervisorStore } from './supervisor-store.ts';
import { startWatchdog } from './watchdog.ts';

/** Time in addition to that after which a blocked process kills itself. */
const SILENT_EXTRA_MS = 5_000;
/** Time of the retries: without a free core, processes take seconds to notice the end of their gateway. */
const PORT_MS_MAX = 30_000;
const PORT_RETRY_MS = 100;

/** Advice by the system's error code. */
const REMEDIES: Readonly<Record<string, string>> = {
  EADDRINUSE:
    'Another program, or this gateway a second time, listens there: end it, or set PATCHBAY_PORT to a free port.',
  EADDRNOTAVAIL: 'Set PATCHBAY_HOST to an address of this machine; 0.0.0.0 is all of them.',
  EACCES: 'Set PATCHBAY_PORT to 1024 or above, or give the gateway the right to lower ports.',
};
const OTHER_REMEDY = 'Set PATCHBAY_HOST and PATCHBAY_PORT to where it may listen.';

export interface SupervisedGateway {
  accounts: FirstApiKey;
  /** Notes that the first API key is printed. The gateway is not ready before. */
  announced(): void;
  stop(): Promise<void>;
}

/** Starts all processes; settles when they serve. Throws what the store throws, PORT_UNAVAILABLE and WORKER_FAILED. */
export async function supervise(config: Config, log: Log): Promise<SupervisedGateway> {
  collectProcessMetrics();
  const listener = await openListener(config, log);
  const supervisor = new WorkerSupervisor({
    workers: config.workers,
    entry: entryPoint('../main.ts', import.meta.url),
    listener,
    silentMsMax: config.stallMs === 0 ? 0 : config.stallMs + SILENT_EXTRA_MS,
    clock,
    log,
  });
  shareMetrics(supervisor.link, registry);
  const opening = openOwnStore(config, log);
  try {
    const checked = checkS3(config, log);
    const epoch = Promise.all([opening, checked]).then(([store]) => store.epoch);
    await supervisor.start(epoch);
  } catch (error) {
    await opening.then(
      (store) => store.close(),
      () => undefined, // The failure is the error to throw.
    );
    throw error;
  }
  const store = await opening;
  // The service manager restarts the gateway; the other processes end with this one.
  const watchdog = startWatchdog(config, log);
  return {
    accounts: store.accounts,
    announced: () => supervisor.announced(),
    async stop() {
      await supervisor.leave(config.drainGraceMs);
      await supervisor.stop(config.drainMs);
      await watchdog?.stop();
      listener?.close();
      await store.close();
    },
  };
}

/** Opens the store. Its modules are loaded here, so that the other processes start before. */
async function openOwnStore(config: Config, log: Log): Promise<SupervisorStore> {
  const { openSupervisorStore } = await import('./supervisor-store.ts');
  return openSupervisorStore(config, log);
}

/** The listening socket. Undefined: the API process binds by itself, and refuses connections during its restart.
 *  Throws PORT_UNAVAILABLE. */
async function openListener({ host, port }: Config, log: Log): Promise<ListenHandle | undefined> {
  const fault = await selfTestListenHandle(clock);
  reportSelfTest(log, 'listen-handle', fault);
  if (fault !== undefined || isIP(host) === 0) return undefined;
  const alive = new MessageChannel().port1; // Timers do not keep a process alive.
  alive.ref();
  try {
    return await bindWhenFree({ host, port }, bindListenHandle, { clock, log });
  } finally {
    alive.close();
  }
}

/** Binds a port. Throws PORT_UNAVAILABLE if the address is still in use after 30 s, and at once for other faults,
 *  which do not pass. `bind`: as `bindListenHandle`, whose `undefined` is returned. */
export async function bindWhenFree(
  { host, port }: { host: string; port: number },
  bind: (host: string, port: number) => ListenHandle | string | undefined,
  { clock, log }: { clock: Clock; log: Log },
): Promise<ListenHandle | undefined> {
  for (let waitedMs = 0; ; waitedMs += PORT_RETRY_MS) {
    const bound = bind(host, port);
    if (typeof bound !== 'string') return bound;
    if (bound !== 'EADDRINUSE' || waitedMs >= PORT_MS_MAX) {
      const remedy = REMEDIES[bound] ?? OTHER_REMEDY;
      const error = new GatewayError('PORT_UNAVAILABLE', { host, port, reason: bound, remedy });
      log.error({ err: error, waitedMs }, 'the port cannot be bound');
      throw error;
    }
    if (waitedMs === 0) {
      log.warn({ host, port, waitMsMax: PORT_MS_MAX }, 'the port is in use: waiting');
    }
    await new Promise<void>((resolve) => clock.after(PORT_RETRY_MS, resolve));
  }
}
