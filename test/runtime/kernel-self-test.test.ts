// The self-test of the kernels, and what serves where it fails: the portable builds, with the same samples.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { VadKernel } from '../../src/audio/vad/vad-kernel.ts';
import { compiledVadKernel, isSound } from '../../src/audio/vad/vad-loader.ts';
import { portableVadKernel } from '../../src/audio/vad/vad-portable.ts';
import { kernelFault } from '../../src/runtime/kernel-self-test.ts';
import {
  loadKernels,
  loadWasm,
  type NativeKernels,
  nativeFolders,
} from '../../src/runtime/native-kernels.ts';
import { vadWeights } from '../audio/vad/vad-fixture.ts';

function wasm(): NativeKernels {
  const kernels = loadWasm();
  if (kernels === undefined) throw new Error('native/kernels.wasm is committed, yet not there');
  return kernels;
}

/** The committed kernels, but for one function. */
function wasmBut(name: string, broken: (...values: number[]) => number): NativeKernels {
  const kernels = wasm();
  return {
    ...kernels,
    function: (wanted) => (wanted === name ? broken : kernels.function(wanted)),
  };
}

describe('the self-test of the kernels', () => {
  it('finds the committed ones sound', () => {
    expect(kernelFault(wasm())).toBeUndefined();
  });

  it.each([
    ['g722Encode', () => 0, 'wasm: encoded samples are not the known ones'],
    ['g722Decode', () => 0, 'wasm: decoded samples are not the known ones'],
    ['resampleBlock', () => 160, 'wasm: resampled samples are not the known ones'],
    ['resampleBlock', () => 1e9, 'wasm: resampled samples are not the known ones'],
    ['g722Begin', trap, 'wasm: trap'],
  ])('finds %s broken', (name, broken, fault) => {
    expect(kernelFault(wasmBut(name, broken))).toBe(fault);
  });

  it('passes over builds that fail, down to the portable one', () => {
    const seen: string[] = [];
    const fails = ({ build }: NativeKernels): string => {
      seen.push(build);
      return 'broken';
    };
    expect(loadKernels(nativeFolders, fails)).toBeUndefined();
    expect(seen.at(-1)).toBe('wasm');
    expect(loadKernels(nativeFolders)).toBeDefined();
  });

  it('says nothing where there are no kernels', () => {
    const empty = mkdtempSync(join(tmpdir(), 'patchbay-none-'));
    expect(loadKernels([`${empty}/`])).toBeUndefined();
    rmSync(empty, { recursive: true });
  });

  it('finds a speech detector that computes something else', () => {
    const weights = vadWeights();
    const compiled = compiledVadKernel(wasm(), weights);
    expect(isSound(portableVadKernel(weights))).toBe(true);
    expect(isSound(compiled)).toBe(true);
    const deaf: VadKernel = { ...compiled, hear: () => undefined };
    expect(isSound(deaf)).toBe(false);
    const forgetful: VadKernel = {
      ...compiled,
      hear(count) {
        compiled.clear(0);
        compiled.hear(count);
      },
    };
    expect(isSound(forgetful)).toBe(false);
  });
});

function trap(): number {
  throw new Error('trap');
}
