// The order of test files: those that take longest first, so that no worker ends with one of them while the others have
// nothing left. What takes how long is known from the list alone: a fresh clone has no record of an earlier run.

import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** From 20 s up, each list with about the longest first. In that of `unit` those that compute take turns with those that wait
 *  for processes of their own. */
export const LONG = [
  // In the workers of `unit`.
  'speech/stt/pocketsphinx/bad-lines',
  'store/open',
  'speech/stt/pocketsphinx/unexpected-speech',
  'call/session/spoken-calls',
  'store/embedded/process-supervisor',
  'speech/stt/pocketsphinx/human-speech',
  'cluster/worker-supervisor',
  'audio/vad/vad',
  'campaign/dial-faults',
  'campaign/dispatcher',
  'call/session/unexplained-silence',
  'telephony/parsers-fuzz',
  'pipeline/turn/listeners',
  'runtime/native-fuzz',
  'speech/stt/pocketsphinx/confidence',
  'api/accounts/auth-routes',
  'store/runs/run-counts',
  'scripts/setup',
  'api/model-configurations/model-configuration-routes',
  'call/start/inbound/asterisk-calls',
  'campaign/provider-wait',
  'audio/tones/dtmf-detector',
  'speech/tts/described/presets',
  'speech/stt/pocketsphinx/pocketsphinx',
  'api/fuzz',
  'store/db/clock-skew',
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
