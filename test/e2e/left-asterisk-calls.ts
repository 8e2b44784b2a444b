// Calls at a simulated Asterisk that go on after the death of their process: when their callers hear the agent again, in
// real time.

import { readFileSync } from 'node:fs';
import { expect, vi } from 'vitest';
import { z } from 'zod';
import type { HeardFrame, Phone } from '../fakes/asterisk/phone.ts';

/** On a busy machine, from a kill on: the processes have to start again. */
const SPEECH_MS_MAX = 60_000;
/** A second, longer than the pauses of a sentence. */
const QUIET_FRAMES = 50;
const line = z.object({ msg: z.string(), time: z.union([z.number(), z.string()]) });

const isLoud = ({ pcm }: HeardFrame) => pcm.some((sample) => Math.abs(sample) > 1_000);

/** Something was said to the telephone, and then nothing for a second. */
export function hasHeardOut({ heard }: Phone): boolean {
  return heard.some(isLoud) && !heard.slice(-QUIET_FRAMES).some(isLoud);
}

/** Settles when the caller of a call whose process was just killed hears speech. `killedMs`: how long after this was
 *  called; `connectedMs`: how long after a PBX was connected, by the gateway's log. */
export async function speechAfter(
  { heard }: Phone,
  logFile: string,
): Promise<{ killedMs: number; connectedMs: number }> {
  const { length } = heard;
  const fromMs = Date.now();
  await vi.waitFor(() => expect(heard.slice(length).some(isLoud)).toBe(true), {
    interval: 10,
    timeout: SPEECH_MS_MAX,
  });
  const nowMs = Date.now();
  return { killedMs: nowMs - fromMs, connectedMs: nowMs - lastConnected(logFile) };
}

/** When the last connection to a PBX was opened, by the log. */
function lastConnected(logFile: string): number {
  const times = readFileSync(logFile, 'utf8')
    .split('\n')
    .flatMap((text) => {
      const parsed = line.safeParse(text.startsWith('{') ? JSON.parse(text) : undefined);
      const isIt = parsed.success && parsed.data.msg === 'the PBX is connected';
      return isIt ? [new Date(parsed.data.time).getTime()] : [];
    });
  return times.at(-1) ?? Number.NaN;
}
