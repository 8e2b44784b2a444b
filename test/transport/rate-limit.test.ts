import { describe, expect, it } from 'vitest';
import { RateLimiter } from '../../src/transport/rate-limit.ts';
import { FakeClock } from '../fakes/fake-clock.ts';

const RATE = { messagesPerSecondMax: 100, bytesPerSecondMax: 10_000 };

/** Messages of `bytes` that are taken at this moment, of at most 5,000. */
function taken(limiter: RateLimiter, bytes: number): number {
  for (let count = 0; count < 5_000; count++) if (!limiter.allows(bytes)) return count;
  return 5_000;
}

/** A connection on which messages of 100 bytes came for a minute, 20 in a second, and then none for `silentMs`. */
function after(silentMs: number) {
  const clock = new FakeClock();
  const limiter = new RateLimiter(clock, RATE);
  const send = (ms: number) => {
    for (let i = 0; i < ms / 50; i++) {
      clock.advance(50);
      expect(limiter.allows(100)).toBe(true);
    }
  };
  send(60_000);
  clock.advance(silentMs);
  return { clock, limiter, send };
}

it('a second brings what the rate allows and no more', () => {
  const clock = new FakeClock();
  const limiter = new RateLimiter(clock, RATE);
  expect(taken(limiter, 1)).toBe(100);
  const bytes = new RateLimiter(clock, RATE);
  expect(taken(bytes, 1_000)).toBe(10);
});

it('who sends as much as allowed in each second saves nothing', () => {
  const clock = new FakeClock();
  const limiter = new RateLimiter(clock, RATE);
  for (let second = 0; second < 60; second++) {
    for (let i = 0; i < 100; i++) expect(limiter.allows(1)).toBe(true);
    clock.advance(1_000);
  }
  for (let i = 0; i < 100; i++) expect(limiter.allows(1)).toBe(true);
  expect(limiter.allows(1)).toBe(false);
});

describe.each([
  ['that was silent for 12 s', 12_000],
  ['that was silent for a minute', 60_000],
])('a connection %s', (_, silentMs) => {
  it('may send at once what it did not', () => {
    const { limiter } = after(silentMs);
    for (let i = 0; i < silentMs / 50; i++) expect(limiter.allows(100)).toBe(true);
  });
});

it('a backlog may come in parts, and in the time of the next messages', () => {
  const { limiter, send } = after(30_000);
  for (let i = 0; i < 300; i++) expect(limiter.allows(100)).toBe(true);
  send(1_000);
  for (let i = 0; i < 300; i++) expect(limiter.allows(100)).toBe(true);
});

it('what is caught up has a limit, in messages and in bytes, and is caught up once', () => {
  const { clock, limiter } = after(3_600_000);
  expect(taken(limiter, 1)).toBe(1_200);
  clock.advance(1_000);
  expect(taken(limiter, 1)).toBe(100);
  expect(taken(after(3_600_000).limiter, 1_000)).toBe(120);
});

it('a connection without a message has saved nothing', () => {
  const clock = new FakeClock();
  const limiter = new RateLimiter(clock, RATE);
  clock.advance(60_000);
  expect(taken(limiter, 1)).toBe(100);
});
