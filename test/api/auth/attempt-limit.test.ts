import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FailureLimiter } from '../../../src/api/auth/attempt-limit.ts';
import { codeOf, GatewayError } from '../../../src/errors/gateway-error.ts';
import { clientName } from '../../../src/std/client-address.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

function limitOf(attemptsMax = 2, windowMs = 60_000) {
  const clock = new FakeClock();
  const limit = new FailureLimiter(clock, { attemptsMax, windowMs });
  const take = (name: string): unknown => {
    try {
      limit.count(name);
      return 'taken';
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return [codeOf(error), error.facts['retryAfterS']];
    }
  };
  return { clock, limit, take };
}

describe('an attempt limit', () => {
  it('refuses more than its number within a window, and says when the window ends', () => {
    const { clock, take } = limitOf();
    expect([take('a'), take('a'), take('a')]).toEqual([
      'taken',
      'taken',
      ['TOO_MANY_ATTEMPTS', 60],
    ]);
    clock.advance(59_500);
    expect(take('a')).toEqual(['TOO_MANY_ATTEMPTS', 1]);
    clock.advance(500);
    expect(take('a')).toBe('taken');
  });

  it('counts every name for itself', () => {
    const { take } = limitOf(1);
    expect([take('a'), take('b'), take('a')]).toEqual([
      'taken',
      'taken',
      ['TOO_MANY_ATTEMPTS', 60],
    ]);
  });

  it('does not count what is returned, and resets on demand', () => {
    const { limit, take } = limitOf(1);
    take('a');
    limit.uncount('a');
    limit.uncount('a');
    limit.uncount('nobody');
    expect([take('a'), take('a')]).toEqual(['taken', ['TOO_MANY_ATTEMPTS', 60]]);
    limit.reset('a');
    expect(take('a')).toBe('taken');
  });

  it('keeps ten thousand names, then removes the oldest', () => {
    const { take } = limitOf(1);
    take('first');
    take('second');
    for (let i = 0; i < 9_999; i++) take(`name ${i}`);
    expect(take('first')).toBe('taken');
    expect(take('name 9998')).toEqual(['TOO_MANY_ATTEMPTS', 60]);
  });
});

describe('the name of a client', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:DB8:1:2:ffff::1', '2001:db8:1:2'],
    ['2001:0db8:0001:2::', '2001:db8:1:2'],
    ['::1', '0:0:0:0'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
    ['unknown', 'unknown'],
  ])('of %s is %s', (address, name) => {
    expect(clientName(address)).toBe(name);
  });

  it('is the same for all addresses of a network of 64 bits', () => {
    const group = fc.integer({ min: 0, max: 0xffff }).map((bits) => bits.toString(16));
    const half = fc.array(group, { minLength: 4, maxLength: 4 });
    fc.assert(
      fc.property(half, half, half, (network, one, other) => {
        const [a, b] = [one, other].map((host) => clientName([...network, ...host].join(':')));
        expect(a).toBe(b);
      }),
    );
  });

  it('is a text for any text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(clientName(text)).toBeTypeOf('string');
      }),
    );
  });
});
