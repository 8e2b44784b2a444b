import { describe, expect, it } from 'vitest';
import { SlidingDeadline } from '../../src/std/sliding-deadline.ts';
import { FakeClock } from '../fakes/fake-clock.ts';

function rig() {
  const clock = new FakeClock();
  const due: number[] = [];
  const deadline = new SlidingDeadline(clock, () => due.push(clock.monotonicMs()));
  return { clock, due, deadline };
}

describe('a sliding deadline', () => {
  it('is due once, after the time that was set last', () => {
    const { clock, due, deadline } = rig();
    for (let i = 0; i < 10; i++) {
      deadline.set(100);
      clock.advance(30);
    }
    expect([due, deadline.isSet]).toEqual([[], true]);
    clock.advance(1_000);
    expect([due, deadline.isSet, clock.timers]).toEqual([[370], false, 0]);
  });

  it('may be brought forward', () => {
    const { clock, due, deadline } = rig();
    deadline.set(1_000);
    deadline.set(100);
    clock.advance(2_000);
    expect(due).toEqual([100]);
  });

  it('has one timer however often it is put off, and none once it is cleared', () => {
    const { clock, due, deadline } = rig();
    for (let i = 0; i < 50; i++) deadline.set(100 + i);
    expect(clock.timers).toBe(1);
    deadline.clear();
    clock.advance(1_000);
    expect([due, clock.timers, deadline.isSet]).toEqual([[], 0, false]);
  });

  it('can be set again when it is due', () => {
    const clock = new FakeClock();
    const due: number[] = [];
    const deadline: SlidingDeadline = new SlidingDeadline(clock, () => {
      due.push(clock.monotonicMs());
      if (due.length < 3) deadline.set(10);
    });
    deadline.set(10);
    clock.advance(100);
    expect(due).toEqual([10, 20, 30]);
  });
});
