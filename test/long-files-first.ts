// The order of test files: those that take longest first, so that no worker ends with one of them while the others have
// nothing left. What takes how long is known from the list alone: a fresh clone has no record of an earlier run.

import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** From 20 s up, each list with about the longest first. In that of `unit` those that compute take turns with those that wait
 *  for processes of their own. */
export const LONG = [
  // In the workers of `unit`.
  'speech/stt/pocketsphinx/bad-lines',
  'store/embedded/process-supervisor',
  'speech/stt/pocketsphinx/unexpected-speech',
  'store/open',
  'call/session/spoken-calls',
  'cluster/worker-supervisor',
  'pipeline/turn/listeners',
  'campaign/dial-faults',
  'speech/stt/pocketsphinx/human-speech',
  'campaign/dispatcher',
  'telephony/parsers-fuzz',
  'telephony/provider-contract/provider-contract',
  'runtime/native-fuzz',
  'speech/stt/pocketsphinx/confidence',
  'pipeline/recording-hour',
  // In those of `waits`.
  'e2e/equal-names',
  'e2e/campaign',
  'e2e/answer-kill',
  'e2e/hostile-requests',
  'e2e/webhook-proof',
  'e2e/asterisk-tls',
  'e2e/process-split',
  'e2e/stored-version',
  // In those of `calls`.
  'e2e/workers',
  'e2e/call-lengths',
  'e2e/drain-grace',
  'e2e/stall',
  'e2e/runtime-fallback',
  'e2e/model-call',
  'e2e/spoken-protocols',
  'e2e/kill',
  'e2e/stopped-worker',
  'e2e/asterisk-kill',
];

export class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const usual = await super.sort(files);
    const order = ({ project }: TestSpecification): number => project.config.sequence.groupOrder;
    // Equal ones keep their places.
    return usual.sort((one, other) => order(one) - order(other) || place(one) - place(other));
  }
}

function place({ moduleId }: TestSpecification): number {
  const found = LONG.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
  return found < 0 ? LONG.length : found;
}
