// V8's helper threads of the processes that a gateway starts.

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { engineThreadOptions } from '../../src/runtime/engine-threads.ts';

const run = promisify(execFile);

it.each([
  [1, ['--v8-pool-size=1']],
  [2, ['--v8-pool-size=1']],
  [3, ['--v8-pool-size=2']],
  [4, ['--v8-pool-size=3']],
  [5, []],
  [64, []],
])('on %i cores are one for each other core, as many as by default at most', (cores, options) => {
  expect(engineThreadOptions(cores)).toEqual(options);
});

it.skipIf(!existsSync('/proc/self/task'))('are fewer in a process on one core', async () => {
  const code = "console.log(require('node:fs').readdirSync('/proc/self/task').length)";
  const threads = async (options: string[]): Promise<number> => {
    const { stdout } = await run(process.execPath, [...options, '--eval', code], {
      timeout: 15_000,
    });
    return Number(stdout);
  };
  const [few, byDefault] = await Promise.all([threads(engineThreadOptions(1)), threads([])]);
  expect(few).toBe(byDefault - 3);
});
