// A gateway as a child process: started from its build with a data folder of its own, stopped or killed.
// It does not handle calls; everything else goes through the HTTP API (api-client.ts).

import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { machine } from './machine-pace.ts';

/** The first start makes a database and starts three processes beside it, each of which loads for seconds on a small
 *  machine; 85 s were seen where twenty other processes wanted its two cores. */
const START_MS_MAX = 120_000;
/** It is printed once all processes serve: after the API has begun to listen, it takes a few statements of the
 *  database, which yields to every other process. */
const KEY_MS_MAX = 30_000;
const STOP_MS_MAX = 15_000;
const POLL_MS = 100;
/** The text of an API key: a short prefix and 32 random bytes in base64url. */
const API_KEY = /\b[a-z]{2,12}_[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])/;

/** The gateway's line about a missing recogniser. */
const KEYPAD_ONLY = 'keypad only';

export interface GatewayOptions {
  dataFolder: string;
  port: number;
  /** Everything that the gateway prints goes here. */
  logFile: string;
  env?: Record<string, string>;
  /** Where it listens. Default: 127.0.0.1. */
  address?: string;
  /** Checkout whose build runs. Default: the working directory. */
  checkout?: string;
  /** Command that runs the program, in a network namespace for example. Default: none. */
  through?: readonly string[];
}

export class Gateway {
  readonly url: string;
  /** It has said that it found no recogniser. */
  keypadOnly = false;
  readonly #child: ChildProcess;
  readonly #exited: Promise<number | null>;
  readonly #key: Promise<string>;
  #foundKey: (key: string) => void = () => undefined;
  #exitCode: number | null | undefined;

  private constructor(options: GatewayOptions) {
    const { address = '127.0.0.1', through = [] } = options;
    this.url = `http://${address}:${options.port}`;
    this.#key = new Promise((resolve) => {
      this.#foundKey = resolve;
    });
    mkdirSync(dirname(options.logFile), { recursive: true });
    const log = createWriteStream(options.logFile, { flags: 'a' });
    const [program = process.execPath, ...args] = [...through, process.execPath, 'dist/main.js'];
    this.#child = spawn(program, args, {
      ...(options.checkout !== undefined && { cwd: options.checkout }),
      env: {
        ...process.env,
        PATCHBAY_HOST: address,
        PATCHBAY_PORT: String(options.port),
        PATCHBAY_PUBLIC_URL: this.url,
        PATCHBAY_DATA: options.dataFolder,
        ...options.env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      if (stream === null) continue;
      createInterface({ input: stream }).on('line', (line) => {
        const key = API_KEY.exec(line)?.[0];
        if (key !== undefined) this.#foundKey(key);
        if (line.includes(KEYPAD_ONLY)) this.keypadOnly = true;
        log.write(`${line}\n`);
      });
    }
    this.#exited = new Promise((resolve) => {
      this.#child.once('exit', (code) => {
        this.#exitCode = code;
        resolve(code);
      });
    });
  }

  /** Resolves once the gateway is healthy; throws if it ends or takes too long. */
  static async start(options: GatewayOptions): Promise<Gateway> {
    const gateway = new Gateway(options);
    const wait = machine.wait(START_MS_MAX);
    while (!(await gateway.#isHealthy())) {
      if (gateway.#exitCode !== undefined || wait.isOver) {
        await gateway.kill();
        throw new Error(`The gateway did not start; see ${options.logFile}`);
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    return gateway;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** The first API key, which is printed at the first start of a data folder only. */
  async firstKey(): Promise<string> {
    return await machine.within(KEY_MS_MAX, 'The gateway printed no API key', this.#key);
  }

  /** Asks it to finish and leave; its exit code, or null if it had to be killed, after `msMax` milliseconds. */
  async stop(msMax = STOP_MS_MAX): Promise<number | null> {
    this.#child.kill('SIGTERM');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), machine.scaled(msMax));
    const code = await this.#exited;
    clearTimeout(timer);
    return code;
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#exited;
  }

  get hasExited(): boolean {
    return this.#exitCode !== undefined;
  }

  /** Resolves when it ends, for any reason. */
  get exited(): Promise<number | null> {
    return this.#exited;
  }

  async #isHealthy(): Promise<boolean> {
    try {
      const signal = AbortSignal.timeout(machine.scaled(1_000));
      return (await fetch(`${this.url}/api/v1/health`, { signal })).ok;
    } catch {
      return false; // Nobody listens yet.
    }
  }
}
