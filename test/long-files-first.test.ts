// The list of long test files names files: one that was renamed would lose its place without a word.

import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { LONG } from './long-files-first.ts';

it('every file that runs first is there', () => {
  expect(LONG.filter((name) => !existsSync(`test/${name}.test.ts`))).toEqual([]);
  expect(new Set(LONG).size).toBe(LONG.length);
});
