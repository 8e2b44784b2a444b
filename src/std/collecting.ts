// How often the engine collects all of its garbage. A collection marks everything that lives, for tenths of a
// second with hundreds of calls, and takes processor time and nearest memory from them meanwhile.

import { setFlagsFromString } from 'node:v8';

/** All garbage is collected when the heap is three times what lived after the last time. By itself the engine does it
 *  at a third more while calls come, which is every few seconds: 2 to 4 times instead of 10 to 16 while a thousand
 *  came, for 20 to 40 kB of memory a call. For all heaps of the process that grow from now on. */
export function collectSeldom(): void {
  setFlagsFromString('--heap-growing-percent=200');
}
