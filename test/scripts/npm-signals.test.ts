// The documented commands under npm, in a folder with the project's own command lines: what they start must get the
// signals that npm gets. A shell between them once ended alone, and the gateway kept its port.

import { type ChildProcess, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isAlive } from '../fakes/is-alive.ts';

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
const POLL = { timeout: 30_000, interval: 50 };

/** Keeps running until a signal, which it notes. */
const PROGRAM = `const fs = require('node:fs');
  for (const signal of ['SIGTERM', 'SIGINT'])
    process.on(signal, () => {
      fs.writeFileSync('signal', signal);
      setTimeout(() => process.exit(0), 50);
    });
  setInterval(() => undefined, 1_000);
  fs.writeFileSync('pid', String(process.pid));`;

let folder: string;
let npm: ChildProcess | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'patchbay-npm-'));
  file('package.json', JSON.stringify({ name: 'patchbay', scripts }));
  file('scripts/setup.mjs', '');
  file('dist/main.js', PROGRAM);
});

afterEach(() => {
  const pid = Number(read('pid'));
  if (pid > 0 && isAlive(pid)) process.kill(pid, 'SIGKILL');
  npm?.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

function file(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

function read(path: string): string {
  return existsSync(join(folder, path)) ? readFileSync(join(folder, path), 'utf8') : '';
}

/** Runs `npm start` until the program that it leads to runs; returns the program's process id. */
async function start(): Promise<number> {
  npm = spawn('npm', ['start'], { cwd: folder, stdio: 'inherit', detached: true });
  await expect.poll(() => read('pid'), POLL).not.toBe('');
  return Number(read('pid'));
}

describe('npm start', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'passes %s on to the gateway, and ends behind it',
    async (signal) => {
      const pid = await start();
      const ended = new Promise((done) => npm?.once('exit', done));
      npm?.kill(signal);
      await ended;
      await expect.poll(() => isAlive(pid), POLL).toBe(false);
      expect(read('signal')).toBe(signal);
    },
    60_000,
  );

  it('ends its set-up with the shell', async () => {
    for (const script of [
      ...['setup.mjs', 'prepare.mjs', 'build.mjs', 'installed.mjs'],
      ...['progress.mjs', 'child-steps.mjs', 'speech-packages.mjs'],
    ])
      cpSync(`scripts/${script}`, join(folder, 'scripts', script));
    file('src/main.ts', '');
    file('package-lock.json', JSON.stringify({ packages: { 'node_modules/zod': {} } }));
    file('npm.mjs', PROGRAM.replace("const fs = require('node:fs')", "import fs from 'node:fs'"));
    const env = { ...process.env, npm_execpath: join(folder, 'npm.mjs') };
    const setUp = '"$0" scripts/setup.mjs; true';
    npm = spawn('sh', ['-c', setUp, process.execPath], { cwd: folder, env, stdio: 'ignore' });
    await expect.poll(() => read('pid'), POLL).not.toBe('');
    const pid = Number(read('pid'));
    npm.kill('SIGTERM');
    await expect.poll(() => isAlive(pid), POLL).toBe(false);
  }, 60_000);
});

it('every command that sets up and then runs becomes what it runs', () => {
  const behind = Object.values<string>(scripts).filter((line) =>
    /setup\.mjs.* && (node|tsx)/.test(line),
  );
  expect(behind).toEqual([]);
});
