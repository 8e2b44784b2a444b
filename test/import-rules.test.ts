// The import rules against the table that they are made from: in a tree with the same folders, each folder imports
// every other one, and exactly what its row leaves out is an error.

import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';

const CONFIG = resolve('.dependency-cruiser.cjs');
const CRUISER = resolve('node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
/** Free for all, and in no row. */
const FREE = ['src/log.ts', 'src/errors/leaf.ts', 'src/metrics/leaf.ts'];

const configuration = z
  .object({ forbidden: z.array(z.object({ name: z.string(), comment: z.string().optional() })) })
  .parse(createRequire(import.meta.url)(CONFIG));

/** Rules by folder, as their comments name what it may import. */
const rows = configuration.forbidden.flatMap(({ name, comment = '' }) => {
  const [, folder, row] = /^src\/(\S+) may import: (.*)$/.exec(comment) ?? [];
  if (folder === undefined || row === undefined) return [];
  return [{ rule: name, folder, row: row === 'nothing' ? [] : row.split(', ') }];
});
const folders = rows.map(({ folder }) => folder);

function allowedFor(folder: string, row: readonly string[]): string[] {
  const earlier = folders.slice(0, folders.indexOf(folder));
  const isNamed = (other: string) =>
    row.some((entry) =>
      entry.endsWith('*') ? `${other}/`.startsWith(entry.slice(0, -1)) : entry === other,
    );
  return [folder, ...earlier.filter(isNamed)];
}

const violationSchema = z.object({
  summary: z.object({
    violations: z.array(
      z.object({ from: z.string(), to: z.string(), rule: z.object({ name: z.string() }) }),
    ),
  }),
});
let tree: string;
let violations: { from: string; to: string; rule: { name: string } }[];

/** A file that imports `others`. */
function plant(path: string, others: readonly string[] = []): void {
  const file = join(tree, path);
  mkdirSync(dirname(file), { recursive: true });
  const lines = others.map((other, nth) => {
    const from = relative(dirname(path), other);
    return `import { leaf as leaf${nth} } from '${from.startsWith('.') ? from : `./${from}`}';`;
  });
  writeFileSync(file, `${lines.join('\n')}\nexport const leaf = 1;\n`);
}

beforeAll(() => {
  tree = mkdtempSync(join(tmpdir(), 'patchbay-imports-'));
  cpSync('tsconfig.json', join(tree, 'tsconfig.json'));
  writeFileSync(join(tree, 'package.json'), '{}');
  const leaves = folders.map((folder) => `src/${folder}/leaf.ts`);
  for (const path of [...leaves, ...FREE, 'src/config.ts', 'src/attic/leaf.ts']) plant(path);
  for (const folder of folders) {
    plant(`src/${folder}/plant.ts`, [...leaves, ...FREE, 'src/config.ts', 'src/attic/leaf.ts']);
  }
  plant('src/errors/plant.ts', ['src/std/leaf.ts', 'src/model/leaf.ts']);
  const options = ['--config', CONFIG, '--output-type', 'json', 'src'];
  const { stdout } = spawnSync(process.execPath, [CRUISER, ...options], {
    cwd: tree,
    encoding: 'utf8',
    maxBuffer: 512 * 1024 * 1024,
  });
  violations = violationSchema.parse(JSON.parse(stdout)).summary.violations;
}, 60_000);

afterAll(() => rmSync(tree, { recursive: true, force: true }));

const targetsOf = (rule: string, from: string): string[] =>
  violations.filter((each) => each.rule.name === rule && each.from === from).map(({ to }) => to);

it('has a row for every folder, and each row has its rule', () => {
  expect(rows.length).toBeGreaterThan(80);
  expect(new Set(folders).size).toBe(rows.length);
});

it.each(rows)(
  '$folder may import what its row names, and nothing else',
  ({ folder, rule, row }) => {
    const allowed = allowedFor(folder, row);
    const forbidden = folders.filter((other) => !allowed.includes(other));
    const faults = targetsOf(rule, `src/${folder}/plant.ts`).filter((to) =>
      to.endsWith('/leaf.ts'),
    );
    const expected = [...forbidden, 'attic'].map((other) => `src/${other}/leaf.ts`);
    expect(forbidden.length).toBeGreaterThan(0);
    expect(faults.sort()).toEqual(expected.sort());
  },
);

it.each([
  ['the engine', 'src/workflow/engine', 'src/speech/llm'],
  ['the store', 'src/store', 'src/speech'],
  ['the agent', 'src/workflow', 'src/store'],
  ['a call', 'src/call/session', 'src/telephony/twilio'],
  ['a provider', 'src/telephony/twilio', 'src/telephony/vonage'],
  ['a provider', 'src/telephony/vonage', 'src/telephony/twilio'],
  ['a websocket', 'src/transport/websocket', 'src/model'],
  ['the audio', 'src/pipeline', 'src/telephony/provider'],
  ['the API', 'src/api/runs', 'src/cluster'],
])('%s does not import what it must not depend on: %s, %s', (_what, from, to) => {
  const found = violations.filter(
    (each) => each.from === `${from}/plant.ts` && each.to === `${to}/leaf.ts`,
  );
  expect(found.length).toBeGreaterThan(0);
});

it('only app reads the configuration', () => {
  const readers = folders.filter((folder) => {
    const from = `src/${folder}/plant.ts`;
    return targetsOf('config-only-in-app', from).includes('src/config.ts');
  });
  expect(readers).toEqual(folders.filter((folder) => folder !== 'app'));
});

it('a folder without a row may not be imported, and errors import no folder but std', () => {
  const strangers = violations.filter(({ to }) => to === 'src/attic/leaf.ts');
  expect(new Set(strangers.map(({ rule }) => rule.name))).toContain('every-file-has-a-folder');
  const fromErrors = violations.filter(({ from }) => from === 'src/errors/plant.ts');
  expect(fromErrors.map(({ to }) => to)).toEqual(['src/model/leaf.ts']);
});
