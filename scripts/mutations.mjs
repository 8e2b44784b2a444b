// Mutation test of the suite: plants faults that fixes have removed, one at a time, in a copy of the checkout, and runs the
// tests that should find them. A suite that is reorganised loses nothing if it catches them all. Plain Node.
//   npm run mutations -- [--only id,...] [--tests-root DIR] [--related]
//   --only        these faults alone, by their ids in test/mutations/mutations.json
//   --tests-root  the tests of another checkout: its test/, fixtures/ and vitest.config.ts
//   --related     where the named tests are gone or pass: every test whose imports lead to the changed file
// Ends with 1 unless each fault is caught. Only the copy is changed, also if this is killed.

import { spawn, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import ts from 'typescript';

const root = fileURLToPath(new URL('..', import.meta.url));
const DATA = 'test/mutations/mutations.json';
/** Variables with which vitest.config.ts includes every test. */
const EVERY_TEST = { TEST_SET: 'full' };
const OF_TESTS = /^(test|fixtures)\/|^vitest\.config\.ts$/;
/** Not in git: copied where it is there, as a build may write to it. */
const NATIVE = 'native/build';
/** The slowest tests that are named take half a minute on two busy cores. */
const NAMED_MS_MAX = 180_000;
/** All named tests, once; or all that import a file. */
const MANY_MS_MAX = 1_200_000;
/** For the processes of a run to end by themselves. */
const END_MS_MAX = 5_000;
/** As tsconfig.json, of one file by itself. */
const COMPILING = {
  reportDiagnostics: true,
  compilerOptions: {
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.ESNext,
    verbatimModuleSyntax: true,
    rewriteRelativeImportExtensions: true,
  },
};
const GIT_BYTES_MAX = 64 * 1024 * 1024;

let running;

/** `text` with the fault. Throws unless `from` is in it exactly once. */
export function planted(text, { id, file, from, to }) {
  const count = text.split(from).length - 1;
  if (count !== 1) throw new Error(`${id}: the text is ${count} times in ${file}, wanted once`);
  const at = text.indexOf(from);
  return text.slice(0, at) + to + text.slice(at + from.length);
}

/** Those with the ids, or all. Throws for an unknown id, and for an id that two have. */
export function chosen(mutations, ids) {
  const known = mutations.map(({ id }) => id);
  const doubled = known.filter((id, nth) => known.indexOf(id) !== nth);
  if (doubled.length > 0) throw new Error(`two faults have the id ${doubled.join(', ')}`);
  if (ids === undefined) return mutations;
  const unknown = ids.filter((id) => !known.includes(id));
  if (unknown.length > 0) throw new Error(`no fault has the id ${unknown.join(', ')}`);
  return mutations.filter(({ id }) => ids.includes(id));
}

/** What a run of vitest shows: `failed`: its first failed test; `failedFiles`, `files`: paths below `folder`.
 *  `report`: vitest's in JSON; undefined if it wrote none. */
export function resultOf({ code, isLate, report, folder }) {
  const tests = report?.testResults ?? [];
  const pathOf = ({ name }) => relative(folder, name);
  const bad = tests.filter(({ status }) => status === 'failed');
  const [first] = bad;
  const name = first?.assertionResults.find(({ status }) => status === 'failed')?.fullName;
  const files = tests.map(pathOf);
  const failedFiles = bad.map(pathOf);
  if (first !== undefined) {
    const failed = `${pathOf(first)}: ${name ?? 'does not load'}`;
    return { verdict: 'caught', failed, files, failedFiles };
  }
  if (isLate) return { verdict: 'timed out', files, failedFiles };
  if (files.length === 0) return { verdict: 'no tests', files, failedFiles };
  if (code === 0) return { verdict: 'survived', files, failedFiles };
  return { verdict: 'caught', failed: 'an error outside of the tests', files, failedFiles };
}

/** Of the whole run. */
export function tableOf(rows) {
  const ids = Math.max(...rows.map(({ id }) => id.length));
  const lines = rows.map(({ id, verdict, seconds, detail }) =>
    [id.padEnd(ids), verdict.padEnd(9), `${seconds.toFixed(0)} s`.padStart(5), detail].join('  '),
  );
  const caught = rows.filter(({ verdict }) => verdict === 'caught').length;
  return [...lines, `${caught} of ${rows.length} caught`].join('\n');
}

async function main() {
  const { values } = parseArgs({
    options: {
      only: { type: 'string' },
      'tests-root': { type: 'string', default: root },
      related: { type: 'boolean', default: false },
    },
  });
  const all = JSON.parse(readFileSync(join(root, DATA), 'utf8'));
  const mutations = chosen(all, values.only?.split(','));
  checkTexts(mutations);
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-mutations-'));
  const clean = () => rmSync(folder, { recursive: true, force: true });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.once(signal, () => {
      endRun('SIGKILL');
      clean();
      process.exit(1);
    });
  }
  try {
    fill(folder, resolve(values['tests-root']));
    return await runAll(folder, mutations, values.related);
  } finally {
    clean();
  }
}

/** All that do not fit are named before anything is run. */
function checkTexts(mutations) {
  const problems = mutations.flatMap((mutation) => {
    try {
      const text = planted(readFileSync(join(root, mutation.file), 'utf8'), mutation);
      const isCode = mutation.file.endsWith('.ts');
      const faults = isCode ? ts.transpileModule(text, COMPILING).diagnostics : [];
      return faults.map(({ messageText }) => `${mutation.id}: with it, ${messageText}`);
    } catch (error) {
      return [error.message];
    }
  });
  if (problems.length > 0) throw new Error(problems.join('\n'));
}

/** With the checkout's files, as they are, and the tests of `testsRoot`. */
function fill(folder, testsRoot) {
  const own = filesOf(root).filter((path) => !OF_TESTS.test(path));
  const tests = filesOf(testsRoot).filter((path) => OF_TESTS.test(path));
  for (const path of own) cpSync(join(root, path), join(folder, path));
  for (const path of tests) cpSync(join(testsRoot, path), join(folder, path));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const native = join(root, NATIVE);
  if (existsSync(native)) cpSync(native, join(folder, NATIVE), { recursive: true });
  runScript(folder, 'scripts/extract-vad.mjs');
}

/** Those of git, and new ones that it does not ignore. */
function filesOf(checkout) {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const options = { cwd: checkout, encoding: 'utf8', maxBuffer: GIT_BYTES_MAX };
  const { status, stdout, stderr } = spawnSync('git', args, options);
  if (status !== 0) throw new Error(`${checkout} is no checkout: ${stderr.trim()}`);
  const paths = stdout.split('\0').filter((path) => path !== '');
  return paths.filter((path) => existsSync(join(checkout, path)));
}

async function runAll(folder, mutations, isRelatedToo) {
  if (mutations.some(({ needsBuild }) => needsBuild)) {
    say('building ...');
    runScript(folder, 'scripts/build.mjs');
  }
  const unchanged = await runUnchanged(folder, mutations);
  const rows = [];
  for (const [nth, mutation] of mutations.entries()) {
    const startedMs = performance.now();
    const found = await tryOne(folder, mutation, { unchanged, isRelatedToo });
    const row = { id: mutation.id, seconds: (performance.now() - startedMs) / 1_000, ...found };
    rows.push(row);
    say(`${nth + 1}/${mutations.length} ${row.id}: ${row.verdict}, ${row.detail}`);
  }
  console.log(`\n${tableOf(rows)}`);
  return rows.every(({ verdict }) => verdict === 'caught');
}

/** Tests that fail without a fault find none. */
async function runUnchanged(folder, mutations) {
  const tests = [...new Set(mutations.flatMap((mutation) => mutation.tests))];
  say(`${tests.length} tests without a fault ...`);
  const { verdict, files, failedFiles } = await vitest(folder, ['run', ...tests], MANY_MS_MAX);
  say(`${files.length} files ran, ${failedFiles.length} failed`);
  if (verdict === 'timed out') throw new Error('the tests take too long without a fault');
  return { files, failedFiles };
}

async function tryOne(folder, mutation, { unchanged, isRelatedToo }) {
  const { file, tests } = mutation;
  const isNamed = (path) => tests.some((filter) => path.includes(filter));
  const failing = unchanged.failedFiles.filter(isNamed);
  const isThere = tests.every((filter) => unchanged.files.some((path) => path.includes(filter)));
  if (failing.length > 0) {
    return { verdict: 'error', detail: `without the fault fails ${failing.join(', ')}` };
  }
  if (!isThere && !isRelatedToo) return { verdict: 'error', detail: `gone: ${tests.join(', ')}` };
  const restore = plant(folder, mutation);
  const stopping = ['--bail', '1'];
  let result = isThere
    ? await vitest(folder, ['run', ...stopping, ...tests], NAMED_MS_MAX)
    : { verdict: 'gone' };
  if (isRelatedToo && result.verdict !== 'caught') {
    result = await vitest(folder, ['related', '--run', ...stopping, file], MANY_MS_MAX);
  }
  restore();
  const { verdict, failed } = result;
  return { verdict, detail: failed ?? `with ${tests.join(', ')}` };
}

/** In the source, and where the copy is built in dist/. Returns what takes it out again. */
function plant(folder, mutation) {
  const source = join(folder, mutation.file);
  const built = join(folder, mutation.file.replace(/^src\/(.*)\.ts$/, 'dist/$1.js'));
  const paths = [source, built].filter(existsSync);
  const sound = paths.map((path) => readFileSync(path, 'utf8'));
  const text = planted(sound[0], mutation);
  if (existsSync(built)) writeFileSync(built, ts.transpileModule(text, COMPILING).outputText);
  writeFileSync(source, text);
  return () => {
    for (const [nth, path] of paths.entries()) writeFileSync(path, sound[nth]);
  };
}

function runScript(folder, script) {
  const { status, stderr } = spawnSync(process.execPath, [script], { cwd: folder });
  if (status !== 0) throw new Error(`${script} failed: ${stderr}`);
}

async function vitest(folder, args, msMax) {
  const file = join(folder, 'mutations-report.json');
  rmSync(file, { force: true });
  const options = ['--retry', '0', '--reporter', 'json', `--outputFile.json=${file}`];
  const child = spawn(
    process.execPath,
    ['node_modules/vitest/vitest.mjs', args[0], ...options, ...args.slice(1)],
    {
      cwd: folder,
      env: { ...process.env, ...EVERY_TEST, CI: '' },
      stdio: 'ignore',
      detached: true, // A group of its own: what the tests have started ends with it.
    },
  );
  running = child;
  let isLate = false;
  const timers = [
    setTimeout(() => {
      isLate = true;
      endRun('SIGTERM');
    }, msMax),
    setTimeout(() => endRun('SIGKILL'), msMax + END_MS_MAX),
  ];
  const code = await new Promise((done, failed) => {
    child.once('error', failed);
    child.once('exit', done);
  });
  timers.forEach(clearTimeout);
  endRun('SIGKILL');
  running = undefined;
  const report = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
  return resultOf({ code, isLate, report, folder });
}

function endRun(signal) {
  try {
    if (running?.pid !== undefined) process.kill(-running.pid, signal);
  } catch {
    // The group has ended.
  }
}

function say(line) {
  console.log(`[mutations] ${line}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    process.exitCode = (await main()) ? 0 : 1;
  } catch (error) {
    console.error(`[mutations] ${error.message.replaceAll('\n', '\n[mutations] ')}`);
    process.exitCode = 1;
  }
}
