import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pcmu } from '../../../src/codec/g711.ts';
import { markedClip, wavOf } from './prepared-speech.ts';
import {
  FRAME_BYTES,
  MARK_CLIPS_MAX,
  MARK_FRAMES_MAX,
  readMark,
  readMarkInBase64,
  SCRATCH_BYTES,
  writeMark,
} from './watermark.ts';

const place = fc.record({
  clip: fc.nat(MARK_CLIPS_MAX - 1),
  index: fc.nat(MARK_FRAMES_MAX - 1),
});
const audio = fc.uint8Array({ minLength: FRAME_BYTES, maxLength: FRAME_BYTES });

describe('the watermark', () => {
  it('is read back from any audio, as bytes and as base64, at any offset of the frame', () => {
    const scratch = new Uint8Array(SCRATCH_BYTES);
    const frames = fc.array(fc.tuple(audio, place), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(frames, (all) => {
        const message = Buffer.concat(
          all.map(([frame, { clip, index }]) => {
            writeMark(frame, clip, index);
            return frame;
          }),
        );
        const text = Buffer.from(`"${message.toString('base64')}"`);
        for (const [i, [, { clip, index }]] of all.entries()) {
          const mark = clip * MARK_FRAMES_MAX + index;
          const byte = i * FRAME_BYTES;
          expect(readMark(message, byte)).toBe(mark);
          expect(readMarkInBase64(text, 1, { byte, scratch })).toBe(mark);
        }
      }),
    );
  });

  it('survives that a gateway decodes it to PCM and encodes it again', () => {
    fc.assert(
      fc.property(audio, place, (frame, { clip, index }) => {
        writeMark(frame, clip, index);
        const pcm = new Int16Array(FRAME_BYTES);
        pcmu.decode(frame, pcm);
        const again = new Uint8Array(FRAME_BYTES);
        pcmu.encode(pcm, again);
        expect(readMark(again, 0)).toBe(clip * MARK_FRAMES_MAX + index);
      }),
    );
  });

  it('is found neither in silence nor in a frame whose begin was lost', () => {
    expect(readMark(new Uint8Array(FRAME_BYTES).fill(0xff), 0)).toBe(-1);
    expect(readMark(new Uint8Array(FRAME_BYTES).fill(0x7f), 0)).toBe(-1);
    expect(readMark(new Uint8Array(FRAME_BYTES), 0)).toBe(-1);
    const frame = markedClip(0, 1);
    expect(readMark(frame, 0)).toBe(0);
    for (let shift = 1; shift < FRAME_BYTES - 8; shift++) expect(readMark(frame, shift)).toBe(-1);
  });

  it('is in every frame of a clip, and in the WAV file that is made of it', () => {
    const frames = 50;
    const wav = wavOf(markedClip(3, frames));
    const samples = new Int16Array(wav.buffer, wav.byteOffset + 44, frames * FRAME_BYTES);
    const payload = new Uint8Array(samples.length);
    pcmu.encode(samples, payload);
    for (let i = 0; i < frames; i++) {
      expect(readMark(payload, i * FRAME_BYTES)).toBe(3 * MARK_FRAMES_MAX + i);
    }
  });
});
