import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readRtp, writeRtp } from '../../../src/transport/rtp/rtp-packet.ts';

const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex.replaceAll(' ', ''), 'hex'));
const HEADER = { payloadType: 8, sequence: 0xfffe, timestamp: 0xdeadbeef, ssrc: 0x514d0001 };

describe('an RTP packet', () => {
  it('has a header of twelve bytes, in network order (RFC 3550, 5.1)', () => {
    const packet = writeRtp({ ...HEADER, marker: true }, Uint8Array.of(0xd5, 0x55));
    expect(Buffer.from(packet).toString('hex')).toBe('8088fffedeadbeef514d0001d555');
    expect(readRtp(packet)).toEqual({ ...HEADER, marker: true, payload: bytes('d555') });
  });

  it('has its payload behind the mixed sources and the extension, and before the padding', () => {
    const sources = bytes('82 00 0001 00000002 00000003 00000004 00000005 aabb');
    expect(readRtp(sources)?.payload).toEqual(bytes('aabb'));
    const extension = bytes('90 00 0001 00000002 00000003 bede 0001 01020304 aabb');
    expect(readRtp(extension)?.payload).toEqual(bytes('aabb'));
    const padding = bytes('a0 00 0001 00000002 00000003 aabb 0002');
    expect(readRtp(padding)?.payload).toEqual(bytes('aabb'));
  });

  it('is not what is short, of another version, or says of itself what cannot be', () => {
    for (const hex of [
      '',
      '80 00 0001 00000002 000000', // 11 bytes
      '40 00 0001 00000002 00000003', // version 1
      '81 00 0001 00000002 00000003', // a source that is not there
      '90 00 0001 00000002 00000003', // an extension that is not there
      '90 00 0001 00000002 00000003 bede 0002 01020304', // one that is not whole
      'a0 00 0001 00000002 00000003 aa00', // padding of nothing
      'a0 00 0001 00000002 00000003 aa03', // more padding than payload
    ]) {
      expect(readRtp(bytes(hex)), hex).toBeUndefined();
    }
    expect(readRtp(Uint8Array.from({ length: 3_000 }, () => 0x80))).toBeUndefined();
  });

  it('is understood, or is none, for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (packet) => {
        const read = readRtp(packet);
        if (read !== undefined) expect(read.payload.length).toBeLessThanOrEqual(packet.length - 12);
      }),
    );
  });

  it('is read as it was written', () => {
    const header = fc.record({
      payloadType: fc.integer({ min: 0, max: 127 }),
      sequence: fc.integer({ min: 0, max: 0xffff }),
      timestamp: fc.integer({ min: 0, max: 0xffffffff }),
      ssrc: fc.integer({ min: 0, max: 0xffffffff }),
      marker: fc.boolean(),
    });
    fc.assert(
      fc.property(header, fc.uint8Array({ maxLength: 200 }), (facts, payload) => {
        expect(readRtp(writeRtp(facts, payload))).toEqual({ ...facts, payload });
      }),
    );
  });
});
