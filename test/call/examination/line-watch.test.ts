// When watched lines are tested: what a test call gives way to, how often, and what is shown of lines. The store is real,
// the test call is not.

import { afterEach, describe, expect, it } from 'vitest';
import { LineWatcher, RETEST_MS } from '../../../src/call/examination/line-watch.ts';
import { registry } from '../../../src/metrics/metrics.ts';
import type { LineSettings, LineTest } from '../../../src/model/line-watch.ts';
import { systemRandom } from '../../../src/std/random.ts';
import { countedStore } from '../../store/counted-store.ts';
import { withStore } from '../../store/engines.ts';
import { runMaker } from '../../store/runs/run-rows.ts';

const MINUTE_MS = 60_000;
const STEP_MS = 5_000;
/** Turns of the event loop after which nothing more begins. */
const TURNS = 4;
const at = withStore();
const sound: LineTest = { fault: null, message: '', delayMs: 80, lossShare: 0, codec: 'PCMU' };
const settings: LineSettings = {
  name: 'main',
  kind: 'trunk',
  number: '+14155550100',
  context: null,
  isEnabled: true,
  intervalMinutes: 30,
  places: 2,
  testsKeys: true,
};
let stop: () => Promise<void> = () => Promise.resolve();
afterEach(() => stop());

/** A gateway with one line; `tested` has the times of its test calls. */
async function watching(found: () => LineTest = () => sound, calls = 0) {
  const { make, configurationId } = await runMaker(at);
  const runs = [];
  for (let nth = 0; nth < calls; nth++) runs.push((await make()).id);
  const { organizationId } = at.owner;
  const line = await at.store.lines.create({ organizationId, configurationId }, settings, 0);
  const tested: number[] = [];
  const state = { takesCalls: true };
  const counted = countedStore(at.store);
  const watcher = new LineWatcher({
    store: counted.store,
    pbxProviders: [],
    takesCalls: () => state.takesCalls,
    test: async () => {
      tested.push(at.clock.now());
      return found();
    },
    clock: at.clock,
    random: systemRandom,
    log: at.log,
  });
  stop = () => watcher.stop();
  watcher.start();
  const answered = async (): Promise<void> => {
    for (let turns = 0; turns < TURNS; turns = counted.isAsked ? 0 : turns + 1) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  /** Lets time pass, while the store is not asked. */
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += STEP_MS) {
      await answered();
      at.clock.advance(STEP_MS);
    }
    await answered();
  };
  return { runs, line, tested, state, pass };
}

async function shown(metric: string): Promise<string[]> {
  const text = await registry.metrics();
  return text.split('\n').filter((each) => each.startsWith(`${metric}{`));
}

describe('the line watch', () => {
  it('tests a line each interval, give or take a tenth, and again a minute after a fault', async () => {
    let test = sound;
    const { tested, pass } = await watching(() => test);
    await pass(100 * MINUTE_MS);
    const gaps = tested.slice(1).map((each, nth) => (each - (tested[nth] ?? 0)) / MINUTE_MS);
    expect(gaps.length).toBeGreaterThanOrEqual(2);
    for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual(27);
    for (const gap of gaps) expect(gap).toBeLessThanOrEqual(33.5);
    test = { ...sound, fault: 'late_audio' };
    await pass(35 * MINUTE_MS);
    const [first = 0, second = 0] = tested.slice(gaps.length + 1);
    expect(second - first).toBeGreaterThanOrEqual(RETEST_MS);
    expect(second - first).toBeLessThanOrEqual(RETEST_MS + 25_000);
  }, 60_000);

  it('gives way to calls of customers, to examinations, and to the end of the gateway', async () => {
    const { runs, line, tested, state, pass } = await watching(() => sound, 2);
    await pass(5 * MINUTE_MS);
    expect(tested).toEqual([]);
    await at.store.runs.patch(runs[0] ?? '', { state: 'completed' });
    const giveBack = await at.store.places.take(`examination ${line.configurationId}`, {
      max: 1,
      ms: 60 * MINUTE_MS,
    });
    await pass(3 * MINUTE_MS);
    expect(tested).toEqual([]);
    await giveBack?.();
    state.takesCalls = false;
    await pass(3 * MINUTE_MS);
    expect(tested).toEqual([]);
    state.takesCalls = true;
    await pass(2 * MINUTE_MS);
    expect(tested).toHaveLength(1);
  }, 60_000);

  it('shows a series of each line, with the remedy while it fails, until it is removed', async () => {
    let test: LineTest = sound;
    const { line, pass } = await watching(() => test);
    await pass(MINUTE_MS);
    const labels = `line="${line.id}",kind="trunk"`;
    expect(await shown('patchbay_line_ok')).toEqual([`patchbay_line_ok{${labels}} 1`]);
    expect(await shown('patchbay_line_delay_seconds')).toEqual([
      `patchbay_line_delay_seconds{${labels}} 0.08`,
    ]);
    expect(await shown('patchbay_line_fault')).toEqual([]);
    test = { ...sound, fault: 'number_unrouted' };
    await pass(35 * MINUTE_MS);
    const [fault = ''] = await shown('patchbay_line_fault');
    expect(fault).toContain(`${labels},fault="number_unrouted",remedy="Add the number`);
    expect(fault).not.toContain('4155550100');
    await at.store.lines.delete(line.configurationId, line.id);
    await pass(MINUTE_MS);
    expect(await shown('patchbay_line_ok')).toEqual([]);
    expect(await shown('patchbay_line_fault')).toEqual([]);
  }, 60_000);
});
