import { expect, it } from 'vitest';
import { FakeClock, settle } from '../fakes/fake-clock.ts';
import { Caller } from './caller.ts';
import { MachinePace } from './machine-pace.ts';

function setUp() {
  const clock = new FakeClock();
  const now = { slowness: 1 };
  const said: number[] = [];
  const pace = new MachinePace(clock, () => now.slowness);
  pace.onSlow = (slowness) => said.push(slowness);
  return { clock, now, said, pace };
}

it('a wait lasts in proportion to what the machine does, also if that changes meanwhile', async () => {
  const { clock, now, pace } = setUp();
  pace.watch();
  const outcomes: string[] = [];
  const waits = () =>
    pace.within(10_000, 'too late', new Promise<never>(() => undefined)).catch((error: unknown) => {
      outcomes.push(`${String(error)} ${clock.monotonicMs()}`);
    });
  const first = waits();
  clock.advance(10_000);
  await first;
  now.slowness = 8;
  clock.advance(5_000);
  const second = waits();
  clock.advance(79_800);
  await settle();
  expect(outcomes).toEqual(['Error: too late 10000']);
  clock.advance(200);
  await second;
  expect(outcomes[1]).toBe('Error: too late 95000');
  expect(pace.scaled(100)).toBe(800);
});

it('a machine that is free again counts as slow for half a minute; who waits is told once, and of twice as much', () => {
  const { clock, now, said, pace } = setUp();
  pace.watch();
  expect([pace.isSlow, said]).toEqual([false, []]);
  for (const slowness of [3, 4, 7, 1, 1, 1, 1, 1]) {
    now.slowness = slowness;
    clock.advance(5_000);
  }
  expect(pace.isSlow).toBe(true);
  clock.advance(5_000);
  expect([pace.slowness, pace.worst, said]).toEqual([1, 7, [3, 7]]);
});

it('what is measured of this machine is a factor', () => {
  const pace = new MachinePace(new FakeClock());
  pace.watch();
  expect(pace.slowness).toBeGreaterThanOrEqual(1);
  expect(pace.slowness).toBeLessThan(1_000);
});

it('a person on a slow machine leaves the agent more time to go on, and talks over it while it speaks', () => {
  const loud = new Int16Array(160).fill(1_000);
  const silent = new Int16Array(160);
  const line = { afterMs: 700, text: 'yes', samples: new Int16Array(0), keys: '1' };
  const saidAfterMs = (when: 'answer' | 'interrupt', slowness: number) => {
    const caller = new Caller([{ ...line, when }], { slowness });
    let ms = 0;
    const hear = (frame: Int16Array, frames: number): boolean => {
      for (let nth = 0; nth < frames; nth += 1) {
        ms += 20;
        if (caller.hear(frame) !== undefined) return true;
      }
      return false;
    };
    const isSaid = hear(loud, 15) || hear(silent, 50) || hear(loud, 10) || hear(silent, 300);
    return isSaid ? ms : undefined;
  };
  expect(saidAfterMs('answer', 1)).toBe(1_000);
  expect(saidAfterMs('answer', 3)).toBe(3_600);
  expect(saidAfterMs('interrupt', 1)).toBe(720);
  expect(saidAfterMs('interrupt', 3)).toBe(1_320);
});
