// What audio arithmetic costs: the frames' codecs and resampling, and the detector's window, each in the
// builds there are. Run by `npm run bench`; test/bench/audio.test.ts runs it with tiny inputs.

import { readFileSync } from 'node:fs';
import { mixLoop } from '../../src/audio/gain.ts';
import {
  CONCEALMENT_SAMPLES,
  PacketLossConcealer,
} from '../../src/audio/packet-loss-concealment.ts';
import { FRAME_SAMPLES } from '../../src/audio/pcm.ts';
import { portableFilter } from '../../src/audio/resample/resample-portable.ts';
import { createResampler, type Rates } from '../../src/audio/resample/resampler.ts';
import { DtmfDetector } from '../../src/audio/tones/dtmf-detector.ts';
import { dtmfTones } from '../../src/audio/tones/tone-generator.ts';
import { BATCH_MAX, type VadKernel, WEIGHTS } from '../../src/audio/vad/vad-kernel.ts';
import { compiledVadKernel, loadVadKernel } from '../../src/audio/vad/vad-loader.ts';
import { portableVadKernel } from '../../src/audio/vad/vad-portable.ts';
import type { Codec } from '../../src/codec/codec.ts';
import { compiledG722, createG722 } from '../../src/codec/g722.ts';
import { PortableG722 } from '../../src/codec/g722-portable.ts';
import { createOpus, hasOpus } from '../../src/codec/opus.ts';
import { codecByName } from '../../src/codec/registry.ts';
import { loadAddon, loadKernels, loadWasm } from '../../src/runtime/native-kernels.ts';
import { comfortNoise } from '../audio/sounds.ts';

/** Streams in turn, as in a gateway: no stream's state stays in the processor's nearest cache. */
const VAD_STREAMS = 100;
/** The window is worth some hundred codec frames. */
const VAD_SHARE = 20;
const RESAMPLE_SHARE = 5;
const G722_SHARE = 10;
const OPUS_SHARE = 100;
const COLD_SHARE = 10;
/** Twice a large second-level cache. */
const OTHERS_BYTES = 4 << 20;
const CACHE_LINE_BYTES = 64;
const ROUNDS = 5;
/** Ten seconds, more than the processor can learn by heart. */
const LOOP_SAMPLES = 80_000;

/** Microseconds for one 20 ms frame (one 32 ms window of the detector), the fastest of five rounds that
 *  make `iterations` together. */
export function benchAudio(iterations: number): Record<string, number> {
  return {
    ...benchCodec('PCMU', codecByName('PCMU'), iterations),
    ...benchCodec('PCMA', codecByName('PCMA'), iterations),
    ...benchCodec('L16', codecByName('L16'), iterations),
    ...benchG722(Math.ceil(iterations / G722_SHARE)),
    ...benchResampler({ fromHz: 8_000, toHz: 16_000 }, iterations),
    ...benchResampler({ fromHz: 8_000, toHz: 24_000 }, iterations),
    ...benchResampler({ fromHz: 16_000, toHz: 8_000 }, iterations),
    ...benchResampler({ fromHz: 24_000, toHz: 8_000 }, iterations),
    ...benchResampler({ fromHz: 48_000, toHz: 8_000 }, iterations),
    ...benchMixing(iterations),
    ...benchKeys(iterations),
    ...benchConcealment(Math.ceil(iterations / RESAMPLE_SHARE)),
    ...benchOpus(Math.ceil(iterations / OPUS_SHARE)),
    ...benchVad(iterations),
  };
}

function benchG722(iterations: number): Record<string, number> {
  const kernels = loadKernels();
  return {
    ...benchCodec('G722 portable', createG722(new PortableG722()), iterations),
    ...(kernels &&
      benchCodec(`G722 ${kernels.build}`, createG722(compiledG722(kernels)), iterations)),
  };
}

function benchCodec(name: string, codec: Codec, iterations: number): Record<string, number> {
  const pcm = noise(codec.rateHz / 50);
  const payload = new Uint8Array(codec.frameBytes);
  return {
    [`${name} encode`]: fastestUs(iterations, () => codec.encode(pcm, payload)),
    [`${name} decode`]: fastestUs(iterations, () => codec.decode(payload, pcm)),
  };
}

function benchResampler(rates: Rates, iterations: number): Record<string, number> {
  const frame = noise(rates.fromHz / 50);
  const times = Math.ceil(iterations / RESAMPLE_SHARE);
  const label = `resample ${rates.fromHz} to ${rates.toHz}`;
  const figures: Record<string, number> = {};
  const portable = createResampler(rates, portableFilter);
  figures[`${label} portable`] = fastestUs(times, () => portable.process(frame));
  const kernels = loadKernels();
  if (kernels === undefined) return figures;
  const compiled = createResampler(rates);
  figures[`${label} ${kernels.build}`] = fastestUs(times, () => compiled.process(frame));
  return figures;
}

function benchMixing(iterations: number): Record<string, number> {
  const voice = noise(FRAME_SAMPLES);
  const frame = voice.slice();
  const loop = noise(LOOP_SAMPLES);
  let at = 0;
  const mix = () => {
    frame.set(voice);
    mixLoop(frame, loop, 0.3, at);
    at = (at + FRAME_SAMPLES) % LOOP_SAMPLES;
  };
  return { 'mix a loop of noise': fastestUs(iterations, mix) };
}

function benchKeys(iterations: number): Record<string, number> {
  const detector = new DtmfDetector(() => undefined);
  const held = dtmfTones('5').subarray(FRAME_SAMPLES, 2 * FRAME_SAMPLES);
  const frames = {
    silence: new Int16Array(FRAME_SAMPLES),
    noise: noise(FRAME_SAMPLES),
    'a key': held,
  };
  const figures: Record<string, number> = {};
  for (const [name, frame] of Object.entries(frames)) {
    figures[`listen for keys in ${name}`] = fastestUs(iterations, () => detector.push(frame));
  }
  return figures;
}

function benchConcealment(iterations: number): Record<string, number> {
  const concealer = new PacketLossConcealer();
  const heard = noise(CONCEALMENT_SAMPLES);
  const frame = new Int16Array(FRAME_SAMPLES);
  const work = () => {
    concealer.begin(heard, 0);
    concealer.conceal(frame, FRAME_SAMPLES);
  };
  return { 'conceal a frame': fastestUs(iterations, work) };
}

/** Where its package is. */
function benchOpus(iterations: number): Record<string, number> {
  if (!hasOpus()) return {};
  return {
    ...benchCodec('Opus 8000', createOpus(8_000), iterations),
    ...benchCodec('Opus 16000', createOpus(16_000), iterations),
    ...benchCodec('Opus 48000', createOpus(48_000), iterations),
  };
}

function benchVad(iterations: number): Record<string, number> {
  const fastest = loadVadKernel();
  const bytes = readFileSync('native/build/silero-v6-8k.bin');
  const weights = Float32Array.from({ length: WEIGHTS.end }, (_, i) => bytes.readFloatLE(4 * i));
  const portable = portableVadKernel(weights);
  const wasm = loadWasm();
  const compiled = wasm && compiledVadKernel(wasm, weights);
  const kernels = fastest.name === 'addon' && compiled ? [fastest, compiled] : [fastest];
  const times = Math.ceil(iterations / VAD_SHARE);
  const figures: Record<string, number> = {};
  for (const kernel of [...kernels, portable]) {
    figures[`VAD window ${kernel.name}`] = windowUs(kernel, times, 1);
    figures[`VAD window ${kernel.name} of ${BATCH_MAX}`] = windowUs(kernel, times, BATCH_MAX);
  }
  return { ...figures, ...benchVadInstructions(weights, times) };
}

/** The addon with each set of instructions that this processor has. */
function benchVadInstructions(weights: Float32Array, times: number): Record<string, number> {
  const addon = loadAddon();
  const most = addon?.function('vadInstructions')() ?? -1;
  const figures: Record<string, number> = {};
  for (let instructions = 0; addon !== undefined && instructions <= most; instructions++) {
    const kernel = compiledVadKernel(addon, weights, instructions);
    const label = `VAD window addon (${kernel.instructions}) of ${BATCH_MAX}`;
    figures[label] = windowUs(kernel, times, BATCH_MAX);
    figures[`${label}, cold`] = coldWindowUs(kernel, Math.ceil(times / COLD_SHARE));
  }
  return figures;
}

/** As windowUs with BATCH_MAX windows, between whose calls other things went through the processor's caches, as
 *  hundreds of calls do. The median: there is no fastest with cold caches. */
function coldWindowUs(kernel: VadKernel, iterations: number): number {
  const others = new Uint8Array(OTHERS_BYTES);
  const times = Array.from({ length: Math.max(ROUNDS, iterations) }, (_, turn) => {
    for (let at = 0; at < others.length; at += CACHE_LINE_BYTES) others[at] = turn;
    for (let nth = 0; nth < BATCH_MAX; nth++) {
      kernel.slots[nth] = (turn * BATCH_MAX + nth) % VAD_STREAMS;
    }
    const from = performance.now();
    kernel.hear(BATCH_MAX);
    return ((performance.now() - from) * 1_000) / BATCH_MAX;
  });
  return times.sort((a, b) => a - b)[times.length >> 1] ?? Number.NaN;
}

/** With `count` windows in each call of the kernel. */
function windowUs(kernel: VadKernel, iterations: number, count: number): number {
  kernel.windows.set(noise(kernel.windows.length));
  let turn = 0;
  const work = () => {
    for (let nth = 0; nth < count; nth++) kernel.slots[nth] = turn++ % VAD_STREAMS;
    kernel.hear(count);
  };
  return fastestUs(Math.ceil(iterations / count), work) / count;
}

function noise(count: number): Int16Array {
  const pcm = new Int16Array(count);
  comfortNoise({ seed: 1, levelDbfs: -20 }).fill(pcm);
  return pcm;
}

function fastestUs(iterations: number, work: () => unknown): number {
  const each = Math.max(1, Math.ceil(iterations / ROUNDS));
  const rounds = Array.from({ length: ROUNDS }, () => {
    const from = performance.now();
    for (let i = 0; i < each; i++) work();
    return ((performance.now() - from) * 1_000) / each;
  });
  return Math.min(...rounds);
}
