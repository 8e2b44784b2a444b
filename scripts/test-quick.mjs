// `npm run test:quick`: the test files nearest to what changed, for at most 90 s. Nearest means the fewest imports between
// them; it says what there was no time for. No types and no build: `npm test` has both.
//   node scripts/test-quick.mjs [--base REVISION]    default: what is not committed, or else the last commit

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const LIMIT_MS = 90_000;
/** A batch that could not end in this time is not begun. */
const BATCH_MS_MIN = 8_000;
/** Vitest takes seconds to start: not one file at a time. */
const BATCH_FILES = 30;
const CODE = /\.(ts|mjs|mts)$/;

/** Test files by their distance from the changed ones, nearest first. `sources` are the texts of all files of code by path. */
export function nearestTests(changed, sources) {
  const importers = importersOf(sources);
  const distances = new Map();
  let ring = [...changed.filter((path) => sources.has(path)), ...readersOf(changed, sources)];
  for (let distance = 0; ring.length > 0; distance++) {
    const fresh = [...new Set(ring)].filter((path) => !distances.has(path));
    for (const path of fresh) distances.set(path, distance);
    ring = fresh.flatMap((path) => importers.get(path) ?? []);
  }
  return [...distances]
    .filter(([path]) => path.endsWith('.test.ts'))
    .sort(([, one], [, other]) => one - other)
    .map(([path]) => path);
}

function importersOf(sources) {
  const importers = new Map();
  for (const [path, text] of sources) {
    for (const [, target] of text.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)) {
      const imported = normalize(join(dirname(path), target));
      importers.set(imported, [...(importers.get(imported) ?? []), path]);
    }
  }
  return importers;
}

/** Tests that name a changed file which is no code: a document, a fixture, a setting. */
function readersOf(changed, sources) {
  const data = changed.filter((path) => !CODE.test(path));
  if (data.length === 0) return [];
  return [...sources]
    .filter(([path, text]) => path.endsWith('.test.ts') && data.some((each) => text.includes(each)))
    .map(([path]) => path);
}

function git(...args) {
  const { stdout, status } = spawnSync('git', args, { encoding: 'utf8' });
  return status === 0 ? stdout.split('\n').filter(Boolean) : [];
}

/** Paths from the project's root. */
function changedFiles(base) {
  if (base !== undefined) return git('diff', '--name-only', base);
  const open = [
    ...git('diff', '--name-only', 'HEAD'),
    ...git('ls-files', '--others', '--exclude-standard'),
  ];
  return open.length > 0 ? open : git('diff', '--name-only', 'HEAD~1', 'HEAD');
}

function allSources() {
  const paths = ['src', 'test', 'scripts'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`),
  );
  const code = paths.filter((path) => CODE.test(path) && !path.includes('node_modules'));
  return new Map(code.map((path) => [path, readFileSync(path, 'utf8')]));
}

function run(program, args, timeout) {
  const { status, error } = spawnSync(program, args, { stdio: 'inherit', timeout });
  return error === undefined ? status : undefined;
}

function main() {
  const endMs = performance.now() + LIMIT_MS;
  const left = () => endMs - performance.now();
  const at = process.argv.indexOf('--base');
  const changed = changedFiles(at < 0 ? undefined : process.argv[at + 1]);
  const tests = nearestTests(changed, allSources()).filter((path) => !path.startsWith('test/e2e/'));
  console.log(`[quick] ${changed.length} files changed, ${tests.length} test files reach them`);
  const code = changed.filter((path) => CODE.test(path) && existsSync(path));
  let isGood = code.length === 0 || run('npx', ['biome', 'check', ...code], left()) === 0;
  while (tests.length > 0 && left() > BATCH_MS_MIN) {
    const batch = tests.splice(0, BATCH_FILES);
    const files = ['vitest', 'run', '--passWithNoTests', '--reporter=dot', ...batch];
    const status = run('npx', files, left());
    if (status === undefined) tests.unshift(...batch);
    if (status === undefined) break;
    isGood &&= status === 0;
  }
  if (tests.length > 0) console.log(`[quick] no time for ${tests.length} test files: npm test`);
  console.log(`[quick] ${isGood ? 'good' : 'FAILED'}`);
  process.exit(isGood ? 0 : 1);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
