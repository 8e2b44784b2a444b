import { describe, expect, it } from 'vitest';
import { pcma, pcmu } from '../../src/codec/g711.ts';
import { l16, l16Wide } from '../../src/codec/l16.ts';
import { codecByName } from '../../src/codec/registry.ts';

describe('codecByName', () => {
  it.each([
    ['PCMU', pcmu],
    ['pcmu', pcmu],
    ['PCMU/8000', pcmu],
    ['PCMA', pcma],
    ['L16', l16],
    ['L16/8000', l16],
    ['L16/16000', l16Wide],
  ])('finds %s', (name, codec) => {
    expect(codecByName(name)).toBe(codec);
  });

  it.each(['', 'GSM', 'L16/44100', 'OPUS/44100', '__proto__'])(
    'refuses %j with CODEC_UNKNOWN',
    (name) => {
      expect(() => codecByName(name)).toThrow(
        expect.objectContaining({ code: 'CODEC_UNKNOWN', facts: { name } }),
      );
    },
  );
});
