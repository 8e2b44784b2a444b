// The set-up of a fresh clone, behind the check of Node's version (setup.mjs): packages, with --build the build and (on
// Linux with a C compiler) the compiled kernels, and with --speech the embedded recogniser, which is installed beside
// the others. Does only what is missing. None of its processes outlives it.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build as buildAll, isBuilt } from './build.mjs';
import { ChildSteps } from './child-steps.mjs';
import { isInstalled } from './installed.mjs';
import { Progress } from './progress.mjs';
import { installSpeechPackages } from './speech-packages.mjs';

/** How often the set-up looks whether its parent still runs. */
const PARENT_POLL_MS = 500;

const root = fileURLToPath(new URL('..', import.meta.url));

const flags = new Set(process.argv.slice(2));
/** An image carries its packages and the build alone. */
const hasSources = existsSync(join(root, 'src'));
const progress = new Progress('set-up');
const steps = new ChildSteps(root, progress);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => leaveBy(signal));
let leavingBy;
// The shell of `npm start` ends by a signal and passes none on.
const parent = process.ppid;
setInterval(() => process.ppid !== parent && leaveBy('SIGTERM'), PARENT_POLL_MS).unref();
const speech = flags.has('--speech') ? installSpeechPackages(steps, progress) : undefined;
const fault = hasSources ? await prepare() : undefined;
if (fault !== undefined && leavingBy === undefined) {
  progress.print(`[set-up] ${fault}`, process.stderr);
  steps.stop();
}
await speech;
if (leavingBy !== undefined) endBy(leavingBy);
process.exitCode = fault === undefined ? 0 : 1;

/** The packages, then the build; what failed, if anything did. */
async function prepare() {
  const needsBuild = flags.has('--build') && !isBuilt();
  const needsPackages = !isInstalled(root);
  const compiled = needsBuild && needsKernels() ? compileKernels() : undefined;
  if (needsPackages && !(await installPackages())) return 'npm ci failed; see above.';
  if (!needsBuild) return undefined;
  progress.say('Building ...');
  const addon = reportKernels(compiled, needsPackages);
  return (await buildAll({ run: runScript, addon })) ? undefined : 'The build failed; see above.';
}

async function installPackages() {
  progress.say('Installing packages (npm ci) ...');
  const args = ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  const npm = process.env.npm_execpath;
  if (npm) return await steps.run('npm ci', process.execPath, [npm, ...args]);
  return await steps.run('npm ci', 'npm', args);
}

function needsKernels() {
  return process.platform === 'linux' && !existsSync(join(root, 'native/build/kernels.node'));
}

/** What its script prints is for whoever runs it by hand. */
async function compileKernels() {
  const onLine = () => undefined;
  const script = join(root, 'scripts/build-native.mjs');
  return await steps.run('C compiler', process.execPath, [script], { onLine });
}

/** Hundreds of calls on a core need the kernels. Without a compiler WebAssembly serves: not worth an error. Node's
 *  headers may have come with the packages. */
async function reportKernels(compiled, hasNewPackages) {
  if (compiled === undefined) return;
  if ((await compiled) || (hasNewPackages && (await compileKernels())))
    progress.say('Compiled the kernels for audio with the C compiler of this machine.');
  else if (!steps.isStopped)
    progress.say(
      'No C compiler: WebAssembly kernels serve (fewer calls on a core, see docs/load.md).',
    );
}

async function runScript(name, script, ...args) {
  return await steps.run(name, process.execPath, [join(root, script), ...args]);
}

/** Ends the children first. */
function leaveBy(signal) {
  leavingBy ??= signal;
  steps.stop();
}

/** As whoever started this process expects of one that a signal has ended. */
function endBy(signal) {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}
