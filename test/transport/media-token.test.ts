import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../src/std/random.ts';
import { createMediaTokens, workerOfToken } from '../../src/transport/media-token.ts';
import { FakeClock } from '../fakes/fake-clock.ts';

function tokens(tokensMax = 100) {
  const clock = new FakeClock();
  return { clock, tokens: createMediaTokens({ clock, random: systemRandom, tokensMax }) };
}

describe('a media token', () => {
  it('is good once, for its run', () => {
    const { tokens: table } = tokens();
    const token = table.issue('7', 60_000);
    expect(table.redeem('8', token)).toBe(false);
    expect(table.redeem('7', token)).toBe(true);
    expect(table.redeem('7', token)).toBe(false);
    expect(table.size).toBe(0);
  });

  it('fits into a path and cannot be guessed', () => {
    const { tokens: table } = tokens();
    const issued = Array.from({ length: 100 }, (_, run) => table.issue(String(run), 60_000));
    expect(new Set(issued).size).toBe(100);
    for (const token of issued) expect(token).toMatch(/^[\w-]{43}$/);
  });

  it('names the worker that has issued it, and is good there only', () => {
    const clock = new FakeClock();
    const [two, three] = [2, 3].map((worker) =>
      createMediaTokens({ clock, random: systemRandom, worker }),
    );
    const token = two?.issue('7', 60_000) ?? '';
    expect(token).toMatch(/^w2-[\w-]{43}$/);
    expect(workerOfToken(token)).toBe(2);
    expect(three?.redeem('7', token)).toBe(false);
    expect(two?.redeem('7', token)).toBe(true);
    for (const none of ['', 'w', 'w-', 'w2', 'W2-a', 'aw2-', 'w2222-']) {
      expect(workerOfToken(none)).toBeUndefined();
    }
  });

  it('stays good when others are tried', () => {
    const { tokens: table } = tokens();
    const token = table.issue('7', 60_000);
    const wrong = ['', 'x', `${token}=`, token.slice(1), token.toLowerCase(), `é${token.slice(1)}`];
    for (const each of wrong) {
      expect(table.redeem('7', each)).toBe(false);
    }
    expect(table.redeem('7', token)).toBe(true);
  });

  it('expires', () => {
    const { clock, tokens: table } = tokens();
    const token = table.issue('7', 60_000);
    clock.advance(60_000);
    expect(table.redeem('7', token)).toBe(false);
  });

  it('replaces the one before', () => {
    const { tokens: table } = tokens();
    const first = table.issue('7', 60_000);
    const second = table.issue('7', 60_000);
    expect(table.redeem('7', first)).toBe(false);
    expect(table.redeem('7', second)).toBe(true);
  });

  it('is refused once too many are valid, until some expire', () => {
    const { clock, tokens: table } = tokens(2);
    table.issue('1', 1_000);
    table.issue('2', 60_000);
    expect(() => table.issue('3', 1_000)).toThrow(expect.objectContaining({ code: 'QUEUE_FULL' }));
    clock.advance(1_000);
    table.issue('3', 1_000);
    expect(table.size).toBe(2);
  });
});
