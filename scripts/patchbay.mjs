#!/usr/bin/env node
// The command `patchbay` (package.json, bin): builds what is missing, then runs dist/cli/cli.js. Plain Node. Its own
// output goes to standard error.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

if (['--version', '-v'].includes(process.argv[2])) {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  process.stdout.write(`${version}\n`);
  process.exit(0);
}
if (existsSync(join(root, 'src'))) await buildIfNeeded(); // An image has only the build.
const { runCli } = await import(pathToFileURL(join(root, 'dist/cli/cli.js')).href);
const interrupt = new AbortController();
// Only a command that holds a call handles an interrupt; a second Ctrl-C ends the command at once.
if (process.argv.some((word) => /^--call(=|$)/.test(word)))
  process.once('SIGINT', () => interrupt.abort());
// The pause between two requests would not keep the process alive.
const alive = setInterval(() => undefined, 60_000);
process.exitCode = await runCli(process.argv.slice(2), {
  env: process.env,
  out: (text) => process.stdout.write(text),
  error: (text) => process.stderr.write(text),
  confirm: process.stdin.isTTY ? confirm : undefined,
  interrupted: interrupt.signal,
}).finally(() => clearInterval(alive));

async function confirm(question) {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  // Ctrl-C and Ctrl-D close the terminal without an answer to Node's question.
  const closed = new Promise((resolve) => terminal.once('close', () => resolve('')));
  try {
    const answer = await Promise.race([terminal.question(question).catch(() => ''), closed]);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    terminal.close();
  }
}

async function buildIfNeeded() {
  if (!existsSync(join(root, 'node_modules/typescript'))) {
    process.stderr.write('Packages are missing. Run: npm ci\n');
    process.exit(1);
  }
  const { isBuilt, build, runScript } = await import('./build.mjs');
  if (isBuilt()) return;
  const { Progress } = await import('./progress.mjs');
  const progress = new Progress('', process.stderr);
  progress.say('Building ...');
  const run = (name, ...script) => progress.during(name, runScript(name, ...script));
  if (!(await build({ run }))) process.exit(1);
}
