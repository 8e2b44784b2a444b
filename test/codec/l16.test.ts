import { describe, expect, it } from 'vitest';
import { l16, l16Wide } from '../../src/codec/l16.ts';
import { codecContract } from './contract.ts';

codecContract(l16);
codecContract(l16Wide);

describe('L16', () => {
  it('is little endian', () => {
    const payload = new Uint8Array(6);
    expect(l16.encode(Int16Array.of(1, -2, -32_768), payload)).toBe(6);
    expect(Buffer.from(payload).toString('hex')).toBe('0100feff0080');
    const pcm = new Int16Array(3);
    l16.decode(payload, pcm);
    expect([...pcm]).toEqual([1, -2, -32_768]);
  });

  it('drops half a sample at the end', () => {
    const pcm = new Int16Array(2);
    expect(l16.decode(Uint8Array.of(0x34, 0x12, 0x56), pcm)).toBe(1);
    expect([...pcm]).toEqual([0x1234, 0]);
  });

  it('reads a payload that starts at an odd byte', () => {
    const payload = new Uint8Array(Uint8Array.of(9, 0x34, 0x12).buffer, 1);
    const pcm = new Int16Array(1);
    l16.decode(payload, pcm);
    expect(pcm[0]).toBe(0x1234);
  });
});
