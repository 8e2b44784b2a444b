import { describe, expect, it } from 'vitest';
import { loadVadKernel } from '../../src/audio/vad/vad-loader.ts';
import { hasOpus } from '../../src/codec/opus.ts';
import { loadAddon } from '../../src/runtime/native-kernels.ts';
import { benchAudio } from './audio.ts';

describe('the audio benchmark', () => {
  it('gives a time for every codec, resampler and kernel', () => {
    const figures = benchAudio(100);
    const kernels = new Set([loadVadKernel().name, 'wasm', 'portable']);
    const sets = (loadAddon()?.function('vadInstructions')() ?? -1) + 1;
    const others = 1 + 3 + 1; // mixing, keys, concealment
    const opus = hasOpus() ? 3 * 2 : 0;
    const vad = 2 * kernels.size + 2 * sets;
    expect(Object.keys(figures)).toHaveLength(5 * 2 + 5 * 2 + others + opus + vad);
    for (const [name, us] of Object.entries(figures)) {
      expect(us, name).toBeGreaterThan(0);
      expect(us, name).toBeLessThan(100_000);
    }
  });
});
