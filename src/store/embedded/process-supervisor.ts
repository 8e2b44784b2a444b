// Keeps the process of the embedded database running: starts it, restarts it if it dies (at once, then with
// backoff), and closes it. Acknowledged data is on the disk in any case.

import { type ChildProcess, fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import { engineThreadOptions } from '../../runtime/engine-threads.ts';
import { entryPoint } from '../../runtime/entry-point.ts';
import { keepLastOutput } from '../../runtime/last-output.ts';
import type { Clock, Timer } from '../../std/clock.ts';
import { isObject } from '../../std/json.ts';
import { RestartBackoff } from '../../std/restart-backoff.ts';

/** Deadline of a start: the first one on a slow disk creates a whole cluster. */
const START_MS_MAX = 90_000;
/** Longest wait of statements for a restart of the engine. */
const READY_MS_MAX = 5_000;
/** Longest wait for the engine's last checkpoint. After it the engine is killed, which loses nothing. */
const CLOSE_MS_MAX = 10_000;
/** Characters of the process's last output that are kept for the error. */
const LAST_WORDS_CHARACTERS_MAX = 2_000;
/** Within this time of the start slow statements are no warnings: tables are created, caches are empty. */
const WARM_MS = 60_000;
/** Pause between two reports of slow statements. */
const SLOW_EVERY_MS = 10_000;
const SQL_CHARACTERS_MAX = 500;
/** Longest path of the socket's folder: the kernel's limit for a unix socket, less PostgreSQL's file name. */
const SOCKET_FOLDER_BYTES_MAX = 85;

export interface EmbeddedDatabaseOptions {
  dataFolder: string;
  /** Cache folder for the template of new databases. Default: `.cache/patchbay` in the home folder. */
  cacheFolder?: string | undefined;
  clock: Clock;
  log: Log;
}

/** `down` while the next start is later than any statement waits. */
type Phase = 'starting' | 'ready' | 'down' | 'closed';

export class EmbeddedDatabase {
  /** The host for a driver: the folder of the socket. */
  readonly socketFolder: string;
  readonly #options: EmbeddedDatabaseOptions;
  #phase: Phase = 'starting';
  #child: ChildProcess | undefined;
  readonly #pause: RestartBackoff;
  #restart: Timer | undefined;
  readonly #createdMs: number;
  #slowReportedMs = Number.NEGATIVE_INFINITY;
  #waiting: ((error: GatewayError | undefined) => void)[] = [];

  constructor(options: EmbeddedDatabaseOptions) {
    this.#options = options;
    this.#createdMs = options.clock.monotonicMs();
    this.#pause = new RestartBackoff(options.clock);
    this.socketFolder = embeddedSocketFolder(resolve(options.dataFolder));
  }

  /** Process id, for tests that kill it. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Starts the process. Throws STORE_LOCKED, STORE_NOT_DURABLE, STORE_UNAVAILABLE. */
  async start(): Promise<void> {
    await this.#run();
    this.#pause.noteHealthy();
    this.#settle('ready', undefined);
  }

  /** Resolves while the engine serves; waits a little while it starts again.
   *  Throws STORE_UNAVAILABLE. */
  ready(): Promise<void> {
    if (this.#phase === 'ready') return Promise.resolve();
    if (this.#phase !== 'starting') return Promise.reject(new GatewayError('STORE_UNAVAILABLE'));
    return new Promise((resolve, reject) => {
      const settle = (error: GatewayError | undefined): void => {
        timer.cancel();
        if (error === undefined) resolve();
        else reject(error);
      };
      const timer = this.#options.clock.after(READY_MS_MAX, () => {
        this.#waiting = this.#waiting.filter((each) => each !== settle);
        reject(new GatewayError('STORE_UNAVAILABLE'));
      });
      this.#waiting.push(settle);
    });
  }

  async close(): Promise<void> {
    if (this.#phase === 'closed') return;
    this.#settle('closed', new GatewayError('STORE_UNAVAILABLE'));
    this.#restart?.cancel();
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    await new Promise<void>((done) => {
      const timer = this.#options.clock.after(CLOSE_MS_MAX, () => child.kill('SIGKILL'));
      child.once('exit', () => {
        timer.cancel();
        done();
      });
      child.send('close', () => undefined); // An unreachable process is already ending.
    });
  }

  /** Starts the process once; resolves when it serves. */
  #run(): Promise<void> {
    const { path, execArgv } = entryPoint('./embedded-process.ts', import.meta.url);
    const child = fork(path, this.#arguments(), {
      execArgv: [...execArgv, ...engineThreadOptions()],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.#child = child;
    const words = keepLastOutput(child.stderr, { charactersMax: LAST_WORDS_CHARACTERS_MAX });
    return new Promise((resolve, reject) => {
      let timer: Timer | undefined = this.#options.clock.after(START_MS_MAX, () => {
        child.kill('SIGKILL');
      });
      let refusal: GatewayError | undefined;
      const settled = (): boolean => {
        const before = timer === undefined;
        timer?.cancel();
        timer = undefined;
        return before;
      };
      child.on('message', (message) => {
        if (isObject(message) && message['kind'] === 'slow') this.#reportSlow(message);
        else if (isObject(message) && message['kind'] === 'ready' && !settled()) resolve();
        else refusal ??= refusalIn(message);
      });
      child.once('error', (error) => {
        if (!settled()) reject(new GatewayError('STORE_UNAVAILABLE', {}, error));
      });
      // Not `exit`, which may come before the last message.
      child.once('close', (code, signal) => {
        const cause = new Error(`ended with ${signal ?? code}: ${words()}`);
        if (!settled()) reject(refusal ?? new GatewayError('STORE_UNAVAILABLE', {}, cause));
        else this.#crashed({ code, signal, words: words() });
      });
    });
  }

  #arguments(): string[] {
    const { dataFolder, cacheFolder } = this.#options;
    const cache = cacheFolder ?? join(homedir(), '.cache', 'patchbay');
    return ['serve', resolve(dataFolder), join(this.socketFolder, SOCKET_NAME), cache];
  }

  /** The process died after it had served. */
  #crashed(how: { code: number | null; signal: string | null; words: string }): void {
    if (this.#phase === 'closed') return;
    const { code, signal, words } = how;
    this.#options.log.error({ code, signal, 'pii.words': words }, 'the embedded database died');
    this.#startLater();
  }

  /** Logs slow statements: calls wait for the engine meanwhile. */
  #reportSlow({ traffic, ms, sql }: Record<string, unknown>): void {
    const { clock, log } = this.#options;
    const now = clock.monotonicMs();
    if (now - this.#slowReportedMs < SLOW_EVERY_MS) return;
    this.#slowReportedMs = now;
    const statement = String(sql).slice(0, SQL_CHARACTERS_MAX);
    const level = now - this.#createdMs < WARM_MS ? 'info' : 'warn';
    log[level](
      { traffic, ms, statement },
      'a statement occupied the embedded database for a long time',
    );
  }

  #startLater(): void {
    if (this.#phase === 'closed') return;
    const { clock, log } = this.#options;
    const pauseMs = this.#pause.nextDelayMs();
    this.#phase = 'starting';
    if (pauseMs > READY_MS_MAX) this.#settle('down', new GatewayError('STORE_UNAVAILABLE'));
    this.#restart = clock.after(pauseMs, () => {
      this.start().catch((error: unknown) => {
        log.error({ err: error }, 'the embedded database cannot be started again');
        this.#startLater();
      });
    });
  }

  #settle(phase: Phase, error: GatewayError | undefined): void {
    if (this.#phase !== 'closed') this.#phase = phase;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const settle of waiting) settle(error);
  }
}

const SOCKET_NAME = '.s.PGSQL.5432';

/** Folder of the socket: the data folder, or another folder of ours if its path is too long. */
export function embeddedSocketFolder(dataFolder: string): string {
  if (Buffer.byteLength(dataFolder) <= SOCKET_FOLDER_BYTES_MAX) return dataFolder;
  const name = createHash('sha256').update(dataFolder).digest('hex').slice(0, 16);
  const folder = join(tmpdir(), `patchbay-${process.getuid?.() ?? 0}-${name}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

function refusalIn(message: unknown): GatewayError | undefined {
  if (!isObject(message) || message['kind'] !== 'refused') return undefined;
  const folder = isObject(message['facts']) ? message['facts']['folder'] : undefined;
  if (message['code'] === 'STORE_LOCKED') {
    return new GatewayError('STORE_LOCKED', typeof folder === 'string' ? { folder } : {});
  }
  if (message['code'] === 'STORE_NOT_DURABLE') return new GatewayError('STORE_NOT_DURABLE');
  return undefined;
}
