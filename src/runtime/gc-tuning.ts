// GC tuning: how often V8 runs garbage collection of the whole heap. It marks everything that lives, for tenths of a
// second with hundreds of calls, and takes processor time and nearest memory from them meanwhile.

import { setFlagsFromString } from 'node:v8';
import type { Fault } from './self-test-report.ts';

/** V8 of Node 20 to 25. V8 does not list its flags, and reports an unknown one only on stderr, so the flag is
 *  set only for versions that scripts/test-node-versions.mjs has tested. */
const TESTED_MAJORS = { from: 11, to: 14 } as const;

/** All garbage is collected when the heap is three times what lived after the last time. By itself the engine does it
 *  at a third more while calls come, which is every few seconds: twice instead of 16 to 19 times while a thousand
 *  came. With them 90 MB live, so that it may be 0.2 MB more a call. For all heaps that grow from now on. A fault:
 *  nothing was changed. */
export function tuneGarbageCollection(version = process.versions.v8): Fault {
  const major = Number.parseInt(version, 10);
  if (!(major >= TESTED_MAJORS.from && major <= TESTED_MAJORS.to)) {
    return `V8 ${version} is not one of those that were tested`;
  }
  setFlagsFromString('--heap-growing-percent=200');
  return undefined;
}
