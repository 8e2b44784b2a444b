import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { QueueMonitor } from '../../../../src/telephony/ari/media/ari-media-session.ts';

const FRAME = 160;

function watched(): { watch: QueueMonitor; pass: (ms: number) => void } {
  let nowMs = 0;
  const watch = new QueueMonitor(() => nowMs);
  watch.begin(FRAME);
  const pass = (ms: number): void => {
    nowMs += ms;
  };
  return { watch, pass };
}

describe('what Asterisk has still to play', () => {
  it('is asked for once in half a second of audio, however it is cut', () => {
    const { watch } = watched();
    let asks = 0;
    for (let frames = 0; frames < 500; frames += 2) {
      if (watch.sent(2 * FRAME) && watch.poll()) asks += 1;
    }
    expect(asks).toBeGreaterThanOrEqual(16);
    watch.begin(FRAME);
    expect(watch.sent(24 * FRAME)).toBe(false);
    expect(watch.sent(FRAME)).toBe(true);
  });

  it('is what was queued when it was asked, and what was sent since', () => {
    const { watch } = watched();
    watch.sent(25 * FRAME);
    watch.poll();
    watch.sent(3 * FRAME);
    expect(watch.answered(10)).toBe(13 * 20);
  });

  it('is less the time that the answer took: it may have been given at its begin', () => {
    const { watch, pass } = watched();
    watch.sent(25 * FRAME);
    watch.poll();
    pass(50);
    watch.sent(2 * FRAME);
    expect(watch.answered(10)).toBe(12 * 20 - 50);
    watch.poll();
    pass(1_000);
    expect(watch.answered(3)).toBe(0);
  });

  it('is not known from an answer to what was asked before the queue was emptied', () => {
    const { watch } = watched();
    watch.sent(100 * FRAME);
    watch.poll();
    watch.flushed();
    watch.sent(FRAME);
    watch.poll();
    expect(watch.answered(90)).toBeUndefined();
    expect(watch.answered(1)).toBe(20);
  });

  it('is not known from an unrequested answer', () => {
    expect(watched().watch.answered(90)).toBeUndefined();
  });

  it('is not asked for where there is no queue', () => {
    const { watch } = watched();
    watch.begin(undefined);
    expect(watch.sent(1_000 * FRAME)).toBe(false);
  });

  it('is not asked for any more by one that does not answer', () => {
    const { watch } = watched();
    let asked = 0;
    for (let nth = 0; nth < 1_000; nth++) if (watch.poll()) asked += 1;
    expect(asked).toBe(16);
  });

  it('is never negative and never absurd, for any input', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true }), fc.nat(1_000), (queued, frames) => {
        const { watch } = watched();
        watch.poll();
        watch.sent(frames * FRAME);
        const ms = watch.answered(queued) ?? Number.NaN;
        expect(ms).toBeGreaterThanOrEqual(frames * 20);
        expect(ms).toBeLessThanOrEqual(60_000);
      }),
    );
  });
});
