// The watchdog of the recogniser's thread: what it takes for a hang, and callers that change in its checks.

import { describe, expect, it } from 'vitest';
import { watchThread } from '../../../../src/speech/stt/pocketsphinx/pocketsphinx.ts';
import { HANDLED } from '../../../../src/speech/stt/pocketsphinx/pocketsphinx-messages.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';

function watch(processorMs: () => number | undefined = () => undefined) {
  const clock = new FakeClock();
  const counts = new Int32Array(8);
  const call = { waits: true, check: (): void => undefined };
  const stuckAtMs: number[] = [];
  const of = watchThread({
    clock,
    counts,
    calls: new Map([[1, call]]),
    onStuck: () => stuckAtMs.push(clock.monotonicMs()),
    processorMs,
  });
  return { clock, counts, call, of, stuckAtMs };
}

describe('the watchdog of a recogniser', () => {
  it('takes a thread with work for hung after 3 s without a message handled', () => {
    const { clock, counts, of, stuckAtMs } = watch();
    counts[HANDLED] = 5;
    of.start();
    clock.advance(3_250);
    expect(stuckAtMs).toEqual([3_250]);
  });

  it('gives a thread 20 s for its first message, before which it loads the model', () => {
    const { clock, counts, of, stuckAtMs } = watch();
    of.start();
    clock.advance(19_750);
    expect(stuckAtMs).toEqual([]);
    clock.advance(250);
    expect(stuckAtMs).toEqual([20_000]);
    of.restart();
    clock.advance(10_000);
    counts[HANDLED] = 1;
    clock.advance(3_000);
    expect(stuckAtMs).toEqual([20_000]);
    clock.advance(500);
    expect(stuckAtMs).toHaveLength(2);
  });

  it('counts the processor time of the thread, which a busy machine keeps waiting', () => {
    let processorMs = 100;
    const { clock, counts, of, stuckAtMs } = watch(() => processorMs);
    counts[HANDLED] = 5;
    of.start();
    for (let second = 0; second < 29; second += 1) {
      clock.advance(1_000);
      processorMs += 100;
    }
    expect(stuckAtMs).toEqual([]);
    clock.advance(1_250);
    expect(stuckAtMs).toHaveLength(0);
    processorMs += 100;
    clock.advance(250);
    expect(stuckAtMs).toEqual([30_500]);
  });

  it('takes a thread for hung that neither works nor handles a message for a minute of its own time', () => {
    const { clock, counts, of, stuckAtMs } = watch(() => 100);
    counts[HANDLED] = 5;
    of.start();
    clock.advance(1_000);
    clock.stall(50_000); // This process was stopped.
    clock.advance(58_000);
    expect(stuckAtMs).toEqual([]);
    clock.advance(1_000);
    expect(stuckAtMs).toHaveLength(1);
  });

  it('has one timer, whatever its calls do in a check', () => {
    const { clock, of, call } = watch();
    call.check = () => of.start();
    of.start();
    clock.advance(1_000);
    expect(clock.timers).toBe(1);
    call.check = () => {
      of.settle();
      of.start();
    };
    clock.advance(1_000);
    expect(clock.timers).toBe(1);
    call.check = () => {
      call.waits = false;
      of.settle();
    };
    clock.advance(1_000);
    expect(clock.timers).toBe(0);
  });

  it('has none once it was closed in a check', () => {
    const { clock, of, call } = watch();
    call.check = () => of.close();
    of.start();
    clock.advance(1_000);
    of.start();
    expect(clock.timers).toBe(0);
  });
});
