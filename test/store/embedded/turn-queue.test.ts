// Whose turn it is at the embedded engine.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Traffic, TurnQueue } from '../../../src/store/embedded/turn-queue.ts';

/** All of them at `nowMs`. */
function drain(queue: TurnQueue<string>, nowMs: number): (string | undefined)[] {
  return Array.from({ length: queue.length }, () => queue.take(nowMs));
}

describe('the queue for the embedded engine', () => {
  it('serves calls before the API and the API before maintenance, each in the order of arrival', () => {
    const queue = new TurnQueue<string>();
    queue.push('maintenance', 'maintenance', 0);
    queue.push('api 1', 'api', 1);
    queue.push('call 1', 'calls', 2);
    queue.push('api 2', 'api', 3);
    queue.push('call 2', 'calls', 4);
    expect(drain(queue, 5)).toEqual(['call 1', 'call 2', 'api 1', 'api 2', 'maintenance']);
    expect(queue.take(5)).toBeUndefined();
  });

  it('serves what has waited for long in the order of arrival with calls', () => {
    const queue = new TurnQueue<string>();
    queue.push('maintenance', 'maintenance', 0);
    queue.push('api', 'api', 1_800);
    queue.push('call', 'calls', 1_900);
    expect(drain(queue, 2_050)).toEqual(['maintenance', 'api', 'call']);
  });

  it('serves every waiting connection in time, however many calls come', () => {
    const traffics = fc.constantFrom<Traffic>('api', 'maintenance');
    fc.assert(
      fc.property(traffics, fc.integer({ min: 1, max: 40 }), (traffic, turnMs) => {
        const queue = new TurnQueue<string>();
        queue.push('patient', traffic, 0);
        for (let nowMs = 0; ; nowMs += turnMs) {
          // Calls keep the engine busy without a pause.
          queue.push('call', 'calls', nowMs);
          if (queue.take(nowMs) === 'patient') return;
          expect(nowMs).toBeLessThan(2_100);
        }
      }),
    );
  });
});
