// Every object that a frame leaves behind is one that the collector must look after, and while it does, no call
// is served: at a thousand calls a hundred thousand frames a second go in and out.

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import type { FrameMemory } from './frame-memory.ts';

/** Numbers that are no whole ones are boxed on their way between functions, 16 bytes each: a frame's
 *  level, and what the beat leaves for all. A string or an object a frame is more: one message of three frames as a
 *  string took 790 bytes a frame, and media times with fractions 60 more than those without. */
const FRAME_BYTES_MAX = 100;
/** No collection in the midst of what is counted. */
const FLAGS = ['--expose-gc', '--min-semi-space-size=64', '--max-semi-space-size=64'];

it.each(['twilio', 'plivo'])(
  'allocates nothing for a frame of a steady call of %s but boxed numbers, in and out',
  async (provider) => {
    const program = fileURLToPath(new URL('./frame-memory.ts', import.meta.url));
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [...FLAGS, '--import', 'tsx', program, provider],
      { timeout: 100_000 },
    );
    const memory = JSON.parse(stdout) as FrameMemory; // The program's one line.
    expect(memory.framesIn).toBe(60 * 28 * 100);
    expect(memory.framesOut).toBeGreaterThanOrEqual(memory.framesIn);
    expect(memory.inBytes).toBeLessThan(FRAME_BYTES_MAX);
    expect(memory.outBytes).toBeLessThan(FRAME_BYTES_MAX);
  },
  120_000,
);
