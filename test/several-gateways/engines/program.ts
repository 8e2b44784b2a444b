// A program of this machine as a child that never outlives its parent: the kernel kills it when the parent ends,
// whatever ends the parent. Linux.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { connect } from 'node:net';
import { UNPRIVILEGED_ID } from '../../store/databases.ts';

/** A program that does not listen by then has failed. Ceph's monitor needs some seconds. */
const LISTEN_MS_MAX = 30_000;
const LOOK_MS = 20;
const END_MS_MAX = 10_000;

export interface ProgramOptions {
  /** With its arguments. */
  command: readonly string[];
  /** What it prints. */
  logFile: string;
  env?: Readonly<Record<string, string>>;
  /** For programs that refuse to run as root. */
  isUnprivileged?: boolean;
}

/** The command of a child that ends with its parent. It keeps its process id. */
export const ENDS_WITH_PARENT = ['setpriv', '--pdeathsig', 'KILL', '--'] as const;

export class Program {
  readonly #child: ChildProcess;
  readonly #name: string;
  readonly #exited: Promise<void>;

  constructor({ command, logFile, env = {}, isUnprivileged = false }: ProgramOptions) {
    const [setpriv, ...guard] = ENDS_WITH_PARENT;
    const id = String(UNPRIVILEGED_ID);
    const nobody = ['--reuid', id, '--regid', id, '--clear-groups'];
    const isNobody = isUnprivileged && process.getuid?.() === 0;
    const args = [...(isNobody ? nobody : []), ...guard, ...command];
    const log = createWriteStream(logFile, { flags: 'a' });
    this.#name = command[0] ?? '';
    this.#child = spawn(setpriv, args, {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child.stdout?.pipe(log, { end: false });
    this.#child.stderr?.pipe(log, { end: false });
    this.#exited = new Promise((resolve, reject) => {
      this.#child.once('error', reject);
      this.#child.once('exit', () => resolve());
    });
    this.#exited.catch(() => undefined); // The caller that waits for it gets it again.
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Resolves once the program takes a connection. */
  async listening(port: number, host = '127.0.0.1'): Promise<void> {
    const until = performance.now() + LISTEN_MS_MAX;
    while (performance.now() < until && this.#child.exitCode === null) {
      if (await isListening(port, host)) return;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    throw new Error(`${this.#name} does not listen at ${host}:${port}`);
  }

  /** Sends `signal`, and SIGKILL to a program that stays. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    this.#child.kill('SIGCONT');
    this.#child.kill(signal);
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), END_MS_MAX);
    await this.#exited;
    clearTimeout(timer);
  }
}

export function isListening(port: number, host = '127.0.0.1'): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host);
    const settle = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => settle(true));
    socket.once('error', () => settle(false));
  });
}

/** Runs a command to its end. Throws what it printed if it fails. */
export function run(
  [program = '', ...args]: readonly string[],
  env: Readonly<Record<string, string>> = {},
): string {
  const ended = spawnSync(program, args, { encoding: 'utf8', env: { ...process.env, ...env } });
  if (ended.status !== 0) throw new Error(`${program} ${args.join(' ')}: ${ended.stderr}`);
  return ended.stdout;
}

export function isInstalled(program: string): boolean {
  return spawnSync('/bin/sh', ['-c', `command -v ${program}`]).status === 0;
}
