// IMA ADPCM decoder for WAV data: four bits a sample, in blocks that begin with a sample and a step index for each
// channel. It does not parse files. The package wavefile reads the block headers as samples, so it is not used for
// this.
// Source: IMA Digital Audio Focus and Technical Working Groups, Recommended Practices 3.00 (1992); for the order of
// channels: Microsoft, New Multimedia Data Types and Data Techniques 3.0 (1994).

/** `samples` is interleaved by channel. */
export interface AdpcmOptions {
  channels: number;
  /** Bytes of one block. */
  blockBytes: number;
}

/** Bytes of a block's header, and of one run of samples, for each channel. */
const TURN_BYTES = 4;
const TURN_SAMPLES = 2 * TURN_BYTES;
const STEP_LAST = 88;
const INDEX_CHANGES = [-1, -1, -1, -1, 2, 4, 6, 8];

/** Step sizes. Each is 1.1 times the one before, as an integer. */
const STEPS = [
  7, 8, 9, 10, 11, 12, 13, 14, 16, 17, 19, 21, 23, 25, 28, 31, 34, 37, 41, 45, 50, 55, 60, 66, 73,
  80, 88, 97, 107, 118, 130, 143, 157, 173, 190, 209, 230, 253, 279, 307, 337, 371, 408, 449, 494,
  544, 598, 658, 724, 796, 876, 963, 1060, 1166, 1282, 1411, 1552, 1707, 1878, 2066, 2272, 2499,
  2749, 3024, 3327, 3660, 4026, 4428, 4871, 5358, 5894, 6484, 7132, 7845, 8630, 9493, 10_442,
  11_487, 12_635, 13_899, 15_289, 16_818, 18_500, 20_350, 22_385, 24_623, 27_086, 29_794, 32_767,
] as const;

/** Decodes `bytes`, which may be any bytes. A truncated last block gives the samples that are there. */
export function decodeImaAdpcm(
  bytes: Uint8Array,
  { channels, blockBytes }: AdpcmOptions,
): Int16Array {
  const headBytes = channels * TURN_BYTES;
  const momentsOf = (size: number): number =>
    size < headBytes ? 0 : 1 + Math.floor((size - headBytes) / headBytes) * TURN_SAMPLES;
  const whole = Math.floor(bytes.length / blockBytes);
  const moments = whole * momentsOf(blockBytes) + momentsOf(bytes.length % blockBytes);
  const samples = new Int16Array(moments * channels);
  let moment = 0;
  for (let at = 0; at < bytes.length; at += blockBytes) {
    const block = bytes.subarray(at, at + blockBytes);
    const count = momentsOf(block.length);
    for (let channel = 0; channel < channels && count > 0; channel++) {
      decodeChannel(block, channel, channels, samples.subarray(moment * channels));
    }
    moment += count;
  }
  return samples;
}

function decodeChannel(
  block: Uint8Array,
  channel: number,
  channels: number,
  out: Int16Array,
): void {
  const head = channel * TURN_BYTES;
  let value = ((byteOf(block, head) | (byteOf(block, head + 1) << 8)) << 16) >> 16;
  let index = Math.min(STEP_LAST, byteOf(block, head + 2));
  let to = channel;
  out[to] = value;
  const turn = channels * TURN_BYTES;
  for (let from = turn + head; from - head + turn <= block.length; from += turn) {
    for (let nth = 0; nth < TURN_SAMPLES; nth++) {
      const code = (byteOf(block, from + (nth >> 1)) >> (nth % 2 === 0 ? 0 : 4)) & 15;
      value = next(value, code, STEPS[index] ?? 0);
      index = Math.max(0, Math.min(STEP_LAST, index + (INDEX_CHANGES[code & 7] ?? 0)));
      to += channels;
      out[to] = value;
    }
  }
}

/** Next sample. Three bits and a half count quarters of the step, one bit is the sign. Rounded once, as ffmpeg does;
 *  the paper's shifts lose up to three steps of a sample more. */
function next(value: number, code: number, step: number): number {
  const change = ((2 * (code & 7) + 1) * step) >> 3;
  return Math.max(-32_768, Math.min(32_767, (code & 8) === 0 ? value + change : value - change));
}

function byteOf(bytes: Uint8Array, at: number): number {
  return bytes[at] ?? 0;
}
