// The marks in the frames of simulated callers: which call, which part of which word, and when it was sent. A recogniser
// that reads them knows the words without recognising anything, also in audio that is replayed, cut or doubled.

import { FRAME_BYTES, MARK_BYTES, readMark, writeMark } from '../caller/watermark.ts';

/** 200 ms. */
export const WORD_FRAMES = 10;
/** Silence has it in place of a word. */
export const NO_WORD = 4_095;
/** Clip number of answers in the watermark of what the agent says; its piece is the first word that is answered. */
export const ANSWER_CLIP = 1;

const PART_BITS = 4;
/** Times are tenths of a millisecond, modulo 6.5 s. */
const TENTHS_MAX = 65_536;

export interface FrameMark {
  /** Below 65,536. */
  call: number;
  /** `NO_WORD`: silence. */
  nth: number;
  part: number;
  /** Tenths of a millisecond, modulo `TENTHS_MAX`. */
  sentAt: number;
}

/** The clock that all processes of a machine share, in milliseconds. */
export function sharedMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Writes into the low bits of the first 24 samples of 20 ms of µ-law. */
export function writeFrameMark(
  frame: Uint8Array,
  { call, nth, part }: Omit<FrameMark, 'sentAt'>,
  nowMs: number,
): void {
  const sentAt = Math.floor(nowMs * 10) % TENTHS_MAX;
  const values = [call, (nth << PART_BITS) | part, sentAt];
  for (const [at, value] of values.entries()) {
    writeMark(frame.subarray(at * MARK_BYTES), value >>> 12, value & 0xfff);
  }
}

/** Undefined if no frame begins at byte `at`. */
export function readFrameMark(bytes: Uint8Array, at: number): FrameMark | undefined {
  if (at + FRAME_BYTES > bytes.length) return undefined;
  const call = readMark(bytes, at);
  if (call < 0) return undefined;
  const word = readMark(bytes, at + MARK_BYTES);
  const sentAt = readMark(bytes, at + 2 * MARK_BYTES);
  if (word < 0 || sentAt < 0) return undefined;
  return { call, nth: word >>> PART_BITS, part: word & 0xf, sentAt };
}

/** Milliseconds since the frame was sent, if that is less than 6.5 s ago. */
export function ageOf({ sentAt }: FrameMark, nowMs: number): number {
  const now = Math.floor(nowMs * 10) % TENTHS_MAX;
  return ((now - sentAt + TENTHS_MAX) % TENTHS_MAX) / 10;
}
