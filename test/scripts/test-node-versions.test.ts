// The script with a vitest that only writes a report, and an npx that has one release: what it makes of them.

import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

const SCRIPT = 'scripts/test-node-versions.mjs';
/** Writes what its filter says as the report. */
const VITEST = `
  import { writeFileSync } from 'node:fs';
  const file = process.argv.find((flag) => flag.startsWith('--outputFile.json=')).slice(18);
  const filter = process.argv[3];
  if (filter.startsWith('{')) writeFileSync(file, filter);`;
const MAJOR = process.versions.node.split('.')[0];
/** Gives this Node for its own release and, as npx does without a binary, for node@98; fails for any other. */
const NPX = `#!/bin/sh
case "$*" in *node@${MAJOR}*|*node@98*) echo ${process.execPath};; *) exit 1;; esac
`;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'patchbay-nodes-'));
  for (const path of ['scripts', 'node_modules/vitest', 'bin']) {
    mkdirSync(join(folder, path), { recursive: true });
  }
  cpSync(SCRIPT, join(folder, SCRIPT));
  writeFileSync(join(folder, 'node_modules/vitest/vitest.mjs'), VITEST);
  writeFileSync(join(folder, 'bin/npx'), NPX);
  chmodSync(join(folder, 'bin/npx'), 0o755);
});
afterEach(() => rmSync(folder, { recursive: true }));

function run(nodes: string, filter: object | string) {
  const text = typeof filter === 'string' ? filter : JSON.stringify(filter);
  const env = { ...process.env, PATH: `${join(folder, 'bin')}${delimiter}${process.env['PATH']}` };
  const args = [join(folder, SCRIPT), '--nodes', nodes, text];
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8', env });
  return { status, lines: stdout.trim().split('\n') };
}

const report = (more: object = {}) => ({
  numPassedTests: 3,
  numFailedTests: 0,
  numPendingTests: 1,
  success: true,
  testResults: [],
  ...more,
});

it('prints a line for each release, and succeeds if all are green', () => {
  const { status, lines } = run(`this,${MAJOR}`, report());
  const row = `${process.version}  3       0       1        green`;
  expect(lines.slice(-3)).toEqual(['version   passed  failed  skipped  result', row, row]);
  expect(status).toBe(0);
});

it('names the tests that failed, and files that could not be loaded', () => {
  const failed = { fullName: 'it breaks', status: 'failed' };
  const testResults = [
    { name: 'a.test.ts', status: 'failed', assertionResults: [failed] },
    { name: 'b.test.ts', status: 'failed', assertionResults: [] },
  ];
  const { status, lines } = run('this', report({ success: false, numFailedTests: 1, testResults }));
  expect(lines.slice(-3)).toEqual([
    `${process.version}  3       1       1        red`,
    `${process.version}: it breaks`,
    `${process.version}: b.test.ts`,
  ]);
  expect(status).toBe(1);
});

it.each([
  ['no test fits the filter', 'this', report({ numPassedTests: 0 }), 'red'],
  ['vitest writes no report', 'this', 'no such test', 'did not run'],
  ['a release cannot be installed', '99', report(), 'did not run'],
  ['npx gives another release', '98', report(), 'did not run'],
])('is not green if %s', (_, nodes, filter, result) => {
  const { status, lines } = run(nodes, filter);
  expect(lines.at(-1)).toMatch(new RegExp(`${result}$`));
  expect(status).toBe(1);
});
