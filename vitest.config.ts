// How the tests run. TEST_SET says which (test/test-sets.ts). Workers of `unit` have one module graph each for all of their
// files: loading the gateway anew for each of them would cost a fifth of the time. What runs in real time comes last: first
// what waits for gateways that start and end, then calls whose audio must be in time, then what needs the machine for itself.

import { defineConfig } from 'vitest/config';
import { FlakyTests } from './test/flaky-tests.ts';
import { LongFilesFirst } from './test/long-files-first.ts';
import { useMemoryFolder } from './test/memory-folder.ts';
import { isFullSet, leftOut } from './test/test-sets.ts';

useMemoryFolder();

/** What measures time or the whole process, or puts load on it: it has both to itself. */
const measures = [
  'test/bench/**/*.test.ts',
  'test/runtime/process-load.test.ts',
  'test/e2e/load-wires.test.ts',
  'test/e2e/two-calls.test.ts',
];
/** Whole gateways without audio that the start of another one could make late. `campaign` waits for two minutes and takes a
 *  third of a core: two others run beside it. */
const waits = [
  'test/deploy/compose-gateway.test.ts',
  'test/e2e/answer-kill.test.ts',
  'test/e2e/asterisk-tls.test.ts',
  'test/e2e/campaign.test.ts',
  'test/e2e/equal-names.test.ts',
  'test/e2e/gateway-death.test.ts',
  'test/e2e/hostile-requests.test.ts',
  'test/e2e/process-split.test.ts',
  'test/e2e/several-gateways.test.ts',
  'test/e2e/stored-version.test.ts',
  'test/e2e/webhook-proof.test.ts',
];
const calls = ['test/e2e/*.test.ts'];
/** Pages of the console in a browser, at one gateway. */
const pages = ['test/console/*{page,board,frame}*.test.ts'];
/** Talks of a browser: their audio is captured and played in real time by processes that need a core. */
const talks = ['test/console/*{steps,talk}*.test.ts'];
/** A test that fails there is tried once more, and listed by its name. */
const isCI = Boolean(process.env['CI']);
const notNow = leftOut();

export default defineConfig({
  test: {
    testTimeout: isFullSet() ? 120_000 : 20_000,
    hookTimeout: isFullSet() ? 60_000 : 20_000,
    retry: isCI ? 1 : 0,
    expect: { poll: { timeout: 10_000 } },
    setupFiles: ['test/patient-polls.ts', 'test/random-rounds.ts'],
    sequence: { sequencer: LongFilesFirst },
    coverage: { provider: 'v8', include: ['src/**'] },
    reporters: isCI ? ['default', 'json', new FlakyTests()] : ['default'],
    outputFile: { json: process.env['TEST_RESULTS'] ?? 'coverage/results.json' },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          globalSetup: 'test/store/kept-folders.ts',
          include: ['test/**/*.test.ts'],
          exclude: [
            ...waits,
            ...calls,
            ...pages,
            ...talks,
            ...measures,
            'test/oracles/**',
            ...notNow,
          ],
          isolate: false,
          maxWorkers: 3,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'waits',
          include: waits,
          exclude: notNow,
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'calls',
          include: calls,
          exclude: [...waits, ...measures, ...notNow],
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: {
          name: 'pages',
          globalSetup: 'test/console/one-gateway.ts',
          include: pages,
          exclude: notNow,
          maxWorkers: 2,
          sequence: { groupOrder: 3 },
        },
      },
      {
        extends: true,
        test: {
          name: 'talks',
          globalSetup: 'test/console/one-gateway.ts',
          include: talks,
          exclude: notNow,
          fileParallelism: false,
          // A browser's sound server hangs now and then.
          retry: isCI ? 2 : 0,
          sequence: { groupOrder: 4 },
        },
      },
      {
        extends: true,
        test: {
          name: 'measures',
          include: measures,
          exclude: notNow,
          fileParallelism: false,
          sequence: { groupOrder: 5 },
        },
      },
    ],
  },
});
