// Reports a self-test of runtime/ to the operator: one warning and a gauge for each feature that does not work on this
// Node and was replaced by its plain fallback.

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

/** Fault that a self-test found. Undefined: the feature works, or is not present on this platform. */
export type Fault = string | undefined;

/** Value of `code` in the warning. */
export const RUNTIME_FALLBACK = 'RUNTIME_FALLBACK';

/** Reports a feature's self-test. Called once for each feature. */
export function reportSelfTest(log: Log, feature: RuntimeFeature, fault: Fault): void {
  runtimeFallback.set({ feature }, fault === undefined ? 0 : 1);
  if (fault === undefined) return;
  log.warn(
    { code: RUNTIME_FALLBACK, feature, fault },
    'a runtime feature failed its self-test, the plain way replaces it',
  );
}
