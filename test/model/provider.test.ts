import { describe, expect, it } from 'vitest';
import { callStatus, isStatusTransitionAllowed, isTerminal } from '../../src/model/provider.ts';

describe('the status of a call', () => {
  it('goes forward only', () => {
    const order = ['initiated', 'ringing', 'in-progress', 'completed'] as const;
    order.forEach((one, i) => {
      order.forEach((other, j) => {
        expect(isStatusTransitionAllowed(one, other)).toBe(i > j);
      });
    });
  });

  it('follows no end', () => {
    for (const end of callStatus.options.filter(isTerminal)) {
      for (const next of callStatus.options)
        expect(isStatusTransitionAllowed(next, end)).toBe(false);
      expect(isStatusTransitionAllowed(end, 'in-progress')).toBe(true);
    }
  });
});
