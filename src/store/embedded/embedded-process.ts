// The process of the embedded database: locks the data folder, opens the engine, serves it on a unix socket, and closes
// it when its gateway requests it or is gone. Started by embedded/supervisor.ts with the arguments `serve <data folder>
// <socket> <cache folder>` or, for a new cluster, `initialise <folder>`.

import { fork } from 'node:child_process';
import { chmodSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { GatewayError } from '../../errors/gateway-error.ts';
import { entryPoint } from '../../runtime/entry-point.ts';
import { lowerProcessPriority } from '../../runtime/thread-priority.ts';
import { systemClock } from '../../std/clock.ts';
import { prepareCluster } from './cluster-template.ts';
import { closeToOthers, lockFolder } from './data-folder.ts';
import { initialiseCluster, openPgliteEngine } from './pglite-engine.ts';
import { PostgresWireServer } from './wire-server.ts';

/** Deadline for a new cluster, which takes two to eight seconds, more on a slow disk. */
const INITIALISE_MS_MAX = 60_000;

async function serve(dataFolder: string, socketPath: string, cacheFolder: string): Promise<void> {
  let close = async (): Promise<void> => undefined;
  let isClosing = false;
  const leave = (): void => {
    if (isClosing) return;
    isClosing = true;
    close().then(() => process.exit(0), fail);
  };
  // Listening keeps this process alive while it waits.
  process.on('message', (message) => {
    if (message === 'close') leave();
  });
  process.on('disconnect', leave);

  const lock = await lockFolder(dataFolder, socketPath, systemClock);
  const folder = join(dataFolder, 'postgres');
  await prepareCluster({ folder, cacheFolder, initialise: initialiseElsewhere });
  const engine = await openPgliteEngine(folder);
  closeToOthers(folder); // PGlite leaves those of a new cluster open to everybody.
  // The process may end: acknowledged data is on the disk, and the gateway starts it again.
  const server = new PostgresWireServer({
    engine,
    clock: systemClock,
    broken: fail,
    onSlow: (statement) => process.send?.({ kind: 'slow', ...statement }),
  });
  rmSync(socketPath, { force: true });
  await server.listen(socketPath);
  chmodSync(socketPath, 0o600);
  close = async () => {
    await server.close();
    await engine.close();
    lock.release();
  };
  process.send?.({ kind: 'ready' });
}

/** Creates the cluster in a separate process, so that its memory is returned. */
function initialiseElsewhere(folder: string): Promise<void> {
  const { path, execArgv } = entryPoint('./embedded-process.ts', import.meta.url);
  const child = fork(path, ['initialise', folder], {
    execArgv,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const timer = systemClock.after(INITIALISE_MS_MAX, () => child.kill('SIGKILL'));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => {
      timer.cancel();
      if (code === 0) resolve();
      else reject(new Error(`making a new cluster ended with ${code}`));
    });
  });
}

function fail(error: unknown): void {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : error}\n`);
  const refusal =
    error instanceof GatewayError
      ? { kind: 'refused', code: error.code, facts: error.facts }
      : { kind: 'refused', code: 'STORE_UNAVAILABLE', facts: {} };
  if (process.send === undefined || !process.connected) process.exit(1);
  process.send(refusal, () => process.exit(1));
}

// The terminal and service managers signal the whole group; only the gateway decides when this process ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);

const [task, ...rest] = process.argv.slice(2);
if (task === 'serve') {
  lowerProcessPriority();
  const [dataFolder = '', socketPath = '', cacheFolder = ''] = rest;
  serve(dataFolder, socketPath, cacheFolder).catch(fail);
} else {
  process.on('disconnect', () => process.exit(1));
  initialiseCluster(rest[0] ?? '').then(() => process.exit(0), fail);
}
