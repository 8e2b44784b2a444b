// What the recordings of many calls cost a process, in real time and on the real disk: processor time of
// all threads, system calls, memory. Both sides of every call speak the whole time.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Recorder } from '../../src/pipeline/recorder.ts';
import { systemClock } from '../../src/std/clock.ts';
import { systemRandom } from '../../src/std/random.ts';
import { LocalFileStore } from '../../src/store/files/local-file-store.ts';

export interface RecordingsCost {
  calls: number;
  /** Processor time of 1,000 calls in percent of one core: all threads, user and system. */
  cpuPercentOf1000Calls: number;
  /** Part of the event loop's thread in it. */
  loopPercentOf1000Calls: number;
  /** By call and second. */
  writes: number;
  contextSwitches: number;
  rssPerCallKb: number;
}

const FRAME_MS = 20;
const TICKS_PER_SECOND = 100;
const PAGE_KB = 4;

/** Linux only. Lasts `seconds`, and one more to warm up. */
export async function benchRecordings(of: {
  calls: number;
  seconds: number;
}): Promise<RecordingsCost> {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-recordings-'));
  const files = new LocalFileStore(folder, { clock: systemClock, random: systemRandom });
  const rssBefore = rssKb();
  const recorders: Recorder[] = [];
  for (let nth = 0; nth < of.calls; nth++) {
    const file = await files.create(`recordings/${nth}.wav`);
    const onFault = (error: Error): void => {
      throw error;
    };
    recorders.push(new Recorder({ file, onFault }));
  }
  await talk(recorders, 0, 2_000);
  const before = reading();
  await talk(recorders, 2_000, of.seconds * 1_000);
  const after = reading();
  const rss = rssKb();
  const endMs = 2_000 + of.seconds * 1_000;
  await Promise.all(recorders.map((recorder) => recorder.close(endMs)));
  rmSync(folder, { recursive: true });
  const callSeconds = of.calls * of.seconds;
  return {
    calls: of.calls,
    cpuPercentOf1000Calls: (100_000 * (after.cpuS - before.cpuS)) / callSeconds,
    loopPercentOf1000Calls: (100_000 * (after.loopCpuS - before.loopCpuS)) / callSeconds,
    writes: (after.writes - before.writes) / callSeconds,
    contextSwitches: (after.switches - before.switches) / callSeconds,
    rssPerCallKb: (rss - rssBefore) / of.calls,
  };
}

/** Calls that began at different times have their blocks at different times. */
function talk(recorders: readonly Recorder[], fromMs: number, lengthMs: number): Promise<void> {
  const frame = Int16Array.from({ length: 160 }, (_none, i) => (i * 397) % 9_000);
  const startAt = performance.now();
  let doneMs = 0;
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      for (; doneMs + FRAME_MS <= performance.now() - startAt; doneMs += FRAME_MS) {
        for (const [nth, recorder] of recorders.entries()) {
          const atMs = fromMs + doneMs + (nth % 50) * FRAME_MS;
          recorder.caller(frame, atMs);
          recorder.agent(frame, frame.length, atMs);
          recorder.tick(atMs + FRAME_MS);
        }
      }
      if (doneMs < lengthMs) return;
      clearInterval(timer);
      resolve();
    }, FRAME_MS);
  });
}

function reading(): { cpuS: number; loopCpuS: number; writes: number; switches: number } {
  const { user, system } = process.cpuUsage();
  const writes = Number(/syscw: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
  return { cpuS: (user + system) / 1e6, loopCpuS: loopCpuS(), writes, switches: switches() };
}

function loopCpuS(): number {
  const stat = readFileSync(`/proc/self/task/${process.pid}/stat`, 'utf8');
  const fields = stat.split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

function switches(): number {
  let count = 0;
  for (const thread of readdirSync('/proc/self/task')) {
    const status = readFileSync(`/proc/self/task/${thread}/status`, 'utf8');
    for (const [, switched] of status.matchAll(/ctxt_switches:\s+(\d+)/g))
      count += Number(switched);
  }
  return count;
}

function rssKb(): number {
  return Number(readFileSync('/proc/self/statm', 'utf8').split(' ')[1]) * PAGE_KB;
}
