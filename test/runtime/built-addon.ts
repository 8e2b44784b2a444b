// The addon, compiled for a test where a C compiler is present: what npm run build:native left is not used,
// so that tests do not depend on it.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const COMPILERS = ['gcc', 'clang', 'clang-16', 'cc'];

/** Undefined where the addon cannot be made: no compiler, or not Linux. */
export const compiler =
  process.platform === 'linux'
    ? COMPILERS.find((name) => spawnSync(name, ['--version']).status === 0)
    : undefined;

/** A folder with `kernels.node` in it, as the loader takes it. Throws what the build script printed. */
export function buildAddon(): { folder: string; remove: () => void } {
  const folder = `${mkdtempSync(join(tmpdir(), 'patchbay-addon-'))}/`;
  runBuild(['--out', `${folder}kernels.node`]);
  return { folder, remove: () => rmSync(folder, { recursive: true }) };
}

/** Runs scripts/build-native.mjs. */
export function runBuild(options: string[]): void {
  const script = ['scripts/build-native.mjs', ...options];
  const { status, stderr } = spawnSync(process.execPath, script, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`the build failed: ${stderr}`);
}
