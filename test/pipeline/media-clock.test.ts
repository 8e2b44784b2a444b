// The beat of all calls.

import { describe, expect, it } from 'vitest';
import { MediaClock } from '../../src/pipeline/media-clock.ts';
import { FakeClock } from '../fakes/fake-clock.ts';

const idle = { send: () => undefined, receive: () => undefined };
const unexpected = (error: unknown) => expect(error).toBeUndefined();

describe('the media clock', () => {
  it('ticks every 20 ms without drift, whatever the timers do', () => {
    const clock = new FakeClock();
    const ticks: number[] = [];
    const media = new MediaClock(clock);
    const send = (nowMs: number) => {
      ticks.push(nowMs);
      clock.stall(3);
    };
    media.add({ ...idle, send }, unexpected);
    clock.advance(60_000);
    expect(ticks.length).toBeGreaterThanOrEqual(2_999);
    expect(ticks.every((nowMs, nth) => Math.abs(nowMs - 20 * (nth + 1)) < 4)).toBe(true);
  });

  it('does not make up for missed ticks', () => {
    const clock = new FakeClock();
    let ticks = 0;
    new MediaClock(clock).add({ ...idle, send: () => ticks++ }, unexpected);
    clock.stall(1_000);
    clock.advance(0);
    expect(ticks).toBe(1);
    clock.advance(40);
    expect(ticks).toBe(3);
  });

  it('has each call send at the time of its own turn, however long the turns before it took', () => {
    const clock = new FakeClock();
    const media = new MediaClock(clock);
    const late: number[] = [];
    const send = (nowMs: number) => {
      late.push(clock.monotonicMs() - nowMs);
      clock.stall(30);
    };
    // Ten in each of the four moments of 20 ms.
    for (let nth = 0; nth < 40; nth++) media.add({ ...idle, send }, unexpected);
    clock.advance(200);
    // Those of one moment follow one another with the same time.
    expect(Math.max(...late)).toBe(9 * 30);
    expect(late.filter((ms) => ms === 0)).toHaveLength(late.length / 10);
  });

  it('counts as a stall how late the last call of a round has sent', () => {
    const clock = new FakeClock();
    const media = new MediaClock(clock);
    const stalls: number[] = [];
    const send = (_nowMs: number, _strideMs: number, stallMs: number) => void stalls.push(stallMs);
    let isSlow = true;
    media.add({ ...idle, send: () => clock.stall(isSlow ? 120 : 0) }, unexpected);
    media.add({ ...idle, send }, unexpected);
    clock.advance(100);
    isSlow = false;
    clock.advance(1_000);
    expect(stalls.at(-1)).toBeGreaterThanOrEqual(120);
    clock.advance(40_000);
    expect(stalls.at(-1)).toBe(0);
  });

  it('runs one timer, from the first call to the last', () => {
    const clock = new FakeClock();
    const media = new MediaClock(clock);
    const first = media.add(idle, unexpected);
    const second = media.add(idle, unexpected);
    expect(clock.timers).toBe(1);
    first();
    clock.advance(100);
    expect(clock.timers).toBe(1);
    second();
    expect(clock.timers).toBe(0);
  });

  it.each(['send', 'receive'])('gives no turn to one whose %s throws; others go on', (step) => {
    const clock = new FakeClock();
    const media = new MediaClock(clock);
    const thrown: unknown[] = [];
    let others = 0;
    const bug = new Error('a bug in one call');
    const fail = () => {
      throw bug;
    };
    media.add({ ...idle, [step]: fail }, (error) => thrown.push(error));
    media.add({ ...idle, send: () => others++ }, unexpected);
    clock.advance(100);
    expect(thrown).toEqual([bug]);
    expect(others).toBe(5);
  });

  it('gives every call its turn in 20 ms, and never all at once', () => {
    const { clock, turns } = calls(100);
    clock.advance(60_000);
    for (const times of turns) expect(times.length).toBeGreaterThanOrEqual(2_999);
    for (const times of turns) expect(gapsOf(times)).toEqual(new Set([20]));
    expect(mostAtOnce(turns)).toBeLessThanOrEqual(26);
  });

  it.each([40, 80])('gives patient calls a turn in %d ms, the others as before', (strideMs) => {
    const { clock, media, turns, strides } = calls(100, (nth) => nth % 2 === 0);
    for (let ms = 20; ms < strideMs; ms *= 2) media.setLoad(0.9);
    clock.advance(160);
    for (const times of turns) times.length = 0;
    clock.advance(4_000);
    turns.forEach((times, nth) => {
      expect(gapsOf(times)).toEqual(new Set([nth % 2 === 0 ? strideMs : 20]));
      expect(strides[nth]).toBe(nth % 2 === 0 ? strideMs : 20);
    });
    expect(mostAtOnce(turns)).toBeLessThanOrEqual(26);
  });

  it('stays busy until the process is calm, as it is less so by the longer stride', () => {
    const { clock, media, strides } = calls(1, () => true);
    const strideAt = (busy: number) => {
      media.setLoad(busy);
      clock.advance(160);
      return strides[0];
    };
    expect([0.1, 0.49, 0.5, 0.6, 0.25, 0.24, 0.4].map(strideAt)).toEqual([
      20, 20, 40, 40, 40, 20, 20,
    ]);
    expect([0.9, 0.9, 0.9, 0.64, 0.35, 0.34, 0.25, 0.7, 0.2, 0.2].map(strideAt)).toEqual([
      40, 80, 80, 80, 80, 40, 40, 80, 40, 20,
    ]);
  });

  it.each([20, 40, 80])(
    'gives no call two turns at once after a stall, in strides of %d ms',
    (longMs) => {
      const isPatient = (nth: number) => nth % 3 > 0;
      const { clock, media, turns } = calls(50, isPatient);
      for (let ms = 20; ms < longMs; ms *= 2) media.setLoad(0.9);
      clock.advance(400);
      for (const stallMs of [3, 7, 12, 18, 22, 39, 41, 500, 1_000]) {
        for (const times of turns) times.length = 0;
        clock.stall(stallMs);
        clock.advance(0);
        expect(Math.max(...turns.map(({ length }) => length))).toBeLessThanOrEqual(1);
        clock.advance(400);
        turns.forEach((times, nth) => {
          const strideMs = isPatient(nth) ? longMs : 20;
          expect(Math.abs(times.length - 400 / strideMs)).toBeLessThanOrEqual(1);
          expect(Math.max(...gapsOf(times))).toBeLessThanOrEqual(2 * strideMs);
        });
      }
    },
  );

  it.each([20, 40, 80])(
    'queues callers when analysing all takes twice the time there is, in strides of %d ms',
    (strideMs) => {
      const costs = { hearMs: (2 * strideMs) / 160, speakMs: 0.02 };
      const { clock, media, turns, heard } = calls(160, () => true, costs);
      for (let ms = 20; ms < strideMs; ms *= 2) media.setLoad(0.9);
      clock.advance(8_000);
      for (const times of [...turns, ...heard]) times.length = 0;
      clock.advance(8_000);
      const share = heard.flat().length / turns.flat().length;
      expect(share).toBeGreaterThan(0.4);
      expect(share).toBeLessThan(0.6);
      for (const times of turns) expect(Math.max(...gapsOf(times))).toBeLessThan(strideMs + 10);
      for (const times of heard) expect(Math.max(...gapsOf(times))).toBeLessThan(4.5 * strideMs);
    },
  );

  it('delays no call for long, with any number of callers in the queue', () => {
    const { clock, media } = calls(160, () => true, { hearMs: 1, speakMs: 0.02 });
    media.setLoad(0.9);
    media.setLoad(0.9);
    let lastMs = clock.monotonicMs();
    const gaps: number[] = [];
    const look = (): void => {
      gaps.push(clock.monotonicMs() - lastMs);
      lastMs = clock.monotonicMs();
      clock.after(0.1, look);
    };
    look();
    clock.advance(4_000);
    expect(gaps.length).toBeGreaterThan(1_000);
    expect(Math.max(...gaps)).toBeLessThan(4);
  });

  it('analyses each caller again in the slowest process', () => {
    const { clock, media, heard } = calls(160, () => true, { hearMs: 20, speakMs: 0.02 });
    media.setLoad(0.9);
    media.setLoad(0.9);
    clock.advance(20_000);
    for (const times of heard) times.length = 0;
    clock.advance(20_000);
    for (const times of heard) expect(Math.max(...gapsOf(times))).toBeLessThan(5_000);
  });

  it.each([20, 40, 80])(
    'sends for all calls before it analyses the first, in strides of %d ms',
    (longMs) => {
      const clock = new FakeClock();
      const media = new MediaClock(clock);
      let steps: string[] = [];
      for (let nth = 0; nth < 64; nth++) {
        const taker = { send: () => steps.push('send'), receive: () => steps.push('receive') };
        media.add(taker, unexpected, nth % 4 > 0);
      }
      for (let ms = 20; ms < longMs; ms *= 2) media.setLoad(0.9);
      clock.advance(400);
      for (let ms = 0; ms < 80; ms++) {
        steps = [];
        clock.advance(1);
        expect(steps).toEqual([...steps].sort().reverse());
      }
      steps = [];
      clock.stall(200);
      clock.advance(0);
      expect(steps.length).toBe(128);
      expect(steps).toEqual([...steps].sort().reverse());
    },
  );

  it('analyses every caller while it keeps up', () => {
    const { clock, media, turns, heard } = calls(160, () => true, { hearMs: 0.2, speakMs: 0.05 });
    media.setLoad(0.9);
    media.setLoad(0.9);
    clock.advance(8_000);
    expect(heard).toEqual(turns);
  });

  it('keeps the places of calls that come and go', () => {
    const clock = new FakeClock();
    const media = new MediaClock(clock);
    const live = new Map<number, { remove: () => void; times: number[] }>();
    for (let nth = 0; nth < 400; nth++) {
      const times: number[] = [];
      const send = (nowMs: number) => times.push(nowMs);
      live.set(nth, { times, remove: media.add({ ...idle, send }, unexpected) });
      clock.advance(nth % 13);
      const leaving = live.get((nth * 7) % 400);
      if (nth % 3 > 0) leaving?.remove();
      if (nth % 3 > 0) live.delete((nth * 7) % 400);
    }
    clock.advance(1_000);
    for (const { times } of live.values()) expect(gapsOf(times)).toEqual(new Set([20]));
    for (const { remove } of live.values()) remove();
    expect(clock.timers).toBe(0);
  });
});

/** So many calls on a clock, when each had its turns, and those at which it was heard; what they take of the time. */
function calls(
  count: number,
  isPatient: (nth: number) => boolean = () => false,
  { hearMs, speakMs } = { hearMs: 0, speakMs: 0 },
) {
  const clock = new FakeClock();
  const media = new MediaClock(clock);
  const turns: number[][] = [];
  const heard: number[][] = [];
  const strides: number[] = [];
  for (let nth = 0; nth < count; nth++) {
    const times: number[] = [];
    const heardAt: number[] = [];
    turns.push(times);
    heard.push(heardAt);
    const send = (nowMs: number, strideMs: number): void => {
      times.push(nowMs);
      strides[nth] = strideMs;
      clock.stall(speakMs);
    };
    const receive = (nowMs: number): void => {
      heardAt.push(nowMs);
      clock.stall(hearMs);
    };
    media.add({ send, receive }, unexpected, isPatient(nth));
  }
  return { clock, media, turns, heard, strides };
}

function gapsOf(times: readonly number[]): Set<number> {
  return new Set(times.slice(1).map((atMs, nth) => atMs - (times[nth] as number)));
}

function mostAtOnce(turns: readonly number[][]): number {
  const counts = new Map<number, number>();
  for (const atMs of turns.flat()) counts.set(atMs, (counts.get(atMs) ?? 0) + 1);
  return Math.max(...counts.values());
}
