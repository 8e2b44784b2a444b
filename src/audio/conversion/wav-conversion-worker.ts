// The thread of wav-conversion: one file in, one answer out. It may be ended at any moment.

import { parentPort, workerData } from 'node:worker_threads';
import wavefile from 'wavefile';
import { wavHeader } from '../wav.ts';
import { decodeImaAdpcm } from './ima-adpcm.ts';
import type { Converted } from './wav-conversion.ts';

const FORMAT_IMA_ADPCM = 17;
/** Of one channel. */
const ADPCM_HEAD_BYTES = 4;
/** Beyond these, a file is damaged. */
const CHANNELS_MAX = 32;
/** Two minutes of 48 kHz stereo: what is longer is not played. */
const SAMPLES_MAX = 2 * 120 * 48_000;

const converted = convert(workerData as Uint8Array);
parentPort?.postMessage(converted, 'wav' in converted ? [converted.wav.buffer] : []);

function convert(bytes: Uint8Array): Converted {
  try {
    return pcmOf(bytes);
  } catch (error) {
    // The package throws sentences of its own, none of which quotes the file.
    return {
      reason: error instanceof Error ? `it is damaged (${error.message})` : 'it is damaged',
    };
  }
}

function pcmOf(bytes: Uint8Array): Converted {
  if (
    !/^(RIFF|RIFX|RF64)[\s\S]{4}WAVE/.test(Buffer.from(bytes.subarray(0, 12)).toString('latin1'))
  ) {
    return { reason: 'it does not begin with RIFF and WAVE' };
  }
  const file = new wavefile.WaveFile(bytes);
  const { audioFormat, numChannels, sampleRate } = file.fmt as Format;
  const isAdpcm = audioFormat === FORMAT_IMA_ADPCM;
  if (bytes.length * (isAdpcm ? 2 : 1) > SAMPLES_MAX) return { reason: 'it is too long' };
  const of = { rateHz: sampleRate, channels: numChannels };
  if (isAdpcm) {
    const channels = Math.min(CHANNELS_MAX, numChannels);
    const blockBytes = adpcmBlockBytes(file.fmt as Format, channels);
    if (blockBytes === undefined) return { reason: 'it has blocks without samples' };
    const samples = decodeImaAdpcm(samplesOf(file), { channels, blockBytes });
    return { wav: fileOf({ ...of, channels }, new Uint8Array(samples.buffer)) };
  }
  if (file.bitDepth === '8a') file.fromALaw();
  else if (file.bitDepth === '8m') file.fromMuLaw();
  if (file.container !== 'RIFF') file.toRIFF();
  if (file.bitDepth !== '16') file.toBitDepth('16');
  return { wav: fileOf(of, samplesOf(file)) };
}

/** As the package has read it. */
interface Format {
  audioFormat: number;
  numChannels: number;
  sampleRate: number;
  blockAlign: number;
  /** In IMA ADPCM: samples of a block and channel. */
  validBitsPerSample: number;
}

/** Undefined if there is room for nothing but a block's head. ffmpeg writes a wrong `blockAlign` for blocks of
 *  another size than its own. */
function adpcmBlockBytes(
  { blockAlign, validBitsPerSample: moments }: Format,
  channels: number,
): number | undefined {
  const headBytes = ADPCM_HEAD_BYTES * channels;
  if (blockAlign > headBytes) return blockAlign;
  const bytes = headBytes * (1 + Math.floor((moments - 1) / 8));
  return bytes > headBytes ? bytes : undefined;
}

/** The bytes of the data chunk. */
function samplesOf(file: wavefile.WaveFile): Uint8Array {
  return (file.data as { samples: Uint8Array }).samples;
}

/** With a header that every reader knows. */
function fileOf(
  of: { rateHz: number; channels: number },
  samples: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const header = wavHeader({ ...of, dataBytes: samples.length });
  const whole = new Uint8Array(header.length + samples.length);
  whole.set(header);
  whole.set(samples, header.length);
  return whole;
}
