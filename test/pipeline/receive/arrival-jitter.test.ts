// Networks that lose, delay, double and reorder packets, and what of an RTP caller's audio is heard, how late.

import { describe, expect, it } from 'vitest';
import { l16 } from '../../../src/codec/l16.ts';
import { ArrivalJitter, Depacketizer } from '../../../src/pipeline/receive/depacketizer.ts';
import { writeRtp } from '../../../src/transport/rtp/rtp-packet.ts';
import { RtpTimestamps } from '../../../src/transport/rtp/rtp-timestamps.ts';
import { noise } from '../../audio/sine.ts';

interface Network {
  loss: number;
  /** The most that a packet is late. */
  jitterMs: number;
  /** Whether a late packet holds up those behind it. */
  inOrder: boolean;
  doubled: number;
  /** How far the sender's clock is off. */
  ppm: number;
}

const STEADY: Network = { loss: 0, jitterMs: 0, inOrder: false, doubled: 0, ppm: 0 };
const PACKETS = 6_000;

interface Arrival {
  nth: number;
  atMs: number;
}

const saidMs = (nth: number, ppm: number) => ((nth + 1) * 20) / (1 + ppm / 1e6);

function arrivals({ loss, jitterMs, inOrder, doubled, ppm }: Network): Arrival[] {
  const random = noise(3);
  const share = () => Math.abs(random());
  const came: Arrival[] = [];
  let lastMs = 0;
  for (let nth = 0; nth < PACKETS; nth++) {
    const lateMs = share() * jitterMs;
    if (share() < loss) continue;
    const soonestMs = saidMs(nth, ppm) + lateMs;
    lastMs = inOrder ? Math.max(lastMs, soonestMs) : soonestMs;
    came.push({ nth, atMs: lastMs });
    if (share() < doubled) came.push({ nth, atMs: lastMs + 30 * share() });
  }
  return came.sort((one, other) => one.atMs - other.atMs);
}

/** Each packet is all of its number; what is heard of it tells when. */
function hear(network: Network) {
  let nowMs = 0;
  const heardMs = new Map<number, number>();
  const decoder = new Depacketizer({
    codec: l16,
    sink(frame) {
      const nth = (frame[159] as number) - 1;
      const isWhole = frame.subarray(100).every((sample) => sample === nth + 1);
      if (isWhole && !heardMs.has(nth)) heardMs.set(nth, nowMs);
    },
  });
  const stream = new RtpTimestamps(() => nowMs);
  const came = arrivals(network);
  let tickMs = 20;
  for (const { nth, atMs } of came) {
    for (; tickMs <= atMs; tickMs += 20) {
      nowMs = tickMs;
      decoder.tick(nowMs);
    }
    nowMs = atMs;
    const samples = new Uint8Array(320);
    l16.encode(new Int16Array(160).fill(nth + 1), samples);
    // As long as its time says: RTP of 8 kHz with two bytes a sample would be as long again.
    const header = { payloadType: 0, marker: false, sequence: nth, timestamp: nth * 160, ssrc: 1 };
    if (stream.payload(writeRtp(header, samples.subarray(0, 160))) === undefined) continue;
    decoder.push(samples, stream.timestampMs, nowMs);
  }
  const sent = new Set(came.map(({ nth }) => nth));
  const delaysMs = [...heardMs]
    .filter(([nth]) => sent.has(nth))
    .map(([nth, atMs]) => atMs - saidMs(nth, network.ppm));
  return {
    lost: PACKETS - sent.size,
    tooLate: (sent.size - delaysMs.length) / sent.size,
    concealed: decoder.concealed,
    meanMs: delaysMs.reduce((sum, ms) => sum + ms, 0) / delaysMs.length,
    maxMs: Math.max(...delaysMs),
  };
}

describe('packets of a network that', () => {
  it.each<[string, Partial<Network>, { meanMs: number; maxMs: number }]>([
    ['is steady', {}, { meanMs: 0, maxMs: 0 }],
    ['loses 1 %', { loss: 0.01 }, { meanMs: 2, maxMs: 60 }],
    ['loses 10 %, jitter 20 ms', { loss: 0.1, jitterMs: 20 }, { meanMs: 20, maxMs: 80 }],
    ['loses 5 %, jitter 60 ms', { loss: 0.05, jitterMs: 60 }, { meanMs: 40, maxMs: 140 }],
    ['loses 1 %, jitter 80 ms', { loss: 0.01, jitterMs: 80 }, { meanMs: 49, maxMs: 180 }],
    ['loses 10 %, jitter 80 ms', { loss: 0.1, jitterMs: 80 }, { meanMs: 62, maxMs: 180 }],
    [
      'loses 5 % and doubles 5 %, jitter 80 ms',
      { loss: 0.05, doubled: 0.05, jitterMs: 80 },
      { meanMs: 56, maxMs: 180 },
    ],
    [
      'loses 5 % and keeps the order, jitter 80 ms',
      { loss: 0.05, inOrder: true, jitterMs: 80 },
      { meanMs: 53, maxMs: 160 },
    ],
    [
      'has a sender 200 ppm fast',
      { loss: 0.01, jitterMs: 20, ppm: 200 },
      { meanMs: 12, maxMs: 80 },
    ],
    [
      'has a sender 200 ppm slow',
      { loss: 0.01, jitterMs: 20, ppm: -200 },
      { meanMs: 12, maxMs: 80 },
    ],
  ])('%s are all heard, and soon', (_, change, limit) => {
    const heard = hear({ ...STEADY, ...change });
    expect(heard.tooLate).toBeLessThan(0.001);
    expect(heard.concealed).toBeLessThanOrEqual(heard.lost + 6);
    expect(heard.meanMs).toBeLessThan(limit.meanMs + 0.001);
    expect(heard.maxMs).toBeLessThan(limit.maxMs + 0.001);
  });
});

describe('the jitter of arrivals', () => {
  it('is the smoothed difference of way times, by RFC 3550', () => {
    const jitter = new ArrivalJitter();
    jitter.arrived(0, 100);
    expect(jitter.jitterMs).toBe(0);
    jitter.arrived(20, 136);
    expect(jitter.jitterMs).toBe(1);
    jitter.arrived(40, 140);
    expect(jitter.jitterMs).toBe(1 + (16 - 1) / 16);
  });

  it('makes a missing packet worth 40 to 120 ms', () => {
    const jitter = new ArrivalJitter();
    expect(jitter.waitMs).toBe(40);
    for (let nth = 0; nth < 200; nth++) jitter.arrived(nth * 20, nth * 20 + (nth % 2) * 35);
    expect(jitter.waitMs).toBeCloseTo(70, 0);
    for (let nth = 200; nth < 400; nth++) jitter.arrived(nth * 20, nth * 20 + (nth % 2) * 500);
    expect(jitter.waitMs).toBe(120);
  });

  it('does not take a new stream for a late packet', () => {
    const jitter = new ArrivalJitter();
    jitter.arrived(0, 100);
    jitter.reset();
    jitter.arrived(50_000, 120);
    expect(jitter.jitterMs).toBe(0);
  });
});
