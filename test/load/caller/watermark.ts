// A watermark that audio carries through a gateway: every 20 ms of mu-law speech tell which piece of which
// clip they are. It sits in the low bits of a few samples, where it is hardly heard, and survives being
// decoded to PCM and encoded again; it does not survive a change of volume, and is meant not to.

/** 20 ms of telephone audio. */
export const FRAME_BYTES = 160;
/** Samples that carry the mark: the low four bits of each. */
export const MARK_BYTES = 8;
/** Pieces of one clip: more than a minute. */
export const MARK_FRAMES_MAX = 4_096;
export const MARK_CLIPS_MAX = 16;

const HALF_BITS = 16;
/** Knuth's multiplicative hash. */
const SPREAD = 0x9e3779b1;

/** Writes the mark of piece `index` of `clip` into the first bytes of `frame`. */
export function writeMark(frame: Uint8Array, clip: number, index: number): void {
  const value = (clip % MARK_CLIPS_MAX) * MARK_FRAMES_MAX + (index % MARK_FRAMES_MAX);
  const word = ((value << HALF_BITS) | checkOf(value)) >>> 0;
  for (let at = 0; at < MARK_BYTES; at++) {
    const nibble = (word >>> (28 - 4 * at)) & 0xf;
    frame[at] = ((frame[at] ?? 0) & 0xf0) | nibble;
  }
}

/** The mark that begins at byte `at`: clip * MARK_FRAMES_MAX + index, or -1 if there is none. */
export function readMark(bytes: Uint8Array, at: number): number {
  let word = 0;
  for (let i = at; i < at + MARK_BYTES; i++) word = (word << 4) | ((bytes[i] as number) & 0xf);
  const value = word >>> HALF_BITS;
  return (word & 0xffff) === checkOf(value) ? value : -1;
}

/** As `readMark`, of the audio whose base64 begins at `from` of `text`; `byte` is where the mark begins in
 *  the audio. Only the characters that hold it are decoded, into `scratch` (12 bytes). */
export function readMarkInBase64(
  text: Uint8Array,
  from: number,
  at: { byte: number; scratch: Uint8Array },
): number {
  const group = Math.floor(at.byte / 3);
  let out = 0;
  for (let i = from + group * 4; out < SCRATCH_BYTES; i += 4) {
    const bits =
      ((BASE64[text[i] as number] as number) << 18) |
      ((BASE64[text[i + 1] as number] as number) << 12) |
      ((BASE64[text[i + 2] as number] as number) << 6) |
      (BASE64[text[i + 3] as number] as number);
    at.scratch[out++] = bits >>> 16;
    at.scratch[out++] = bits >>> 8;
    at.scratch[out++] = bits;
  }
  return readMark(at.scratch, at.byte - group * 3);
}

/** Groups of three bytes that hold a mark wherever it begins. */
export const SCRATCH_BYTES = 12;

const BASE64 = new Uint8Array(256);
for (const [value, letter] of [
  ...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
].entries()) {
  BASE64[letter.charCodeAt(0)] = value;
}

function checkOf(value: number): number {
  return Math.imul(value + 1, SPREAD) >>> HALF_BITS;
}
