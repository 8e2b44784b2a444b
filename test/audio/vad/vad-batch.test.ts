// The queue of windows, on a kernel that is no network: it says what it was given.

import { describe, expect, it } from 'vitest';
import { batchedVad } from '../../../src/audio/vad/vad-batch.ts';
import {
  allSlots,
  BATCH_MAX,
  INPUT_SAMPLES,
  STREAMS_MAX,
  type VadKernel,
} from '../../../src/audio/vad/vad-kernel.ts';
import { vadWindows } from '../../../src/metrics/metrics.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { Ear } from './vad-fixture.ts';

/** Gives a window's last sample back, and keeps what each call brought. */
class Echo implements VadKernel {
  readonly name = 'portable';
  readonly instructions = 'base';
  readonly windows = new Int16Array(BATCH_MAX * INPUT_SAMPLES);
  readonly slots = new Int32Array(BATCH_MAX);
  readonly probabilities = new Float32Array(BATCH_MAX);
  readonly free = allSlots();
  readonly calls: { slots: number[]; contexts: number[] }[] = [];
  readonly cleared: number[] = [];

  clear(slot: number): void {
    this.cleared.push(slot);
  }

  hear(count: number): void {
    const at = (nth: number, sample: number) => this.windows[nth * INPUT_SAMPLES + sample] ?? 0;
    const all = Array.from({ length: count }, (_, nth) => nth);
    for (const nth of all) this.probabilities[nth] = at(nth, INPUT_SAMPLES - 1);
    this.calls.push({
      slots: [...this.slots.subarray(0, count)],
      contexts: all.map((nth) => at(nth, 31)),
    });
  }
}

const ALONE = 8;

function windowOf(value: number): Int16Array {
  return new Int16Array(256).fill(value);
}

function rig(streams: number) {
  const clock = new FakeClock();
  const kernel = new Echo();
  const model = batchedVad(kernel, clock);
  const ears = Array.from({ length: streams }, () => new Ear(model));
  const ear = (nth: number) => ears[nth] ?? new Ear(model);
  return { clock, kernel, model, ears, ear };
}

describe('a window', () => {
  it('is processed at once while few streams are open', () => {
    const { ear, kernel, clock } = rig(ALONE);
    ear(0).push(windowOf(5), 32);
    expect(ear(0).told).toEqual([{ probability: 5, endMs: 32 }]);
    expect(kernel.calls).toHaveLength(1);
    expect(clock.timers).toBe(0);
  });

  it('waits 5 ms for those of other streams, and is processed with them in one call', () => {
    const { ear, kernel, clock } = rig(ALONE + 1);
    ear(0).push(windowOf(5), 32);
    clock.advance(3);
    ear(1).push(windowOf(6), 36);
    clock.advance(1.9);
    expect(kernel.calls).toEqual([]);
    clock.advance(0.1);
    expect(kernel.calls).toHaveLength(1);
    expect(ear(0).told).toEqual([{ probability: 5, endMs: 32 }]);
    expect(ear(1).told).toEqual([{ probability: 6, endMs: 36 }]);
    expect(clock.timers).toBe(0);
  });

  it('runs at once when a full batch of the kernel has arrived', () => {
    const { ears, kernel, clock } = rig(BATCH_MAX);
    for (const [nth, ear] of ears.entries()) ear.push(windowOf(nth));
    expect(kernel.calls.map(({ slots }) => slots.length)).toEqual([BATCH_MAX]);
    expect(ears.map(({ told }) => told[0]?.probability)).toEqual([...ears.keys()]);
    expect(clock.timers).toBe(0);
  });

  it('is processed after the one before of its stream, with that one’s end', () => {
    const { ear, kernel, clock } = rig(ALONE + 1);
    for (const value of [1, 2, 3]) ear(0).push(windowOf(value), value);
    ear(1).push(windowOf(9));
    clock.advance(5);
    expect(kernel.calls.map(({ slots }) => slots.length)).toEqual([2, 1, 1]);
    expect(kernel.calls.map(({ contexts }) => contexts[0])).toEqual([0, 1, 2]);
    expect(ear(0).told.map(({ endMs }) => endMs)).toEqual([1, 2, 3]);
  });

  it('is processed before its stream is reset, and the next one without its end', () => {
    const { ear, kernel, clock } = rig(ALONE + 1);
    const opened = kernel.cleared.length;
    ear(0).push(windowOf(7));
    ear(0).reset();
    expect(ear(0).told).toHaveLength(1);
    expect(kernel.cleared).toHaveLength(opened + 1);
    ear(0).push(windowOf(8));
    clock.advance(5);
    expect(kernel.calls[1]?.contexts).toEqual([0]);
  });

  it('that is skipped is not analysed, and the next one includes its end', async () => {
    const { ear, kernel } = rig(1);
    vadWindows.reset();
    ear(0).push(windowOf(1));
    ear(0).skip(windowOf(2));
    ear(0).push(windowOf(3));
    expect(ear(0).told.map(({ probability }) => probability)).toEqual([1, 3]);
    expect(kernel.calls.map(({ contexts }) => contexts)).toEqual([[0], [2]]);
    expect((await vadWindows.get()).values).toMatchObject([
      { labels: { outcome: 'heard' }, value: 2 },
      { labels: { outcome: 'skipped' }, value: 1 },
    ]);
  });

  it('of a stream that was closed is not processed, nor in the next stream in its place', () => {
    const { ear, kernel, clock, model } = rig(ALONE + 2);
    ear(0).push(windowOf(7));
    ear(0).close();
    const next = new Ear(model);
    next.push(windowOf(8));
    clock.advance(5);
    expect(kernel.calls.map(({ slots }) => slots.length)).toEqual([1]);
    expect(ear(0).told).toEqual([]);
    expect(next.told.map(({ probability }) => probability)).toEqual([8]);
  });

  it('that waits is processed first if so many streams close that none waits any more', () => {
    const { ear, kernel } = rig(ALONE + 1);
    ear(0).push(windowOf(1));
    ear(8).close();
    ear(0).push(windowOf(2));
    expect(kernel.calls).toHaveLength(2);
    expect(ear(0).told.map(({ probability }) => probability)).toEqual([1, 2]);
  });
});

describe('a listener', () => {
  const listen = (model: ReturnType<typeof rig>['model'], hear: () => void) => {
    const broken: unknown[] = [];
    const stream = model.open({ onProbability: hear, onBroken: (error) => broken.push(error) });
    return { stream, broken };
  };

  it('that throws gets no more results, and the others still get theirs', () => {
    const { ear, clock, model } = rig(ALONE);
    const bug = new Error('a bug in one call');
    let told = 0;
    const sick = listen(model, () => {
      told++;
      throw bug;
    });
    for (let step = 0; step < 2; step++) {
      sick.stream.push(windowOf(1), 0);
      ear(0).push(windowOf(2));
      clock.advance(5);
    }
    expect(told).toBe(1);
    expect(sick.broken).toEqual([bug]);
    expect(ear(0).told).toHaveLength(2);
  });

  it('may close streams, its own and another', () => {
    const { ear, clock, model } = rig(ALONE);
    const mine = listen(model, () => {
      mine.stream.close();
      ear(0).close();
    });
    mine.stream.push(windowOf(1), 0);
    ear(0).push(windowOf(2));
    ear(1).push(windowOf(3));
    clock.advance(5);
    expect(mine.broken).toEqual([]);
    expect(ear(0).told).toEqual([]);
    expect(ear(1).told).toHaveLength(1);
  });

  it('may push, and what it pushed is processed', () => {
    const { ear, clock, model } = rig(ALONE);
    const mine = listen(model, () => ear(0).push(windowOf(4)));
    mine.stream.push(windowOf(1), 0);
    ear(1).push(windowOf(3));
    clock.advance(5);
    expect(ear(0).told.map(({ probability }) => probability)).toEqual([4]);
    expect(ear(1).told.map(({ probability }) => probability)).toEqual([3]);
  });
});

describe('streams', () => {
  it('are opened and closed 10,000 times in the same memory, and no more than 2,048 at once', () => {
    const { model } = rig(0);
    for (let i = 0; i < 10_000; i++) new Ear(model).close();
    const held = Array.from({ length: 100 }, () => new Ear(model));
    for (let i = 0; i < 10_000; i++) new Ear(model).close();
    for (const ear of held) ear.close();
    const all = Array.from({ length: STREAMS_MAX }, () => new Ear(model));
    const full = expect.objectContaining({ code: 'QUEUE_FULL' });
    expect(() => new Ear(model)).toThrow(full);
    all[7]?.close();
    all[7]?.close();
    new Ear(model);
    expect(() => new Ear(model)).toThrow(full);
  });

  it('refuse to work once closed, or on another length', () => {
    const { ear } = rig(1);
    expect(() => ear(0).push(new Int16Array(160))).toThrow('256 samples');
    ear(0).close();
    expect(() => ear(0).push(windowOf(1))).toThrow('closed');
    expect(() => ear(0).reset()).toThrow('closed');
  });
});
