// Runs the tests under several releases of Node and prints a table: npm run test:nodes -- [filters of vitest].
//   --nodes 20,22,24   which releases, by what the npm package `node` offers; `this` is the one that runs this
// The releases come through npx from the package registry that npm is set up for. Build first (npm run build).

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
const NODES = '20,22,24';
/** Deadline of an installation: a release has 50 MB; a hanging registry must not block the tests. */
const INSTALL_MS_MAX = 600_000;
/** Deadline of a run: the whole suite takes a few minutes, so after twenty times that it hangs. */
const RUN_MS_MAX = 3_600_000;
/** Failed tests that are named for each release. */
const FAILURES_SHOWN_MAX = 20;

process.exit(main() ? 0 : 1);

function main() {
  const { values, positionals } = parseArgs({
    options: { nodes: { type: 'string', default: NODES } },
    allowPositionals: true,
  });
  const rows = values.nodes.split(',').map((release) => testUnder(release, positionals));
  console.log(`\n${tableOf(rows)}`);
  for (const { version, failures } of rows) {
    for (const name of failures.slice(0, FAILURES_SHOWN_MAX)) console.log(`${version}: ${name}`);
  }
  return rows.every(({ result }) => result === 'green');
}

function testUnder(release, filters) {
  const node = release === 'this' ? process.execPath : installed(release);
  if (node === undefined) return rowOf(`node@${release}`, undefined);
  const version = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim();
  // npx uses the node of the PATH if the package has no binary, because it was installed without its scripts.
  if (release !== 'this' && !version.startsWith(`v${release}.`)) {
    console.error(
      `node@${release} is ${version}: remove it from npx's cache (npm config get cache)`,
    );
    return rowOf(`node@${release}`, undefined);
  }
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-nodes-'));
  const report = join(folder, 'report.json');
  const flags = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  try {
    console.log(`\n${version}`);
    spawnSync(node, ['node_modules/vitest/vitest.mjs', 'run', ...filters, ...flags], {
      cwd: root,
      // Tests that start `node` by name use this release too.
      env: { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` },
      stdio: ['ignore', 'inherit', 'inherit'],
      timeout: RUN_MS_MAX,
    });
    return rowOf(version, readReport(report));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The path of a release of the npm package `node`; undefined if it could not be installed. */
function installed(release) {
  const args = ['-y', '-p', `node@${release}`, 'node', '-p', 'process.execPath'];
  const { status, stdout } = spawnSync('npx', args, {
    // Outside the project: its .npmrc runs no install scripts, and the package fetches its binary by one.
    cwd: tmpdir(),
    // `npm run` hands its settings on.
    env: { ...process.env, npm_config_ignore_scripts: 'false' },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: INSTALL_MS_MAX,
  });
  return status === 0 ? stdout.trim().split('\n').at(-1) : undefined;
}

function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined; // vitest did not get that far.
  }
}

/** One line of the table, of vitest's JSON report; undefined: there is none. */
function rowOf(version, report) {
  if (report === undefined) return { version, failures: [], result: 'did not run' };
  const failed = report.testResults.flatMap(({ name, status, assertionResults }) => {
    const tests = assertionResults.filter((each) => each.status === 'failed');
    // A file that could not be loaded has no tests.
    if (status === 'failed' && tests.length === 0) return [name];
    return tests.map(({ fullName }) => fullName);
  });
  return {
    version,
    passed: report.numPassedTests,
    failed: report.numFailedTests,
    skipped: report.numPendingTests,
    failures: failed,
    // No test at all is a filter that fits nothing.
    result: report.success && report.numPassedTests > 0 ? 'green' : 'red',
  };
}

function tableOf(rows) {
  const columns = ['version', 'passed', 'failed', 'skipped', 'result'];
  const cells = [columns, ...rows.map((row) => columns.map((name) => String(row[name] ?? '')))];
  const widths = columns.map((_, nth) => Math.max(...cells.map((row) => row[nth].length)));
  return cells
    .map((row) =>
      row
        .map((cell, nth) => cell.padEnd(widths[nth]))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
