import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { packetsDropped } from '../../../src/metrics/metrics.ts';
import { writeRtp } from '../../../src/transport/rtp/rtp-packet.ts';
import { RtpTimestamps } from '../../../src/transport/rtp/rtp-timestamps.ts';

interface Sent {
  sequence: number;
  timestamp: number;
  ssrc?: number;
  bytes?: number;
}

/** A stream, and the time. */
function stream() {
  let nowMs = 5_000;
  const rtp = new RtpTimestamps(() => nowMs);
  return {
    pass: (ms: number) => {
      nowMs += ms;
    },
    /** Where the packet's audio belongs; undefined if it is not heard. */
    take({ sequence, timestamp, ssrc = 7, bytes = 160 }: Sent): number | undefined {
      const packet = writeRtp(
        {
          payloadType: 0,
          sequence: sequence & 0xffff,
          timestamp: timestamp >>> 0,
          ssrc,
          marker: false,
        },
        new Uint8Array(bytes),
      );
      return rtp.payload(packet) === undefined ? undefined : rtp.timestampMs;
    },
  };
}

async function drops(reason: string): Promise<number> {
  const { values } = await packetsDropped.get();
  const own = values.find(({ labels }) => labels.kind === 'rtp' && labels.reason === reason);
  return own?.value ?? 0;
}

describe('the time of RTP', () => {
  it('counts from the first packet, over the wrap of sequence and timestamp', () => {
    const { take, pass } = stream();
    for (let i = 0; i < 10; i++) {
      expect(take({ sequence: 65_533 + i, timestamp: 0xffffff00 + 160 * i })).toBe(20 * i);
      pass(20);
    }
  });

  it('leaves a gap for lost packets, and puts those out of order where they belong', () => {
    const { take, pass } = stream();
    expect(take({ sequence: 1, timestamp: 0 })).toBe(0);
    pass(60);
    expect(take({ sequence: 4, timestamp: 480 })).toBe(60);
    expect(take({ sequence: 3, timestamp: 320 })).toBe(40);
    expect(take({ sequence: 2, timestamp: 160 })).toBe(20);
    pass(20);
    expect(take({ sequence: 5, timestamp: 640 })).toBe(80);
  });

  it('drops and counts copies, and what comes after the pipeline has filled its place', async () => {
    const before = { late: await drops('late'), copies: await drops('duplicate') };
    const { take } = stream();
    for (let sequence = 1; sequence <= 18; sequence++) {
      if (sequence !== 5) take({ sequence, timestamp: 160 * sequence });
    }
    expect(take({ sequence: 18, timestamp: 160 * 18 })).toBeUndefined();
    expect(take({ sequence: 5, timestamp: 160 * 5 })).toBeUndefined();
    expect(await drops('late')).toBe(before.late + 1);
    expect(await drops('duplicate')).toBe(before.copies + 1);
  });

  it('goes on in the same time when the sender starts again', () => {
    const { take, pass } = stream();
    for (let i = 0; i < 5; i++) take({ sequence: i, timestamp: 160 * i });
    pass(100);
    // Asterisk's new channel for the same call: all is counted from elsewhere.
    expect(take({ sequence: 40_000, timestamp: 0x80000000, ssrc: 8 })).toBe(180);
    pass(20);
    expect(take({ sequence: 40_001, timestamp: 0x80000000 + 160, ssrc: 8 })).toBe(200);
  });

  it('never goes back over what was said when the sender starts again at once', () => {
    const { take } = stream();
    for (let i = 0; i < 5; i++) take({ sequence: i, timestamp: 160 * i });
    expect(take({ sequence: 9, timestamp: 9, ssrc: 8 })).toBe(100);
  });

  it('takes a count that jumps for a new one', () => {
    const { take, pass } = stream();
    take({ sequence: 1, timestamp: 0 });
    pass(20);
    expect(take({ sequence: 2, timestamp: 0x40000000 })).toBe(20); // hours ahead
    pass(20);
    expect(take({ sequence: 3, timestamp: 1_000 })).toBe(40); // hours back
    pass(20);
    expect(take({ sequence: 30_000, timestamp: 1_160 })).toBe(60); // by sequence
    pass(20);
    expect(take({ sequence: 30_001, timestamp: 1_320 })).toBe(80);
  });

  it('leaves a pause as the sender counts it, or does not', () => {
    const counted = stream();
    counted.take({ sequence: 1, timestamp: 0 });
    counted.pass(5_000);
    expect(counted.take({ sequence: 2, timestamp: 40_000 })).toBe(5_000);
    const uncounted = stream();
    uncounted.take({ sequence: 1, timestamp: 0 });
    uncounted.pass(5_000);
    expect(uncounted.take({ sequence: 2, timestamp: 160 })).toBe(20);
  });

  it('takes a burst after a stall as what it was: packets one after the other', () => {
    const { take, pass } = stream();
    take({ sequence: 0, timestamp: 0 });
    pass(2_000);
    for (let i = 1; i <= 100; i++) {
      expect(take({ sequence: i, timestamp: 160 * i })).toBe(20 * i);
    }
  });

  it('has no audio in packets without payload', () => {
    const { take } = stream();
    expect(take({ sequence: 1, timestamp: 0, bytes: 0 })).toBeUndefined();
  });

  it('is a finite time for whatever comes', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 30 }), (packets) => {
        let nowMs = 0;
        const rtp = new RtpTimestamps(() => nowMs);
        for (const packet of packets) {
          if (packet.length > 0) packet[0] = 0x80;
          nowMs += 20;
          const payload = rtp.payload(packet);
          if (payload !== undefined) expect(Number.isFinite(rtp.timestampMs)).toBe(true);
        }
      }),
    );
  });
});
