// The engine's option by which a process of ours collects its garbage seldom.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { tuneGarbageCollection } from '../../src/runtime/gc-tuning.ts';

const run = promisify(execFile);
const source = new URL('../../src/runtime/gc-tuning.ts', import.meta.url);

it('is accepted by the engine, which rejects unknown ones', async () => {
  const code = `
    import { setFlagsFromString } from 'node:v8';
    import { tuneGarbageCollection } from ${JSON.stringify(source.href)};
    tuneGarbageCollection();
    process.stderr.write('|');
    setFlagsFromString('--heap-growing-seldom=200');`;
  const flags = ['--import', 'tsx', '--input-type=module', '--eval', code];
  const { stderr } = await run(process.execPath, flags, { timeout: 15_000 });
  const [known, other] = stderr.split('|');
  expect(known).toBe('');
  expect(other).toContain('heap-growing-seldom');
});

it.each(['10.9.1', '99.0.0', ''])('is left alone on V8 %s, which was not tested', (version) => {
  expect(tuneGarbageCollection(version)).toBe(`V8 ${version} is not one of those that were tested`);
});

it('is taken on this Node', () => {
  expect(tuneGarbageCollection()).toBeUndefined();
});
