// Whether the agent's voice in the microphone is noticed, and what is done against it.

import { describe, expect, it } from 'vitest';
import { EchoCheck } from '../../../src/console/audio/echo-check.ts';

const AGENT = 0.1;

/** Reports of a second in which the agent speaks; what was proposed. */
function second(check: EchoCheck, microphone: number) {
  return Array.from({ length: 10 }, () => check.take(microphone, AGENT)).filter(Boolean);
}

describe('the echo check', () => {
  it('is over after a second of the agent’s voice that is not in the microphone', () => {
    const check = new EchoCheck();
    for (let i = 0; i < 100; i++) expect(check.take(0.2, 0)).toBeUndefined();
    expect(check.isOver).toBe(false);
    expect(second(check, 0.01)).toEqual([]);
    expect([check.isOver, check.remedy]).toEqual([true, 'none']);
  });

  it('tries a loopback, then closes the microphone while the agent speaks', () => {
    const check = new EchoCheck();
    expect(second(check, 0.05)).toEqual(['loopback']);
    expect(second(check, 0.05)).toEqual(['half-duplex']);
    expect(second(check, 0.05)).toEqual([]);
    expect(check.remedy).toBe('half-duplex');
  });

  it('is content with a loopback that helps', () => {
    const check = new EchoCheck();
    expect(second(check, 0.05)).toEqual(['loopback']);
    expect(second(check, 0.01)).toEqual([]);
    expect([check.isOver, check.remedy]).toEqual([true, 'loopback']);
  });

  it('does not take a caller for echo who speaks at times, nor the noise of a room', () => {
    const check = new EchoCheck();
    const proposed = [0.2, 0, 0.3, 0.002, 0, 0.3, 0.2, 0, 0.001, 0.2].map((microphone) =>
      check.take(microphone, AGENT),
    );
    expect(proposed.filter(Boolean)).toEqual([]);
    expect(check.isOver).toBe(true);
  });
});
