import { expect, it } from 'vitest';
import { StallMeter } from '../../src/std/clock.ts';

/** A clock whose timers run when the test says so: a process that goes on reads before it runs its timers. */
function begin() {
  let nowMs = 1_000;
  let due: () => void = () => undefined;
  const meter = new StallMeter({
    monotonicMs: () => nowMs,
    after: (_, run) => {
      due = run;
    },
  });
  return {
    meter,
    pass: (ms: number) => {
      nowMs += ms;
    },
    beat: () => due(),
  };
}

it('a process that was suspended detects it at its first read, for five seconds', () => {
  const { meter, pass, beat } = begin();
  for (let n = 0; n < 8; n++) {
    pass(250);
    expect(meter.latest()).toBeUndefined();
    beat();
  }
  pass(8_250);
  expect(meter.latest()).toEqual({ endMs: 11_250, ms: 8_000 });
  pass(10);
  beat();
  expect(meter.latest()).toEqual({ endMs: 11_250, ms: 8_000 });
  for (let n = 0; n < 20; n++) {
    pass(250);
    beat();
  }
  expect(meter.latest()).toBeUndefined();
});

it('a busy process was not suspended', () => {
  const { meter, pass, beat } = begin();
  for (let n = 0; n < 20; n++) {
    pass(250 + 480);
    expect(meter.latest()).toBeUndefined();
    beat();
  }
});

it('each time counts by itself', () => {
  const { meter, pass, beat } = begin();
  pass(3_250);
  expect(meter.latest()?.ms).toBe(3_000);
  pass(2_250);
  beat();
  expect(meter.latest()).toEqual({ endMs: 6_500, ms: 2_000 });
});
