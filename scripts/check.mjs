// Runs the checks of `npm run check` in parallel, as many at a time as there are cores. Each is a script of
// package.json; its output is printed when it has ended, and all run even if one fails.
// node scripts/check.mjs [names of scripts]

import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** Scripts of package.json, the longest first. */
const CHECKS = ['types', 'types:console', 'deps', 'dead', 'lint', 'citations'];
/** Deadline of one check, so that a hanging one does not block the tests. */
const CHECK_MS_MAX = 600_000;

const waiting = process.argv.length > 2 ? process.argv.slice(2) : [...CHECKS];
const failed = [];
const runners = Array.from({ length: Math.max(1, availableParallelism()) }, runOn);
await Promise.all(runners);
if (failed.length > 0) console.error(`[check] failed: ${failed.join(', ')}`);
process.exit(failed.length > 0 ? 1 : 0);

async function runOn() {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    const startedMs = performance.now();
    const { output, isGood } = await run(name);
    const seconds = ((performance.now() - startedMs) / 1_000).toFixed(0);
    console.log(`[check] ${name}: ${isGood ? 'good' : 'FAILED'}, ${seconds} s`);
    if (output !== '') process.stdout.write(output.endsWith('\n') ? output : `${output}\n`);
    if (!isGood) failed.push(name);
  }
}

function run(name) {
  return new Promise((resolve) => {
    const pieces = [];
    const child = spawn('npm', ['run', '--silent', name], {
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: CHECK_MS_MAX,
    });
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (data) => pieces.push(data));
    child.once('error', (error) => resolve({ output: String(error), isGood: false }));
    child.once('close', (code) => {
      resolve({ output: Buffer.concat(pieces).toString('utf8'), isGood: code === 0 });
    });
  });
}
