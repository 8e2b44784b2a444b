import { describe, expect, it } from 'vitest';
import { OverloadControl } from '../../../src/call/start/call-intake.ts';
import {
  callLoad,
  loopDelaySeconds,
  overloaded,
  processLoad,
} from '../../../src/metrics/metrics.ts';
import type { LoadLimits } from '../../../src/runtime/process-load.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { quietLog } from '../../fakes/quiet-log.ts';

/** A process that is as busy as the test says. */
function start(limits: Partial<LoadLimits> = {}) {
  const clock = new FakeClock();
  const { log, lines } = quietLog('warn');
  const load = { loop: 0, cpu: 0 };
  const calls = { talking: 0, all: 0 };
  const felt: number[] = [];
  const admission = new OverloadControl({
    clock,
    log,
    meter: { sample: () => ({ ...load }) },
    limits: { load: 0.85, delayMs: 40, ...limits },
    counts: () => calls,
    onLoop: (busy) => felt.push(busy),
  });
  const talk = (count: number): void => {
    calls.talking = count;
    calls.all = count;
  };
  return { clock, load, calls, felt, admission, lines, talk };
}

/** Timers come so late for a while. */
function late(clock: FakeClock, { ms, seconds }: { ms: number; seconds: number }): void {
  for (let samples = 0; samples < 20 * seconds; samples++) {
    clock.stall(50 + ms);
    clock.advance(0);
  }
}

async function value(gauge: { get(): Promise<{ values: { value: number }[] }> }): Promise<number> {
  return (await gauge.get()).values[0]?.value ?? Number.NaN;
}

describe('a process takes calls', () => {
  it('while it is not too busy, be it its loop or its processors', () => {
    for (const part of ['loop', 'cpu'] as const) {
      const { clock, load, admission, talk } = start();
      talk(100);
      load[part] = 0.8;
      clock.advance(5_000);
      expect(admission.isAccepting).toBe(true);
      load[part] = 0.9;
      clock.advance(5_000);
      expect(admission.isAccepting).toBe(false);
      load[part] = 0.8;
      clock.advance(3_000);
      expect(admission.isAccepting).toBe(true);
    }
  });

  it('and reports each second how busy its loop was, under any limit', () => {
    const { clock, load, felt } = start();
    load.cpu = 0.9;
    for (const loop of [0.2, 0.7, 0.4]) {
      load.loop = loop;
      clock.advance(1_000);
    }
    expect(felt).toEqual([0.2, 0.7, 0.4]);
  });

  it('up to what they will add: of a thousand that ring at once, not all', () => {
    const { admission, calls } = start();
    while (calls.all < 1_000 && admission.isAccepting) calls.all += 1;
    expect(calls.all).toBe(340);
  });

  it('by what calls have been seen to cost, and then as many as it carries', async () => {
    const { clock, load, admission, calls, talk } = start();
    const perCall = 0.001;
    for (let second = 0; second < 120; second++) {
      for (let nth = 0; nth < 20 && admission.isAccepting; nth++) calls.all += 1;
      talk(calls.all);
      load.loop = calls.talking * perCall;
      clock.advance(1_000);
    }
    expect(calls.all).toBeGreaterThan(800);
    expect(calls.all).toBeLessThanOrEqual(860); // What it aims at is approached from above.
    expect(await value(callLoad)).toBeCloseTo(perCall, 4);
    expect(admission.isAccepting).toBe(false);
  });

  it('again as soon as some have ended', () => {
    const { clock, load, admission, talk } = start();
    talk(500);
    load.loop = 0.85;
    clock.advance(30_000);
    expect(admission.isAccepting).toBe(false);
    talk(450);
    load.loop = 0.76;
    clock.advance(3_000);
    expect(admission.isAccepting).toBe(true);
  });

  it('in spite of a stall of half a second, and of timers that are late for a moment', () => {
    const { clock, admission, talk } = start();
    talk(100);
    clock.advance(1_000);
    clock.stall(500);
    clock.advance(2_000);
    expect(admission.isAccepting).toBe(true);
    late(clock, { ms: 60, seconds: 2 });
    clock.advance(5_000);
    expect(admission.isAccepting).toBe(true);
  });

  it('not while timers are late for seconds, until they have been on time as long', async () => {
    const { clock, admission, talk } = start();
    talk(100);
    clock.advance(1_000);
    late(clock, { ms: 60, seconds: 3 });
    expect(admission.isAccepting).toBe(false);
    expect(await value(loopDelaySeconds)).toBeCloseTo(0.06);
    late(clock, { ms: 30, seconds: 10 });
    expect(admission.isAccepting).toBe(false); // Not much better.
    clock.advance(2_000);
    expect(admission.isAccepting).toBe(false);
    clock.advance(1_000);
    expect(admission.isAccepting).toBe(true);
  });

  it('whatever the load is, as long as they are few: it is not theirs', () => {
    const { clock, load, admission, calls } = start();
    load.loop = 1;
    late(clock, { ms: 200, seconds: 10 });
    for (; calls.all < 10; calls.all += 1) expect(admission.isAccepting).toBe(true);
    expect(admission.isAccepting).toBe(false);
  });

  it('without a limit where none is set', () => {
    const { clock, load, admission, talk } = start({ load: Infinity, delayMs: Infinity });
    talk(5_000);
    load.loop = 1;
    late(clock, { ms: 500, seconds: 10 });
    expect(admission.isAccepting).toBe(true);
  });
});

describe('the figures of admission', () => {
  it('is in the metrics, and at the limit in the log once a minute', async () => {
    const { clock, load, admission, lines, talk } = start();
    talk(200);
    load.loop = 0.99;
    load.cpu = 0.5;
    clock.advance(59_000);
    expect(await value(overloaded)).toBe(1);
    const parts = (await processLoad.get()).values.map(({ labels, value }) => [labels.part, value]);
    expect(parts).toEqual([
      ['loop', 0.99],
      ['cpu', 0.5],
    ]);
    expect(lines()).toMatchObject([{ msg: 'at the limit: new calls are refused', calls: 200 }]);
    clock.advance(10_000);
    expect(lines()).toHaveLength(2);
    load.loop = 0.1;
    clock.advance(5_000);
    expect(await value(overloaded)).toBe(0);
    admission.stop();
    expect(clock.timers).toBe(0);
  });
});
