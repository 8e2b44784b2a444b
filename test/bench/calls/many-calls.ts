// What a frame costs when its call is one of many (many-calls-process.ts).

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export interface ManyCallsCost {
  /** Frames that the callers sent and that the agents said in all that was measured. */
  framesIn: number;
  framesOut: number;
  /** Microseconds of a frame of the caller's, from the bytes of its message on; the median second. */
  inMicroseconds: number;
  /** Microseconds of a frame of the agent's, a tick of the call included; the median second. */
  outMicroseconds: number;
}

/** More than the longest measurement on a slow machine. */
const DEADLINE_MS = 100_000;

/** So many calls at a time, up to 50 simulated seconds of each. Both sides speak. The state of ten calls stays in
 *  fast memory; with fewer, the compiler does not get to all of the code. */
export async function benchManyCalls(of: {
  calls: number;
  seconds: number;
}): Promise<ManyCallsCost> {
  const program = fileURLToPath(new URL('./many-calls-process.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--import', 'tsx', program, String(of.calls), String(of.seconds)],
    { timeout: DEADLINE_MS },
  );
  return JSON.parse(stdout) as ManyCallsCost; // The program's one line.
}
