// GC tuning: how often V8 collects the whole heap. A collection marks all live objects, which takes tenths of a second
// with hundreds of calls and competes with them for the processor and its caches.

import { setFlagsFromString } from 'node:v8';
import type { Fault } from './self-test-report.ts';

/** V8 versions of Node 20 to 25. V8 does not list its flags, and reports an unknown one only on stderr, so the flag is
 *  set only for versions that scripts/test-node-versions.mjs has tested. */
const TESTED_MAJORS = { from: 11, to: 14 } as const;

/** Makes V8 collect the whole heap when it is three times what was live after the last collection. V8's default is a
 *  third more while calls arrive, every few seconds: measured 2 instead of 16 to 19 collections while a thousand calls
 *  arrived, with 90 MB live, at up to 0.2 MB more for each call. Affects all heaps that grow afterwards. Returns a
 *  fault if nothing was changed. */
export function tuneGarbageCollection(version = process.versions.v8): Fault {
  const major = Number.parseInt(version, 10);
  if (!(major >= TESTED_MAJORS.from && major <= TESTED_MAJORS.to)) {
    return `V8 ${version} is not one of those that were tested`;
  }
  setFlagsFromString('--heap-growing-percent=200');
  return undefined;
}
