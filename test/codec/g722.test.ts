import { expect, it } from 'vitest';
import { createG722 } from '../../src/codec/g722.ts';
import { codecByName } from '../../src/codec/registry.ts';
import { encode, material } from './g722-contract.ts';

it('has a state per codec: each call gets its own', () => {
  const first = codecByName('G722');
  expect(codecByName('g722/8000')).not.toBe(first);
  const pcm = material().subarray(8_000, 8_320);
  const fresh = encode(pcm, createG722());
  expect(encode(pcm, first)).toEqual(fresh);
  expect(encode(pcm, first)).not.toEqual(fresh);
});

it('has 20 ms in a frame of 160 bytes', () => {
  const codec = createG722();
  expect(codec).toMatchObject({ rateHz: 16_000, frameBytes: 160 });
  expect(codec.samplesIn(new Uint8Array(160))).toBe(320);
});
