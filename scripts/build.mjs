// Builds dist/: the compiled sources, other files of src/ (migrations), the native parts, which are compiled first, each
// npm package bundled into one file, and the console. A hash over all of these shows whether a build is up to date. Writes
// nothing to standard output, which may be that of a command that is built first.

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const marker = 'dist/.built-from';
/** Files on which a build depends in addition to the sources. */
const settings = [
  'tsconfig.json',
  'package-lock.json',
  'scripts/bundle-packages.mjs',
  'scripts/build-console.mjs',
];
/** The console's sources, which scripts/build-console.mjs builds. */
const CONSOLE = 'src/console/';
/** Types of the API, made for the checks of the console: nothing is built from them. */
const MADE = 'src/console/api/schema.d.ts';

if (process.argv[1] === fileURLToPath(import.meta.url))
  process.exit((await build({ checksTypes: true })) ? 0 : 1);

/** Whether dist/ was built from the files that are there. */
export function isBuilt() {
  const path = join(root, marker);
  return existsSync(path) && readFileSync(path, 'utf8') === fingerprint();
}

/** Builds dist/ from scratch. Returns false if a step failed, which has printed why.
 *  `run` runs a script by a name and its path. `addon` is settled once the native addon has been made, if it is made
 *  meanwhile. `checksTypes` takes three times as long for the same files; `npm test` checks them in any case. */
export async function build({
  run = runScript,
  addon = Promise.resolve(),
  checksTypes = false,
} = {}) {
  if (!(await run('weights', 'scripts/extract-vad.mjs'))) return false;
  rmSync(join(root, 'dist'), { recursive: true, force: true });
  const compiling = compile(run, checksTypes ? [] : ['--noCheck']);
  await addon.then(() => renewAddon(run));
  if (!(await compiling)) return false;
  for (const { from, to } of copies()) {
    mkdirSync(dirname(join(root, to)), { recursive: true });
    copyFileSync(join(root, from), join(root, to));
  }
  writeFileSync(join(root, marker), fingerprint());
  return true;
}

async function compile(run, options) {
  const compiler = 'node_modules/typescript/bin/tsc';
  if (!(await run('tsc', compiler, '-p', 'tsconfig.json', ...options))) return false;
  if (!(await run('esbuild', 'scripts/bundle-packages.mjs'))) return false;
  return await run('console', 'scripts/build-console.mjs');
}

/** Rebuilds an existing addon for changed sources. Only npm run build:native creates one: the build must not depend
 *  on the compiler of a machine. Without an addon WebAssembly is used. */
async function renewAddon(run) {
  if (!existsSync(join(root, 'native/build/kernels.node'))) return;
  if (await run('C compiler', 'scripts/build-native.mjs', '--renew')) return;
  console.error(
    'The native addon is of other sources and could not be made again: going on without it.',
  );
}

/** Runs a Node script in the project's folder. Returns whether it succeeded. */
export async function runScript(_name, script, ...args) {
  const stdio = ['ignore', process.stderr.fd, process.stderr.fd];
  const child = spawn(process.execPath, [join(root, script), ...args], { cwd: root, stdio });
  return await new Promise((resolve) => {
    child.once('error', () => resolve(false));
    child.once('exit', (code) => resolve(code === 0));
  });
}

/** Files that are copied to dist/ unchanged: `src/store/migrations/0001.sql`, `native/kernels.wasm`, ... */
function copies() {
  const data = filesIn('src')
    .filter((path) => !path.endsWith('.ts') && !path.startsWith(CONSOLE))
    .map((path) => ({ from: path, to: path.replace(/^src/, 'dist') }));
  return [...data, ...natives().map((path) => ({ from: path, to: `dist/${path}` }))];
}

function natives() {
  return filesIn('native').filter((path) => /\.(wasm|node|bin)$/.test(path));
}

function fingerprint() {
  const hash = createHash('sha256');
  for (const path of [
    ...settings,
    ...filesIn('src').filter((each) => each !== MADE),
    ...natives(),
  ]) {
    hash
      .update(path)
      .update('\0')
      .update(readFileSync(join(root, path)));
  }
  return hash.digest('hex');
}

/** Every file below `folder`, as paths from the project's folder, sorted. */
function filesIn(folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length))
    .map((path) => path.replaceAll('\\', '/'))
    .sort();
}
