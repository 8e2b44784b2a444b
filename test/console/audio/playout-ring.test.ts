// The page's ring of the agent's audio: delay, underruns, marks bound to samples, clears.

import { describe, expect, it } from 'vitest';
import { PlayoutRing } from '../../../src/console/audio/playout-ring.ts';

const RATE = 16_000;
const QUANTUM = 128;

const samples = (ms: number, value = 16_384) => new Int16Array((RATE * ms) / 1_000).fill(value);

/** Plays quanta until the time is over; how many samples were played. */
function play(ring: PlayoutRing, ms: number): number {
  const output = new Float32Array(QUANTUM);
  let played = 0;
  for (let at = 0; at < (RATE * ms) / 1_000; at += QUANTUM) played += ring.play(output);
  return played;
}

describe('the ring', () => {
  it('begins with 60 ms, and plays what came as it is', () => {
    const ring = new PlayoutRing(RATE);
    ring.write(samples(40));
    expect(play(ring, 8)).toBe(0);
    ring.write(samples(20));
    const output = new Float32Array(QUANTUM);
    expect(ring.play(output)).toBe(QUANTUM);
    expect([...output]).toEqual(Array.from({ length: QUANTUM }, () => 0.5));
  });

  it('plays an end that is shorter than its delay', () => {
    const ring = new PlayoutRing(RATE);
    ring.write(samples(20));
    ring.mark('end');
    play(ring, 120);
    expect(ring.reached()).toEqual([{ name: 'end', atFrame: 320 }]);
  });

  it('reports a mark with the exact sample, in the quantum in which it is played', () => {
    const ring = new PlayoutRing(RATE);
    ring.write(samples(60));
    ring.write(new Int16Array(50));
    ring.mark('one');
    ring.write(samples(60));
    ring.mark('two');
    const reached: string[] = [];
    const output = new Float32Array(QUANTUM);
    for (let quantum = 1; quantum <= 20; quantum++) {
      ring.play(output);
      for (const { name, atFrame } of ring.reached()) {
        reached.push(`${name} ${atFrame}`);
        expect(ring.played - atFrame).toBeLessThan(QUANTUM);
      }
    }
    expect(reached).toEqual(['one 1010', 'two 1970']);
  });

  it('is silent from the quantum after a clear on, and drops its marks', () => {
    const ring = new PlayoutRing(RATE);
    ring.write(samples(500));
    ring.mark('dropped');
    play(ring, 100);
    ring.clear();
    const output = new Float32Array(QUANTUM).fill(1);
    expect(ring.play(output)).toBe(0);
    expect(output.every((sample) => sample === 0)).toBe(true);
    ring.write(samples(100));
    ring.mark('after');
    play(ring, 300);
    expect(ring.reached().map(({ name }) => name)).toEqual(['after']);
  });

  it('waits longer after an underrun in the middle of an utterance, not after its end', () => {
    const ring = new PlayoutRing(RATE);
    ring.write(samples(60));
    play(ring, 100);
    expect([ring.underruns, ring.delayMs]).toEqual([1, 80]);
    ring.write(samples(60));
    expect(play(ring, 8)).toBe(0);
    ring.write(samples(20));
    ring.mark('end');
    play(ring, 200);
    expect([ring.underruns, ring.delayMs]).toEqual([1, 80]);
  });

  it('waits less after ten seconds without an underrun, but never less than 40 ms', () => {
    const ring = new PlayoutRing(RATE);
    ring.write(samples(100));
    for (let s = 0; s < 11; s++) {
      ring.write(samples(1_000));
      play(ring, 1_000);
    }
    expect(ring.delayMs).toBe(50);
    for (let s = 0; s < 40; s++) {
      ring.write(samples(1_000));
      play(ring, 1_000);
    }
    expect(ring.delayMs).toBe(40);
  });

  it('drops the oldest of more than it holds', () => {
    const ring = new PlayoutRing(RATE);
    ring.write(samples(3_000, 1));
    ring.write(samples(3_000, 16_384));
    expect(ring.length).toBe(RATE * 4);
  });
});
