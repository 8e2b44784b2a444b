import { describe, expect, it } from 'vitest';
import { type RtpAddress, RtpLatching } from '../../../src/transport/rtp/rtp-latching.ts';

const PBX = { host: '192.0.2.10', port: 20_000 };
const NAT = { host: '198.51.100.7', port: 41_000 };
const STRANGER = { host: '203.0.113.9', port: 5_060 };

const header = (sequence: number, ssrc = 1) => ({
  payloadType: 0,
  sequence: sequence & 0xffff,
  timestamp: 160 * sequence,
  ssrc,
  marker: false,
});
/** Which of `count` packets in a row were taken. */
const stream = (source: RtpLatching, from: RtpAddress, count: number, first = 100) =>
  Array.from({ length: count }, (_, i) => source.accepts(from, header(first + i)));

describe("where a call's RTP comes from", () => {
  it('is the address that the PBX announced, from the first packet on', () => {
    const source = new RtpLatching(PBX);
    expect(source.target).toEqual(PBX);
    expect(stream(source, PBX, 2)).toEqual([true, true]);
    expect(stream(source, STRANGER, 50).some(Boolean)).toBe(false);
    expect(source.target).toEqual(PBX);
  });

  it('is another one behind NAT, once five packets in a row have come from it', () => {
    const source = new RtpLatching(PBX);
    expect(stream(source, NAT, 6, 65_533)).toEqual([false, false, false, false, true, true]);
    expect(source.target).toEqual(NAT);
    expect(stream(source, STRANGER, 50).some(Boolean)).toBe(false);
  });

  it('is not learned from packets that do not follow one another', () => {
    const source = new RtpLatching(undefined);
    expect(source.target).toBeUndefined();
    for (let i = 0; i < 50; i++) {
      expect(source.accepts(NAT, header(3 * i))).toBe(false); // gaps
      expect(source.accepts(i % 2 === 0 ? NAT : STRANGER, header(i))).toBe(false); // two senders
    }
    const other = new RtpLatching(undefined);
    for (let i = 0; i < 50; i++) expect(other.accepts(NAT, header(i, i))).toBe(false); // SSRCs
    expect(other.target).toBeUndefined();
  });

  it('is the announced one again, if another sender was faster', () => {
    const source = new RtpLatching(PBX);
    stream(source, STRANGER, 10);
    expect(source.target).toEqual(STRANGER);
    expect(source.accepts(PBX, header(1))).toBe(true);
    expect(source.target).toEqual(PBX);
    expect(source.accepts(STRANGER, header(110))).toBe(false);
  });

  it('may send under another SSRC from the address that is locked', () => {
    const source = new RtpLatching(PBX);
    source.accepts(PBX, header(1, 1));
    expect(source.accepts(PBX, header(900, 2))).toBe(true);
  });

  it('is another port of the same host only if that one proves itself', () => {
    const source = new RtpLatching(PBX);
    source.accepts(PBX, header(1));
    expect(stream(source, { ...PBX, port: 20_002 }, 50).some(Boolean)).toBe(false);
  });
});
