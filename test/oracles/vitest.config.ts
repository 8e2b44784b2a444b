// The oracles have packages of their own and are no part of `npm test`: `npm run oracles` runs them.

import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/oracles/*.test.ts'],
    testTimeout: 60_000,
    maxWorkers: 1,
    isolate: false,
  },
});
