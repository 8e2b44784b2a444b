// The built gateway with calls on it when nothing moves for a while: its own process, or the far ends of all its
// calls.

import { afterEach, beforeEach, expect, it } from 'vitest';
import { LoadClient } from '../load/caller/load-client.ts';
import type { LoadSummary } from '../load/figures/load-summary.ts';
import { loadOptionsOf, pause } from '../load/figures/measure.ts';
import { processFigures } from '../load/figures/process-figures.ts';
import { type LoadTarget, startOwnGateway } from '../load/load-target.ts';

const CALLS = 20;
/** The heap of a fresh process grows by some 70 MB of itself. */
const GROWTH_KB_MAX = 200 * 1_024;
/** A caller hears no gap before frames are this late. */
const LEAD_MS_MIN = 60;

let target: LoadTarget;
let client: LoadClient;

beforeEach(async () => {
  // One process: the one that is stopped is the one that holds the calls.
  target = await startOwnGateway({
    scenario: 'talk',
    workers: 0,
    cores: undefined,
    isSignUpOpen: false,
  });
  client = new LoadClient();
  const options = loadOptionsOf(target, {
    scenario: 'talk',
    calls: CALLS,
    callsPerSecond: 20,
    interruptionsPerSecond: 1,

    leadMs: 80,
    cores: undefined,
    hostilePerSecond: 0,
  });
  await client.ask({ order: 'place', options });
  await pause(3_000); // Everybody speaks.
}, 90_000);

afterEach(async () => {
  client?.stop();
  await target?.stop();
}, 60_000);

it('loses no audio while its process is suspended for 500 ms, counts the gaps and is in time again', async () => {
  const { pid = 0 } = target;
  const before = await gapsTold();
  const summary = await after(pid, 500);
  const gaps = (await gapsTold()) - before;
  expect(summary.underruns).toBeGreaterThanOrEqual(CALLS / 2); // The others were in a pause.
  expect(gaps).toBeGreaterThanOrEqual(CALLS / 2);
  expectNothingLost(summary);
}, 60_000);

it('loses no audio while the far ends take nothing for two seconds', async () => {
  expectNothingLost(await after(client.pid, 2_000));
}, 60_000);

/** What was heard of all calls, the durations only once they had two seconds to recover. */
async function after(pid: number, stillMs: number): Promise<LoadSummary> {
  if (pid <= 0) throw new Error('not a process of its own'); // 0 would be all of ours.
  const { pid: gateway = 0 } = target;
  const { rssKb } = processFigures(gateway);
  process.kill(pid, 'SIGSTOP');
  await pause(stillMs);
  process.kill(pid, 'SIGCONT');
  await pause(2_000);
  await client.ask({ order: 'measure' });
  await pause(2_000);
  await client.ask({ order: 'measured' });
  expect(processFigures(gateway).rssKb - rssKb).toBeLessThan(GROWTH_KB_MAX);
  const { summary } = await client.ask({ order: 'finish' });
  if (summary === undefined) throw new Error('the load process gave no summary');
  return summary;
}

function expectNothingLost(summary: LoadSummary): void {
  const lost = { lostFrames: 0, reorderedFrames: 0, unsentFrames: 0, faults: 0 };
  expect(summary).toMatchObject({ calls: CALLS, refused: 0, dropped: 0, failures: [], ...lost });
  expect(summary.markedFrames).toBeGreaterThan(CALLS * 200);
  expect(summary.latenessP99Ms).toBeLessThan(LEAD_MS_MIN);
}

/** By the gateway's metrics. */
async function gapsTold(): Promise<number> {
  const text = await (await fetch(target.metricsUrl ?? '')).text();
  return Number(/^patchbay_playout_gap_seconds_count(?:\{.*\})? (\d+)$/m.exec(text)?.[1]);
}
