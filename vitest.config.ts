import { defineConfig } from 'vitest/config';

// Two workers, each with one module graph for all of its files: loading the gateway anew for each of
// them would cost a fifth of the time. What runs in real time comes last and has the machine to itself.
export default defineConfig({
  test: {
    testTimeout: 20_000,
    coverage: { provider: 'v8', include: ['src/**'] },
    reporters: process.env['CI'] ? ['default', 'json'] : ['default'],
    outputFile: { json: 'coverage/results.json' },
    projects: [
      {
        extends: true,
        test: {
          name: 'rooms',
          include: ['test/**/*.test.ts'],
          exclude: ['test/e2e/**'],
          isolate: false,
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'calls',
          include: ['test/e2e/*.test.ts'],
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
