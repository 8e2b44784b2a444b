import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { l16, l16Wide } from '../../../src/codec/l16.ts';
import { Depacketizer } from '../../../src/pipeline/receive/depacketizer.ts';
import { sine } from '../../audio/sine.ts';

function start(codec = l16) {
  const heard: { atMs: number; samples: Int16Array }[] = [];
  const decoder = new Depacketizer({
    codec,
    sink: (frame, atMs) => heard.push({ atMs, samples: Int16Array.from(frame) }),
  });
  return { decoder, heard, values: () => heard.map(({ samples }) => samples[79]) };
}

function packet(value: number, samples = 160): Uint8Array {
  const payload = new Uint8Array(2 * samples);
  l16.encode(new Int16Array(samples).fill(value), payload);
  return payload;
}

describe('the caller’s packets', () => {
  it('become frames at the media time of their arrival', () => {
    const { decoder, heard } = start();
    decoder.push(packet(1), 0, 120);
    decoder.push(packet(2), 20, 140);
    expect(heard.map(({ atMs }) => atMs)).toEqual([100, 120]);
  });

  it('of any size become frames of 20 ms', () => {
    const { decoder, values } = start();
    decoder.push(packet(1, 240), 0, 30);
    decoder.push(packet(2, 240), 30, 60);
    expect(values()).toEqual([1, 1, 2]);
  });

  it('of any sizes give their samples in order, none twice and none lost', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(fc.oneof(fc.constant([80, 80, 80, 80]), sizes), (packets) => {
        const { decoder, heard } = start();
        const said: number[] = [];
        for (const count of packets) {
          const pcm = Int16Array.from({ length: count }, (_, i) => (said.length + i) % 30_000);
          const payload = new Uint8Array(2 * count);
          l16.encode(pcm, payload);
          decoder.push(payload, said.length / 8, (said.length + count) / 8);
          said.push(...pcm);
        }
        const whole = said.length - (said.length % 160);
        expect(heard.flatMap(({ samples }) => [...samples])).toEqual(said.slice(0, whole));
      }),
    );
  });

  it('at 16 kHz are heard at 8 kHz', () => {
    const { decoder, heard } = start(l16Wide);
    for (let nth = 0; nth < 10; nth++) decoder.push(packet(1_000, 320), nth * 20, nth * 20 + 20);
    expect(heard.length).toBe(10);
    expect(heard.at(-1)?.samples[79]).toBeCloseTo(1_000, -1);
  });

  it('at 16 kHz sound the same after a pause of the network in the middle of a word', () => {
    const pcm = sine({ hz: 440, rateHz: 16_000, count: 50 * 320, amplitude: 8_000 });
    const [steady, stalled] = [0, 300].map((stallMs) => {
      const { decoder, heard } = start(l16Wide);
      for (let nth = 0; nth < 50; nth++) {
        const payload = new Uint8Array(640);
        l16Wide.encode(pcm.subarray(nth * 320, (nth + 1) * 320), payload);
        decoder.push(payload, nth * 20, nth * 20 + 20 + (nth < 25 ? 0 : stallMs));
      }
      return heard.flatMap(({ samples }) => [...samples]);
    });
    expect(steady).toHaveLength(50 * 160);
    expect(stalled).toEqual(steady);
  });

  it('out of order are put in order', () => {
    const { decoder, values } = start();
    decoder.push(packet(1), 0, 20);
    decoder.push(packet(3), 40, 60);
    decoder.push(packet(2), 20, 61);
    decoder.push(packet(4), 60, 80);
    expect(values()).toEqual([1, 2, 3, 4]);
    expect(decoder.concealed).toBe(0);
  });

  it('that are missing are concealed by what was said, fading, and blended into what comes', () => {
    const { decoder, heard, values } = start();
    decoder.push(packet(1_000), 0, 20);
    decoder.push(packet(2_000), 60, 80);
    expect(values()).toEqual([1_000]);
    decoder.tick(150);
    expect(heard.length).toBe(4);
    const [, first, second, real] = values();
    expect(first).toBeGreaterThan(second ?? 0);
    expect(second).toBeGreaterThan(100);
    expect(real).toBeCloseTo(2_000, -2);
    expect(heard.at(-1)?.samples[159]).toBe(2_000);
    expect(decoder.concealed).toBe(2);
  });

  it('that the far end misses are empty in a stream without timestamps, and are concealed', () => {
    const { decoder, heard, values } = start();
    const empty = new Uint8Array(0);
    decoder.push(empty, Number.NaN, 0);
    decoder.push(packet(1_000), Number.NaN, 20);
    decoder.push(empty, Number.NaN, 40);
    decoder.push(empty, Number.NaN, 60);
    decoder.push(packet(2_000), Number.NaN, 80);
    expect(heard.map(({ atMs }) => atMs)).toEqual([0, 20, 40, 60]);
    expect(values()[1]).toBeGreaterThan(100);
    expect(decoder.concealed).toBe(2);
    decoder.push(empty, 100, 100);
    decoder.push(packet(2_000), Number.NaN, 120);
    expect(decoder.concealed).toBe(2);
  });

  it('after a long gap are heard without delay, after silence', () => {
    const { decoder, heard, values } = start();
    decoder.push(packet(1_000), 0, 20);
    decoder.push(packet(2_000), 220, 240);
    expect(heard.length).toBe(12);
    expect(
      values()
        .slice(1, 11)
        .every((value) => value === 0),
    ).toBe(true);
    expect(heard.at(-1)?.atMs).toBe(220);
  });

  it('after a very long gap jump in media time instead of flooding it with silence', () => {
    const { decoder, heard } = start();
    decoder.push(packet(1), 0, 20);
    decoder.push(packet(2), 60_000, 60_020);
    expect(heard.length).toBe(27);
    expect(heard.at(-1)?.atMs).toBe(60_000);
  });

  it('too long to wait are heard in their place before one that waits behind them', () => {
    const { decoder, heard } = start();
    decoder.push(packet(1), 0, 20);
    decoder.push(packet(3), 100, 40);
    decoder.push(packet(2, 560), 30, 50);
    const samples = heard.flatMap((frame) => [...frame.samples]);
    expect(samples.slice(240 + 80, 800).every((sample) => sample === 2)).toBe(true);
    expect(samples.slice(800)).toEqual(Array.from({ length: 160 }, () => 3));
    expect(decoder.late).toBe(0);
  });

  it('that come twice or too late are counted and dropped', () => {
    const { decoder, values } = start();
    decoder.push(packet(1), 0, 20);
    decoder.push(packet(2), 20, 40);
    decoder.push(packet(2), 20, 41);
    decoder.push(packet(3), 40, 60);
    decoder.push(packet(1), 0, 61);
    expect(values()).toEqual([1, 2, 3]);
    expect([decoder.duplicates, decoder.late]).toEqual([1, 1]);
  });

  it('of a stream that starts again are heard', () => {
    const { decoder, values } = start();
    decoder.push(packet(1), 100_000, 20);
    decoder.push(packet(2), 0, 40);
    decoder.push(packet(3), 20, 60);
    expect(values()).toEqual([1, 2, 3]);
  });

  it('without timestamps are one after the other', () => {
    const { decoder, values } = start();
    for (let nth = 1; nth <= 3; nth++) decoder.push(packet(nth), Number.NaN, nth * 20);
    expect(values()).toEqual([1, 2, 3]);
  });

  it('stamped by a wall clock that trembles are neither cut nor stretched', () => {
    const { decoder, heard } = start();
    for (let nth = 0; nth < 200; nth++) {
      decoder.push(packet(nth), nth * 20 + ([0, 7, -6, 13, 2][nth % 5] ?? 0), nth * 20 + 20);
    }
    expect(heard.length).toBe(200);
    expect(decoder.concealed).toBe(0);
  });

  it('keep their media time through a burst after a stall', () => {
    const { decoder, heard } = start();
    for (let nth = 0; nth < 100; nth++) decoder.push(packet(1), nth * 20, nth * 20 + 20);
    for (let nth = 100; nth < 150; nth++) decoder.push(packet(1), nth * 20, 3_020);
    for (let nth = 150; nth < 200; nth++) decoder.push(packet(1), nth * 20, nth * 20 + 20);
    for (let nth = 0; nth < 200; nth++) expect(heard[nth]?.atMs).toBeCloseTo(nth * 20, 5);
  });

  it('in any disorder give whole frames, and nothing is thrown', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 400 }), fc.integer({ min: 1, max: 900 }))),
        (packets) => {
          const { decoder, heard } = start();
          let nowMs = 0;
          for (const [at, samples] of packets) {
            nowMs += 13;
            decoder.push(packet(1, samples), at * 10, nowMs);
            decoder.tick(nowMs);
          }
          expect(heard.every(({ samples }) => samples.length === 160)).toBe(true);
          expect(heard.every(({ atMs }) => Number.isFinite(atMs))).toBe(true);
        },
      ),
    );
  });
});
