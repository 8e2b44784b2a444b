import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createGatedAudio } from '../../../src/speech/stt/gated-audio.ts';

function run() {
  const sent: number[][] = [];
  const audio = createGatedAudio((samples) => void sent.push([...samples]));
  let next = 0;
  /** Samples that count up. */
  const push = (count: number) => {
    audio.push(Int16Array.from({ length: count }, () => next++ % 30_000));
  };
  return { audio, sent, push };
}

describe('gated audio', () => {
  it('sends nothing before speech begins', () => {
    const { push, sent } = run();
    for (let i = 0; i < 100; i++) push(160);
    expect(sent).toEqual([]);
  });

  it('begins with the last 500 ms, in order', () => {
    const { audio, push, sent } = run();
    for (let i = 0; i < 60; i++) push(160);
    audio.start();
    expect(sent).toEqual([Array.from({ length: 4_000 }, (_, i) => 5_600 + i)]);
  });

  it('sends 100 ms at a time, and the rest at the end', () => {
    const { audio, push, sent } = run();
    audio.start();
    for (let i = 0; i < 7; i++) push(160);
    audio.stop();
    expect(sent.map((part) => part.length)).toEqual([800, 320]);
  });

  it('sends a part of a batch when it is asked for, and goes on', () => {
    const { audio, push, sent } = run();
    audio.start();
    for (let i = 0; i < 3; i++) push(160);
    audio.flush();
    audio.flush();
    for (let i = 0; i < 5; i++) push(160);
    expect(sent.map((part) => part.length)).toEqual([480, 800]);
    expect(sent.flat()).toEqual(Array.from({ length: 1_280 }, (_, i) => i));
  });

  it('does not send again what was sent', () => {
    const { audio, push, sent } = run();
    push(160);
    audio.start();
    push(160);
    audio.stop();
    push(160);
    audio.start();
    expect(sent.flat()).toEqual(Array.from({ length: 480 }, (_, i) => i));
  });

  it('loses nothing of speech and keeps the order, for frames of any size', () => {
    const step = fc.oneof(fc.nat(5_000), fc.constantFrom('start' as const, 'stop' as const));
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const { audio, push, sent } = run();
        let total = 0;
        const take = (count: number) => {
          push(count);
          total += audio.open ? count : 0;
        };
        const actions = { start: () => audio.start(), stop: () => audio.stop() };
        for (const each of steps) typeof each === 'number' ? take(each) : actions[each]();
        audio.stop();
        const all = sent.flat();
        expect(all.length).toBeGreaterThanOrEqual(total);
        expect(all.every((value, i) => i === 0 || value !== all[i - 1])).toBe(true);
        expect(sent.every((part) => part.length <= 4_000)).toBe(true);
      }),
    );
  });
});
