// RIFF WAVE files: the header of a 16-bit PCM file, and a reader for PCM, floats and G.711, all as 16-bit
// samples. No other encoding, no RF64 (4 GB are 37 hours of a stereo call).
// Source: Microsoft/IBM, Multimedia Programming Interface 1.0 (1991) and mmreg.h for format tags.

import { GatewayError } from '../errors/gateway-error.ts';
import { alaw, ulaw } from './companding.ts';

export interface Wav {
  rateHz: number;
  channels: number;
  /** Interleaved by channel. */
  samples: Int16Array;
}

/** A WAV file whose samples are decoded one by one, without a copy. */
export interface WavFile {
  rateHz: number;
  channels: number;
  /** Samples of each channel. */
  moments: number;
  /** The sample at index `index` of the interleaved channels, 0 to `moments * channels` - 1. */
  sample(index: number): number;
}

export const WAV_HEADER_BYTES = 44;

const FORMAT_PCM = 1;
const FORMAT_FLOAT = 3;
const FORMAT_ALAW = 6;
const FORMAT_ULAW = 7;
/** For WAVE_FORMAT_EXTENSIBLE: the real tag is the first field of the sub-format identifier, 24 bytes into the
 *  chunk. */
const FORMAT_EXTENSIBLE = 0xfffe;
const SUBFORMAT_OFFSET = 24;

/** Rates and channel counts above these mean a damaged file. */
const RATE_HZ_MAX = 384_000;
const CHANNELS_MAX = 32;
/** The RIFF size field counts 36 bytes besides the data. */
const DATA_BYTES_MAX = 0xffff_ffff - 36;

interface Format {
  tag: number;
  channels: number;
  rateHz: number;
  bits: number;
}

/** The 44 bytes before `dataBytes` bytes of interleaved 16-bit little-endian PCM. */
export function wavHeader(of: { rateHz: number; channels: number; dataBytes: number }): Buffer {
  const dataBytes = Math.min(of.dataBytes, DATA_BYTES_MAX);
  const header = Buffer.alloc(WAV_HEADER_BYTES);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(36 + dataBytes, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(FORMAT_PCM, 20);
  header.writeUInt16LE(of.channels, 22);
  header.writeUInt32LE(of.rateHz, 24);
  header.writeUInt32LE(of.rateHz * of.channels * 2, 28);
  header.writeUInt16LE(of.channels * 2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(dataBytes, 40);
  return header;
}

/** Reads a whole file to samples, which the caller owns. Throws WAV_UNREADABLE, as `openWav` does. */
export function readWav(bytes: Uint8Array): Wav {
  const { rateHz, channels, moments, sample } = openWav(bytes);
  const samples = new Int16Array(moments * channels);
  for (let i = 0; i < samples.length; i++) samples[i] = sample(i);
  return { rateHz, channels, samples };
}

/** `bytes` is borrowed as long as the result is used. A data chunk whose size exceeds the file (a header written
 *  before the length was known) ends with the file; an incomplete sample group at the end is dropped. Throws
 *  WAV_UNREADABLE. */
export function openWav(bytes: Uint8Array): WavFile {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (file.toString('latin1', 0, 4) !== 'RIFF' || file.toString('latin1', 8, 12) !== 'WAVE') {
    throw unreadable('it does not begin with RIFF and WAVE');
  }
  let format: Format | undefined;
  for (let at = 12; at + 8 <= file.length; ) {
    const id = file.toString('latin1', at, at + 4);
    const size = file.readUInt32LE(at + 4);
    const body = file.subarray(at + 8, at + 8 + size);
    if (id === 'fmt ') format = parseFormat(body);
    if (id === 'data') {
      if (format === undefined) throw unreadable('the data chunk comes before the format chunk');
      const { rateHz, channels, bits } = format;
      const decode = decoderOf(format);
      const moments = Math.floor(body.length / (bits / 8) / channels);
      return { rateHz, channels, moments, sample: (index) => decode(body, index) };
    }
    at += 8 + size + (size & 1); // chunks begin at even offsets
  }
  throw unreadable('there is no data chunk');
}

function parseFormat(chunk: Buffer): Format {
  if (chunk.length < 16) throw unreadable('the format chunk is cut off');
  const tag = chunk.readUInt16LE(0);
  const extended = tag === FORMAT_EXTENSIBLE && chunk.length >= SUBFORMAT_OFFSET + 2;
  const format = {
    tag: extended ? chunk.readUInt16LE(SUBFORMAT_OFFSET) : tag,
    channels: chunk.readUInt16LE(2),
    rateHz: chunk.readUInt32LE(4),
    bits: chunk.readUInt16LE(14),
  };
  if (format.channels < 1 || format.channels > CHANNELS_MAX) {
    throw unreadable(`it has ${format.channels} channels`);
  }
  if (format.rateHz < 1 || format.rateHz > RATE_HZ_MAX) {
    throw unreadable(`its sample rate is ${format.rateHz} Hz`);
  }
  return format;
}

type Decode = (body: Buffer, index: number) => number;

/** Decoders by format tag and bits. */
const decoders: Readonly<Record<string, Decode>> = {
  [`${FORMAT_PCM}/8`]: (body, i) => ((body[i] as number) - 128) * 256,
  [`${FORMAT_PCM}/16`]: (body, i) => body.readInt16LE(2 * i),
  [`${FORMAT_PCM}/24`]: (body, i) => fromUnit(body.readIntLE(3 * i, 3) / 2 ** 23),
  [`${FORMAT_PCM}/32`]: (body, i) => fromUnit(body.readInt32LE(4 * i) / 2 ** 31),
  [`${FORMAT_FLOAT}/32`]: (body, i) => fromUnit(body.readFloatLE(4 * i)),
  [`${FORMAT_FLOAT}/64`]: (body, i) => fromUnit(body.readDoubleLE(8 * i)),
  [`${FORMAT_ULAW}/8`]: (body, i) => ulaw.samples[body[i] as number] as number,
  [`${FORMAT_ALAW}/8`]: (body, i) => alaw.samples[body[i] as number] as number,
};

function decoderOf({ tag, bits }: Format): Decode {
  const decode = decoders[`${tag}/${bits}`];
  if (decode !== undefined) return decode;
  throw unreadable(
    `format ${tag} with ${bits} bits is neither PCM of 8 to 32 bits, nor floats, nor G.711`,
  );
}

/** Converts -1..1 to 16 bits, rounded, with saturation. NaN becomes silence. */
function fromUnit(value: number): number {
  if (Number.isNaN(value)) return 0;
  return Math.max(-32_768, Math.min(32_767, Math.floor(value * 32_768 + 0.5)));
}

function unreadable(reason: string): GatewayError {
  return new GatewayError('WAV_UNREADABLE', { reason });
}
