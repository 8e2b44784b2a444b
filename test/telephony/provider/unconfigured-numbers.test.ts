import { describe, expect, it } from 'vitest';
import {
  nearestAddress,
  UnconfiguredNumbers,
} from '../../../src/telephony/provider/unconfigured-numbers.ts';

describe('the nearest address of a number that is not configured', () => {
  const addresses = ['+15550100', '+4930123456', '100', 'sip:desk@example.com'];

  it.each([
    ['15550100', '+15550100'],
    ['0015550100', '+15550100'],
    ['5550100', '+15550100'],
    ['030123456', '+4930123456'],
    ['+4930123465', '+4930123456'],
    ['101', null],
    ['8888', null],
    ['', null],
    ['anonymous', null],
  ])('of %j is %j', (dialled, nearest) => {
    expect(nearestAddress(dialled, addresses)).toBe(nearest);
  });

  it('takes no time for a long one', () => {
    expect(nearestAddress('1'.repeat(1_000_000), ['1'.repeat(1_000_000)])).not.toBeNull();
  });
});

describe('numbers that were called and are not configured', () => {
  it('are counted, the last called first, without control characters', () => {
    const numbers = new UnconfiguredNumbers();
    numbers.note({ dialled: '100', nearest: null }, 1_000);
    numbers.note({ dialled: '\u001b[31m200', nearest: null }, 2_000);
    numbers.note({ dialled: '100', nearest: '+100' }, 3_000);
    expect(numbers.list()).toEqual([
      { dialled: '100', nearest: '+100', calls: 2, lastAt: 3_000 },
      { dialled: '?[31m200', nearest: null, calls: 1, lastAt: 2_000 },
    ]);
  });

  it('are twenty at most: the oldest is dropped', () => {
    const numbers = new UnconfiguredNumbers();
    for (let i = 0; i < 30; i++) numbers.note({ dialled: `${i}`, nearest: null }, i);
    expect(numbers.list().map(({ dialled }) => Number(dialled))).toEqual(
      Array.from({ length: 20 }, (_, i) => 29 - i),
    );
  });
});
