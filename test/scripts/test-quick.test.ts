// Which tests a change touches: the nearest first.

import { expect, it } from 'vitest';
import { nearestTests } from '../../scripts/test-quick.mjs';

const sources = new Map([
  ['src/a.ts', 'export const a = 1;'],
  ['src/b.ts', "import { a } from './a.ts';"],
  ['src/c.ts', "const b = await import('./b.ts');"],
  ['test/c.test.ts', "import { c } from '../src/c.ts';"],
  ['test/a.test.ts', "import { a } from '../src/a.ts';"],
  ['test/other.test.ts', "readFileSync('docs/closing.md')"],
]);

it('orders the tests that reach a changed file by the imports between them', () => {
  expect(nearestTests(['src/a.ts'], sources)).toEqual(['test/a.test.ts', 'test/c.test.ts']);
});

it('finds the tests that name a changed document', () => {
  expect(nearestTests(['docs/closing.md'], sources)).toEqual(['test/other.test.ts']);
});

it('finds none for a file that is gone or unknown', () => {
  expect(nearestTests(['src/gone.ts'], sources)).toEqual([]);
});
