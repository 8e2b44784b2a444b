import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import {
  AUDIOSOCKET_PAYLOAD_BYTES_MAX,
  FrameReader,
  writeFrame,
} from '../../../src/transport/audiosocket/audiosocket-frames.ts';

type Frame = [number, string];

/** The frames of a stream that comes in `pieces`. */
function framesOf(pieces: Uint8Array[]): Frame[] {
  const reader = new FrameReader();
  const frames: Frame[] = [];
  for (const piece of pieces) {
    reader.read(piece, (kind, payload) =>
      frames.push([kind, Buffer.from(payload).toString('hex')]),
    );
  }
  return frames;
}

const hex = (text: string) => Uint8Array.from(Buffer.from(text, 'hex'));

describe('AudioSocket frames', () => {
  it('are a kind, a length in network order, and a payload', () => {
    expect(Buffer.from(writeFrame(0x10, hex('0102'))).toString('hex')).toBe('1000020102');
    expect(framesOf([hex('1000020102' + '000000' + '03000131')])).toEqual([
      [0x10, '0102'],
      [0x00, ''],
      [0x03, '31'],
    ]);
  });

  it('are found wherever the network cut the stream', () => {
    const frame = fc.tuple(fc.integer({ min: 0, max: 255 }), fc.uint8Array({ maxLength: 700 }));
    const cuts = fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 8 }), cuts, (frames, lengths) => {
        const stream = Buffer.concat(frames.map(([kind, payload]) => writeFrame(kind, payload)));
        const pieces: Uint8Array[] = [];
        for (let at = 0, i = 0; at < stream.length; i++) {
          const length = lengths[i % lengths.length] ?? 1;
          pieces.push(stream.subarray(at, at + length));
          at += length;
        }
        const expected = frames.map(([kind, payload]) => [
          kind,
          Buffer.from(payload).toString('hex'),
        ]);
        expect(framesOf(pieces)).toEqual(expected);
      }),
    );
  });

  it('of more than the widest audio are refused before they are kept', () => {
    const length = (bytes: number) => Uint8Array.of(0x10, bytes >> 8, bytes & 0xff);
    const refusal = (pieces: Uint8Array[]) => {
      try {
        framesOf(pieces);
      } catch (error) {
        return codeOf(error);
      }
      return undefined;
    };
    expect(refusal([length(AUDIOSOCKET_PAYLOAD_BYTES_MAX)])).toBeUndefined();
    expect(refusal([length(AUDIOSOCKET_PAYLOAD_BYTES_MAX + 1)])).toBe('MEDIA_OVERSIZED');
    expect(refusal([Uint8Array.of(0x10, 0xff), Uint8Array.of(0xff)])).toBe('MEDIA_OVERSIZED');
  });

  it('come of any bytes, or MEDIA_OVERSIZED does', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 20 }), (pieces) => {
        try {
          framesOf(pieces);
        } catch (error) {
          expect(codeOf(error)).toBe('MEDIA_OVERSIZED');
        }
      }),
    );
  });
});
