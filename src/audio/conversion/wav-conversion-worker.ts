// Worker thread of wav-conversion: converts one file and answers once. It may be terminated at any moment.

import { parentPort, workerData } from 'node:worker_threads';
import wavefile from 'wavefile';
import { wavHeader } from '../wav.ts';
import { decodeImaAdpcm } from './ima-adpcm.ts';
import type { Converted } from './wav-conversion.ts';

const FORMAT_IMA_ADPCM = 17;
/** Bytes of an IMA ADPCM block header for one channel. */
const ADPCM_HEAD_BYTES = 4;
/** A file with more channels is damaged. */
const CHANNELS_MAX = 32;
/** Longest audio that is converted: two minutes of 48 kHz stereo. Longer files are never played. */
const SAMPLES_MAX = 2 * 120 * 48_000;

const converted = convert(workerData as Uint8Array);
parentPort?.postMessage(converted, 'wav' in converted ? [converted.wav.buffer] : []);

function convert(bytes: Uint8Array): Converted {
  try {
    return pcmOf(bytes);
  } catch (error) {
    // The package's error texts never quote the file.
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

/** Format chunk as the package reads it. */
interface Format {
  audioFormat: number;
  numChannels: number;
  sampleRate: number;
  blockAlign: number;
  /** For IMA ADPCM: samples of one block and channel. */
  validBitsPerSample: number;
}

/** Bytes of a block. Undefined if it holds only its header. ffmpeg writes a wrong `blockAlign` for blocks of a size
 *  other than its default. */
function adpcmBlockBytes(
  { blockAlign, validBitsPerSample: moments }: Format,
  channels: number,
): number | undefined {
  const headBytes = ADPCM_HEAD_BYTES * channels;
  if (blockAlign > headBytes) return blockAlign;
  const bytes = headBytes * (1 + Math.floor((moments - 1) / 8));
  return bytes > headBytes ? bytes : undefined;
}

/** Bytes of the data chunk. */
function samplesOf(file: wavefile.WaveFile): Uint8Array {
  return (file.data as { samples: Uint8Array }).samples;
}

/** Writes a WAV file with a header that every reader accepts. */
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
