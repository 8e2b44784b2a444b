// The kernels under the sanitizers; native/test/fuzz.c is what runs. Skipped without a C compiler.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { compiler, runBuild } from './built-addon.ts';

it.skipIf(compiler === undefined)(
  'touch no foreign memory and do nothing undefined on random input',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'patchbay-fuzz-'));
    const program = join(folder, 'fuzz');
    try {
      runBuild(['--fuzz', '--out', program]);
      expect(execFileSync(program, { encoding: 'utf8' })).toContain('sound');
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
  120_000,
);
