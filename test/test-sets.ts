// Which test files run in `npm test` and which in `npm run test:full` alone. `npm test` stays below twelve minutes on two cores:
// for a minute that comes in, another one moves here.

import { readdirSync, readFileSync } from 'node:fs';

/** `TEST_SET`: `full` runs everything; `rest` what `npm test` leaves out, for CI, which runs both one after the other;
 *  `console` the pages of the console alone, whose figures need a quiet machine to be as they are wanted. */
export type TestSet = 'usual' | 'full' | 'rest' | 'console';

const SETS: readonly TestSet[] = ['usual', 'full', 'rest', 'console'];

export function testSet(): TestSet {
  const name = process.env['TEST_SET'] ?? 'usual';
  const known = SETS.find((each) => each === name);
  if (known !== undefined) return known;
  throw new Error(`TEST_SET is ${name}: ${SETS.join(', ')} are known`);
}

/** Whether tests that draw at random make many rounds. */
export function isFullSet(): boolean {
  return testSet() !== 'usual';
}

/** Files that only `test:full` runs, by kind: files, and folders with a slash at their end. */
export const FULL_ONLY: Readonly<Record<string, readonly string[]>> = {
  'a day of watched lines on a virtual clock; each fault and the schedule are in npm test': [
    'test/telephony/ari/doctor/line-day.test.ts',
  ],
  'whole gateways, end to end: four others are in npm test': [
    'test/e2e/answer-kill.test.ts',
    'test/e2e/asterisk-kill.test.ts',
    'test/e2e/asterisk-gateway-death.test.ts',
    'test/e2e/asterisk-tls.test.ts',
    'test/e2e/asterisk-workers.test.ts',
    'test/e2e/call-lengths.test.ts',
    'test/e2e/campaign.test.ts',
    'test/e2e/drain-grace.test.ts',
    'test/e2e/gateway-bus.test.ts',
    'test/e2e/equal-names.test.ts',
    'test/e2e/gateway-death.test.ts',
    'test/e2e/hostile-requests.test.ts',
    'test/e2e/left-recordings.test.ts',
    'test/e2e/load-wires.test.ts',
    'test/e2e/model-call.test.ts',
    'test/e2e/pbx-spread.test.ts',
    'test/e2e/resumed-calls.test.ts',
    'test/e2e/resumed-elsewhere.test.ts',
    'test/e2e/web-calls.test.ts',
    'test/e2e/process-split.test.ts',
    'test/e2e/runtime-fallback.test.ts',
    'test/e2e/scarce-processor.test.ts',
    'test/e2e/several-gateways.test.ts',
    'test/e2e/spoken-protocols.test.ts',
    'test/e2e/stall.test.ts',
    'test/e2e/stopped-worker.test.ts',
    'test/e2e/two-gateways.test.ts',
    'test/e2e/webhook-proof.test.ts',
    'test/deploy/backup.test.ts',
    'test/deploy/cluster-processes.test.ts',
    'test/deploy/compose-gateway.test.ts',
    'test/deploy/proxy.test.ts',
  ],
  'why calls ended, over whole providers and services: callers and good calls are in npm test': [
    'test/call/why/asterisk-faults.test.ts',
    'test/call/why/line-faults.test.ts',
    'test/call/why/service-faults.test.ts',
    'test/call/why/unclear-ends.test.ts',
  ],
  'accuracy figures of the recogniser and of turn-taking': [
    'test/speech/stt/pocketsphinx/bad-lines.test.ts',
    'test/speech/stt/pocketsphinx/confidence.test.ts',
    'test/speech/stt/pocketsphinx/digit-strings.test.ts',
    'test/speech/stt/pocketsphinx/human-speech.test.ts',
    'test/speech/stt/pocketsphinx/unexpected-speech.test.ts',
    'test/pipeline/turn/hums.test.ts',
    'test/pipeline/turn/listeners.test.ts',
    'test/pipeline/real-speech.test.ts',
    'test/demo/recognition.test.ts',
  ],
  'measures of time, memory and load': [
    'test/bench/',
    'test/cluster/remote-event-latency.test.ts',
    'test/runtime/process-load.test.ts',
    'test/soak/soak.test.ts',
    'test/peers/peer.test.ts',
  ],
  'an hour of audio': [
    'test/audio/tones/dtmf-talk-off.test.ts',
    'test/pipeline/recording-hour.test.ts',
  ],
  'calls with real speech, and calls that examine a PBX': [
    'test/call/examination/examination-call.test.ts',
    'test/call/examination/examination-refusals.test.ts',
    'test/call/session/spoken-calls.test.ts',
  ],
  'databases and disks that are old, shared or full': [
    'test/store/db/retry-counts-migration.test.ts',
    'test/store/db/shared-server.test.ts',
    'test/store/files/full-disk.test.ts',
  ],
  'an S3 service that starts in 13 s': ['test/store/files/s3-ceph.test.ts'],
  'campaigns whose dials fail or whose provider is away': [
    'test/campaign/dial-faults.test.ts',
    'test/campaign/provider-wait.test.ts',
  ],
  'processes that are killed, stopped and started': [
    'test/cluster/worker-supervisor.test.ts',
    'test/runtime/event-loop-watchdog.test.ts',
    'test/store/shared/redis-pub-sub.test.ts',
    'test/scripts/setup-beside.test.ts',
    'test/store/db/clock-skew.test.ts',
    'test/store/embedded/process-supervisor.test.ts',
    'test/store/open.test.ts',
    'test/store/runs/limit-over-processes.test.ts',
  ],
  'tables of many thousand rows': [
    'test/store/runs/run-counts.test.ts',
    'test/store/runs/run-search-speed.test.ts',
  ],
  'native code under sanitizers': ['test/runtime/native-fuzz.test.ts'],
};

/** Tests that drive a browser. */
const IN_BROWSER = /from '\.\/(browser|firefox)\.ts'/;

const fullOnly: readonly string[] = Object.values(FULL_ONLY).flat();
/** What a test imports that makes more rounds in the full set. */
const RANDOM = /from '(fast-check|\S+\/(rounds|\S*contract|mutations)\.ts)'/;

/** Test files that do not run in `set`. */
export function leftOut(set: TestSet = testSet()): string[] {
  const textOf = (path: string): string => readFileSync(path, 'utf8');
  const isInBrowser = (path: string): boolean =>
    path.startsWith('test/console/') && IN_BROWSER.test(textOf(path));
  if (set === 'console') return testFiles().filter((path) => !isInBrowser(path));
  if (set === 'full') return [];
  if (set === 'usual') return testFiles().filter((path) => isFullOnly(path) || isInBrowser(path));
  return testFiles().filter(
    (path) => !isInBrowser(path) && !isFullOnly(path) && !RANDOM.test(textOf(path)),
  );
}

function isFullOnly(path: string): boolean {
  return fullOnly.some((each) => (each.endsWith('/') ? path.startsWith(each) : path === each));
}

/** From the project's root. */
export function testFiles(): string[] {
  return readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts') && !path.startsWith('oracles/'))
    .map((path) => `test/${path}`);
}
