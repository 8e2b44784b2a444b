// The report of a self-test of runtime/ for the operator: one warning and a gauge for each feature that does not work on
// this Node as it should, and was replaced by its plain fallback.

import type { Log } from '../log.ts';
import { runtimeFallback } from '../metrics/metrics.ts';

export type RuntimeFeature =
  | 'shared-reads'
  | 'direct-sockets'
  | 'native-kernels'
  | 'thread-priority'
  | 'gc-tuning'
  | 'event-loop-watchdog'
  | 'listen-handle';

/** What a self-test found wrong; undefined: the feature works, or is not present on this platform. */
export type Fault = string | undefined;

/** The `code` of the warning. */
export const RUNTIME_FALLBACK = 'RUNTIME_FALLBACK';

/** Called once for each feature, after its self-test. */
export function reportSelfTest(log: Log, feature: RuntimeFeature, fault: Fault): void {
  runtimeFallback.set({ feature }, fault === undefined ? 0 : 1);
  if (fault === undefined) return;
  log.warn(
    { code: RUNTIME_FALLBACK, feature, fault },
    'a runtime feature failed its self-test, the plain way replaces it',
  );
}
