import { expect, it } from 'vitest';
import { RateLimiter } from '../../src/transport/rate-limit.ts';
import { FakeClock } from '../fakes/fake-clock.ts';

const RATE = { messagesPerSecondMax: 100, bytesPerSecondMax: 10_000 };

/** Messages of `bytes` that are taken at this moment, of at most 5,000. */
function taken(limiter: RateLimiter, bytes: number): number {
  for (let count = 0; count < 5_000; count++) if (!limiter.allows(bytes)) return count;
  return 5_000;
}

function after(stallMs: number) {
  const clock = new FakeClock();
  const limiter = new RateLimiter(clock, RATE);
  clock.advance(60_000);
  clock.advance(stallMs);
  clock.stalled = { endMs: clock.monotonicMs(), ms: stallMs };
  return { clock, limiter };
}

it('a second brings what the rate allows and no more', () => {
  const clock = new FakeClock();
  const limiter = new RateLimiter(clock, RATE);
  expect(taken(limiter, 1)).toBe(100);
  clock.advance(1_000);
  expect(taken(limiter, 1_000)).toBe(10);
});

it('a burst after the process was suspended is allowed for that time, once', () => {
  const { clock, limiter } = after(8_000);
  expect(taken(limiter, 1)).toBe(900);
  clock.advance(1_000); // Known as a stall still.
  expect(taken(limiter, 1)).toBe(100);
  const next = after(8_000);
  expect(taken(next.limiter, 1_000)).toBe(90);
});

it('a stall excuses a minute at most, and no connection that was not there', () => {
  expect(taken(after(3_600_000).limiter, 0)).toBe(5_000);
  expect(taken(after(3_600_000).limiter, 1_000)).toBe(610);
  const { clock } = after(8_000);
  expect(taken(new RateLimiter(clock, RATE), 1)).toBe(100);
});

it('another stall is excused by itself', () => {
  const { clock, limiter } = after(2_000);
  expect(taken(limiter, 1)).toBe(300);
  clock.advance(3_000);
  clock.stalled = { endMs: clock.monotonicMs(), ms: 1_000 };
  expect(taken(limiter, 1)).toBe(200);
});

it('a burst after a time without a read is allowed for that time, once and for five seconds', () => {
  const unread = (ms: number) => {
    const clock = new FakeClock();
    const limiter = new RateLimiter(clock, RATE);
    clock.advance(60_000);
    limiter.excuse(ms);
    return { clock, limiter };
  };
  const { clock, limiter } = unread(8_000);
  expect(taken(limiter, 1)).toBe(900);
  clock.advance(1_000);
  expect(taken(limiter, 1)).toBe(100);
  const late = unread(8_000);
  late.clock.advance(5_001);
  expect(taken(late.limiter, 1)).toBe(100);
});
