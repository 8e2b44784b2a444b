// The entry point of every process of a gateway: reads the settings and starts the process's role. The modules of a
// role are loaded only when it is known, so that no process loads those of another.

import { announcement } from './app/announcement.ts';
import type { ForkedProcess } from './app/node-options.ts';
import { checkOpenFiles } from './app/open-files-check.ts';
import { ownVersion } from './app/own-version.ts';
import { stopOnSignals } from './app/stop-signals.ts';
import type { FirstApiKey } from './app/supervisor-store.ts';
import { IpcChannel } from './cluster/ipc-channel.ts';
import { API, processName } from './cluster/ipc-message.ts';
import { shareMetrics } from './cluster/metrics-aggregation.ts';
import { supervisorTransport } from './cluster/process-transport.ts';
import { followSupervisor, gatewayEpoch } from './cluster/worker-commands.ts';
import { processIn } from './cluster/worker-supervisor.ts';
import { type Config, readConfig } from './config.ts';
import { codeOf, GatewayError } from './errors/gateway-error.ts';
import { createLog, type Log } from './log.ts';
import { registry, setBuildInfo } from './metrics/metrics.ts';
import { tuneGarbageCollection } from './runtime/gc-tuning.ts';
import { openFilesMax } from './runtime/open-files.ts';
import { reportSelfTest } from './runtime/self-test-report.ts';
import { lowerProcessPriority, raiseEventLoopPriority } from './runtime/thread-priority.ts';
import { systemClock as clock } from './std/clock.ts';

/** Prints the address, the data folder and, once, the first API key to standard error. */
async function announce(config: Config, accounts: FirstApiKey): Promise<void> {
  const first = await accounts.ensureFirst(config.bootstrapApiKey);
  const isTerminal = process.stderr.isTTY === true;
  process.stderr.write(`${announcement({ config, first, isTerminal }).join('\n')}\n`);
}

async function main(): Promise<void> {
  // A reader of these pipes that dies must not end calls.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);
  const config = readConfig();
  setBuildInfo(ownVersion());
  const forked = processIn(process.argv);
  const names = forked === undefined ? {} : { worker: processName(forked) };
  const log = createLog(config.log).child(names);
  // A fault outside any call: the state of the process is not reliable any more.
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'unexpected error, the gateway stops');
    process.stderr.write(`${error.stack ?? error.message}\n`);
    process.exit(1);
  });
  if (forked !== undefined) return startForked(config, log, forked);
  checkOpenFiles(openFilesMax(), log);
  // Until the start is complete nothing has to be saved. The first process of a container must handle the signal
  // explicitly, because the kernel does not deliver signals without a handler to it.
  const started = { stop: (): Promise<void> => Promise.resolve() };
  stopOnSignals(() => started.stop(), { clock, log });
  if (config.workers > 0) {
    const { supervise } = await import('./app/supervisor.ts');
    const { accounts, announced, stop } = await supervise(config, log);
    started.stop = stop;
    await announce(config, accounts);
    announced();
    return;
  }
  favourAudio(log);
  const { startSingleProcess } = await import('./app/single-process.ts');
  const { accounts, announced, drain, close } = await startSingleProcess(config, log);
  started.stop = () => drain().then(close);
  await announce(config, accounts);
  announced();
}

/** Starts the API process or a call worker. */
async function startForked(config: Config, log: Log, number: number): Promise<void> {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => undefined);
  const channel = supervisorTransport({ clock, log }, () => process.exit(1));
  const link = new IpcChannel(number, channel, { clock, log });
  const epoch = gatewayEpoch(link);
  shareMetrics(link, registry);
  const serving = await startRole(config, log, { link, epoch });
  const leave = (error?: unknown): void => {
    if (error !== undefined) log.error({ err: error }, 'stop failed');
    process.exit(error === undefined ? 0 : 1);
  };
  followSupervisor(link, serving, { clock, leave });
}

async function startRole(config: Config, log: Log, forked: ForkedProcess) {
  if (forked.link.address === API) {
    const { startApiProcess } = await import('./app/api-process.ts');
    const serving = await startApiProcess(config, log, forked);
    // From this point, audio has priority if processor time is short.
    lowerProcessPriority();
    return serving;
  }
  favourAudio(log);
  const { startCallWorker } = await import('./app/call-worker.ts');
  return startCallWorker(config, log, forked);
}

function favourAudio(log: Log): void {
  reportSelfTest(log, 'thread-priority', raiseEventLoopPriority());
  reportSelfTest(log, 'gc-tuning', tuneGarbageCollection());
}

main().catch((error: unknown) => {
  const known = codeOf(error) !== undefined && error instanceof GatewayError;
  process.stderr.write(`${known ? `${error.code}: ${error.message}` : String(error)}\n`);
  process.exit(1);
});
