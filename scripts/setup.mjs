// Prepares a fresh clone: packages, with --build the build and (on Linux with a C compiler) the compiled kernels, and
// with --speech the embedded recogniser. Plain Node, so that it runs before anything is installed. Does only what is
// missing.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build as buildAll, isBuilt } from './build.mjs';
import { isInstalled } from './installed.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const NODE_MIN = [20, 19];
/** Deadline for installing Debian packages over a slow line, so that a hanging mirror does not block the set-up. */
const APT_MS_MAX = 300_000;
const SPEECH_PACKAGES = ['libpocketsphinx3', 'pocketsphinx-en-us'];
const SPEECH_MODEL = '/usr/share/pocketsphinx/model/en-us/en-us/mdef';
const LIBRARY_FOLDERS = [
  '/usr/lib/x86_64-linux-gnu',
  '/usr/lib/aarch64-linux-gnu',
  '/usr/lib/arm-linux-gnueabihf',
  '/usr/lib',
  '/usr/local/lib',
];

const flags = new Set(process.argv.slice(2));
/** Whether this is a clone. An image has only its packages and the build. */
const hasSources = existsSync(join(root, 'src'));
checkNode();
if (hasSources) installPackages();
if (hasSources && flags.has('--build')) build();
if (flags.has('--speech')) installSpeech();

function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const [wantMajor, wantMinor] = NODE_MIN;
  if (major > wantMajor || (major === wantMajor && minor >= wantMinor)) return;
  stop(`Node ${NODE_MIN.join('.')} or newer is needed; this is ${process.versions.node}.`);
}

function installPackages() {
  if (isInstalled(root)) return;
  say('Installing packages (npm ci) ...');
  const args = ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  const npm = process.env.npm_execpath;
  const done = npm ? run(process.execPath, [npm, ...args]) : run('npm', args);
  if (!done) stop('npm ci failed; see above.');
}

function build() {
  if (isBuilt()) return;
  say('Building ...');
  compileKernels();
  if (!buildAll()) stop('The build failed; see above.');
}

/** Compiles the kernels, which hundreds of calls on a core need. Without a compiler WebAssembly is used: no error. */
function compileKernels() {
  if (process.platform !== 'linux' || existsSync(join(root, 'native/build/kernels.node'))) return;
  const script = join(root, 'scripts/build-native.mjs');
  const done = spawnSync(process.execPath, [script], { cwd: root, stdio: 'ignore' }).status === 0;
  if (done) say('Compiled the kernels for audio with the C compiler of this machine.');
  else say('No C compiler: WebAssembly kernels serve (fewer calls on a core, see docs/load.md).');
}

function installSpeech() {
  if (process.env.PATCHBAY_STT === 'none' || hasSpeech()) return;
  const manual = `sudo apt-get install ${SPEECH_PACKAGES.join(' ')}`;
  const apt = privilegedApt();
  if (apt === undefined) {
    say('No speech recogniser here, and no right to install one: callers use the keypad only.');
    say(`For spoken calls: ${manual}`);
    return;
  }
  say(`Installing the speech recogniser: ${SPEECH_PACKAGES.join(', ')} (apt-get) ...`);
  const install = ['install', '-y', '-q', '--no-install-recommends', ...SPEECH_PACKAGES];
  const done = apt(install) || (apt(['update', '-q']) && apt(install));
  if (done && hasSpeech()) say('The speech recogniser is installed.');
  else say(`That did not work: callers use the keypad only. To try by hand: ${manual}`);
}

function hasSpeech() {
  const library = LIBRARY_FOLDERS.some((folder) =>
    existsSync(join(folder, 'libpocketsphinx.so.3')),
  );
  return library && existsSync(SPEECH_MODEL);
}

/** Command for apt-get as root, or through sudo without a password; undefined if neither is possible. */
function privilegedApt() {
  const quiet = (command, args) => spawnSync(command, args, { stdio: 'ignore' }).status === 0;
  if (!quiet('apt-get', ['--version'])) return undefined;
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const options = { env, timeout: APT_MS_MAX };
  if (process.getuid?.() === 0) return (args) => run('apt-get', args, options);
  if (!quiet('sudo', ['-n', 'true'])) return undefined;
  const variables = ['-n', 'DEBIAN_FRONTEND=noninteractive', 'apt-get'];
  return (args) => run('sudo', [...variables, ...args], options);
}

/** Runs a command in the project's folder and shows its output. Returns whether it succeeded. */
function run(command, args, options = {}) {
  const stdio = ['ignore', 'inherit', 'inherit'];
  return spawnSync(command, args, { cwd: root, stdio, ...options }).status === 0;
}

function say(line) {
  console.log(`[set-up] ${line}`);
}

function stop(line) {
  console.error(`[set-up] ${line}`);
  process.exit(1);
}
