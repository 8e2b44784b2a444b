// The order of test files: those that take longest first, so that no worker ends with one of them while the others have
// nothing left. What takes how long is known from the list alone: a fresh clone has no record of an earlier run.

import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** From 20 s up, each list with the longest first. */
export const LONG = [
  // In the workers of `unit`.
  'speech/stt/pocketsphinx/bad-lines',
  'speech/stt/pocketsphinx/unexpected-speech',
  'pipeline/turn/listeners',
  'telephony/parsers-fuzz',
  'call/session/spoken-calls',
  'store/open',
  'store/embedded/process-supervisor',
  'cluster/worker-supervisor',
  'campaign/dial-faults',
  'speech/stt/pocketsphinx/human-speech',
  'speech/stt/pocketsphinx/confidence',
  // In those of `waits`.
  'e2e/equal-names',
  'e2e/campaign',
  'e2e/answer-kill',
  'e2e/stored-version',
  'e2e/process-split',
  'e2e/asterisk-tls',
  // In those of `calls`.
  'e2e/workers',
  'e2e/call-lengths',
  'e2e/drain-grace',
  'e2e/runtime-fallback',
  'e2e/stall',
  'e2e/model-call',
  'e2e/stopped-worker',
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
