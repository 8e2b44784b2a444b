// Real UDP on loopback; only time is pretended.

import { createSocket, type Socket } from 'node:dgram';
import { afterEach, describe, expect, it } from 'vitest';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import { mediaSockets, packetsDropped } from '../../../src/metrics/metrics.ts';
import { systemRandom } from '../../../src/std/random.ts';
import { CLOSE, type MediaSocket } from '../../../src/transport/media-socket.ts';
import { type RtpPacket, readRtp, writeRtp } from '../../../src/transport/rtp/rtp-packet.ts';
import {
  createRtpPorts,
  type RtpPorts,
  shareOfPorts,
} from '../../../src/transport/rtp/rtp-ports.ts';
import { RTP_INACTIVITY_MS, type RtpSocket } from '../../../src/transport/rtp/rtp-socket.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { quietLog } from '../../fakes/quiet-log.ts';

const HOST = '127.0.0.1';
const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
});

function range(first: number, last: number) {
  const clock = new FakeClock();
  const quiet = quietLog();
  const options = { host: HOST, ports: { first, last }, clock, random: systemRandom };
  const ports: RtpPorts = createRtpPorts({ ...options, log: quiet.log });
  cleanups.push(() => ports.close());
  return { ports, clock, lines: quiet.lines };
}

/** Something that sends and takes RTP. */
class Peer {
  readonly packets: RtpPacket[] = [];
  #sequence = 1_000;
  readonly #udp: Socket;
  #wake: () => void = () => undefined;

  private constructor(udp: Socket) {
    this.#udp = udp;
    udp.on('message', (message) => {
      const packet = readRtp(message);
      if (packet !== undefined) this.packets.push(packet);
      this.#wake();
    });
  }

  static async open(): Promise<Peer> {
    const udp = createSocket('udp4');
    await new Promise<void>((resolve) => udp.bind(0, HOST, resolve));
    cleanups.push(() => udp.close());
    return new Peer(udp);
  }

  get address() {
    return { host: HOST, port: this.#udp.address().port };
  }

  async raw(message: Uint8Array, port: number): Promise<void> {
    await new Promise<void>((resolve) => this.#udp.send(message, port, HOST, () => resolve()));
  }

  async send(port: number, payload: string, more: { payloadType?: number; ssrc?: number } = {}) {
    const header = { payloadType: 0, ssrc: 7, timestamp: this.#sequence * 160, marker: false };
    const sequence = this.#sequence++;
    await this.raw(writeRtp({ ...header, sequence, ...more }, Buffer.from(payload)), port);
  }

  async until(count: number): Promise<void> {
    while (this.packets.length < count) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

/** A call that records its audio. */
class Call {
  readonly heard: string[] = [];
  closed: [number, string] | undefined;
  silences = 0;
  wakes: (() => void)[] = [];
  onBinary: () => void = () => undefined;

  begin(socket: RtpSocket, announced: { host: string; port: number } | undefined): void {
    socket.begin({
      payloadType: 0,
      announced,
      onRtpInactive: () => {
        this.silences += 1;
      },
      accept: (_: MediaSocket) => ({
        onText: () => undefined,
        onBinary: (message) => {
          this.heard.push(Buffer.from(readRtp(message)?.payload ?? []).toString());
          for (const wake of this.wakes.splice(0)) wake();
          this.onBinary();
        },
        onClose: (code, reason) => {
          this.closed = [code, reason];
        },
      }),
    });
  }

  async until(count: number): Promise<void> {
    while (this.heard.length < count) {
      await new Promise<void>((resolve) => this.wakes.push(resolve));
    }
  }
}

async function connected() {
  const { ports, clock, lines } = range(31_100, 31_199);
  const [socket, pbx] = await Promise.all([ports.open(), Peer.open()]);
  const call = new Call();
  call.begin(socket, pbx.address);
  return { ports, clock, lines, socket, pbx, call };
}

async function drops(reason: string): Promise<number> {
  const { values } = await packetsDropped.get();
  const own = values.find(({ labels }) => labels.kind === 'rtp' && labels.reason === reason);
  return own?.value ?? 0;
}

async function openSockets(): Promise<number> {
  return (await mediaSockets.get()).values[0]?.value ?? 0;
}

describe("a call's RTP", () => {
  it('goes to the address that was announced, a packet for each frame, counted on', async () => {
    const { socket, pbx } = await connected();
    socket.sendBinary(new Uint8Array(320).fill(1));
    socket.sendBinary(new Uint8Array(160).fill(2));
    await pbx.until(3);
    const [first, second, third] = pbx.packets as [RtpPacket, RtpPacket, RtpPacket];
    expect(pbx.packets.map(({ payload }) => [payload.length, payload[0]])).toEqual([
      [160, 1],
      [160, 1],
      [160, 2],
    ]);
    expect(pbx.packets.map(({ marker }) => marker)).toEqual([true, false, false]);
    expect((second.sequence - first.sequence) & 0xffff).toBe(1);
    expect((third.sequence - second.sequence) & 0xffff).toBe(1);
    expect((second.timestamp - first.timestamp) >>> 0).toBe(160);
    expect((third.timestamp - second.timestamp) >>> 0).toBe(160);
    expect(new Set(pbx.packets.map(({ ssrc }) => ssrc)).size).toBe(1);
    expect(first.payloadType).toBe(0);
  });

  it('has a pause of ours in its time, with a mark behind it, but no jitter of ours', async () => {
    const { socket, pbx, clock } = await connected();
    const frame = new Uint8Array(160);
    socket.sendBinary(frame);
    clock.advance(50); // 30 ms late
    socket.sendBinary(frame);
    clock.advance(1_000);
    socket.sendBinary(frame);
    await pbx.until(3);
    const [first, second, third] = pbx.packets as [RtpPacket, RtpPacket, RtpPacket];
    expect((second.timestamp - first.timestamp) >>> 0).toBe(160);
    expect((third.timestamp - first.timestamp) >>> 0).toBe(1_050 * 8);
    expect(pbx.packets.map(({ marker }) => marker)).toEqual([true, false, true]);
  });

  it('is heard as whole packets from the announced address, with any SSRC', async () => {
    const { socket, pbx, call } = await connected();
    await pbx.send(socket.port, 'a');
    await pbx.send(socket.port, 'b', { ssrc: 99 });
    await call.until(2);
    expect(call.heard).toEqual(['a', 'b']);
  });

  it('is dropped from an unknown sender, whose packets are counted', async () => {
    const { socket, pbx, call } = await connected();
    const before = await drops('stranger');
    await pbx.send(socket.port, 'a');
    await call.until(1);
    const stranger = await Peer.open();
    for (let i = 0; i < 10; i++) await stranger.send(socket.port, 'x');
    await pbx.send(socket.port, 'b');
    await call.until(2);
    expect(call.heard).toEqual(['a', 'b']);
    expect(await drops('stranger')).toBe(before + 10);
    socket.sendBinary(new Uint8Array(160));
    await pbx.until(1);
    expect(stranger.packets).toEqual([]);
  });

  it('goes back to where it comes from, if that is not what was announced', async () => {
    const { ports } = range(31_100, 31_199);
    const [socket, behindNat] = await Promise.all([ports.open(), Peer.open()]);
    const call = new Call();
    call.begin(socket, undefined);
    socket.sendBinary(new Uint8Array(160)); // Nobody knows where to.
    for (let i = 0; i < 6; i++) await behindNat.send(socket.port, String(i));
    await call.until(2);
    expect(call.heard).toEqual(['4', '5']);
    socket.sendBinary(new Uint8Array(160));
    await behindNat.until(1);
  });

  it('drops and counts what is no RTP, of another type, or far more than real time', async () => {
    const { socket, pbx, call } = await connected();
    const before = { bad: await drops('malformed'), type: await drops('type') };
    const flood = await drops('flood');
    await pbx.raw(Buffer.from('hello'), socket.port);
    await pbx.send(socket.port, 'comfort noise', { payloadType: 13 });
    for (let i = 0; i < 310; i++) {
      await pbx.send(socket.port, 'a');
      if (i % 20 === 0) await call.until(Math.min(i, 300));
    }
    await call.until(300);
    await pbx.raw(Buffer.from('hello'), socket.port);
    while ((await drops('malformed')) < before.bad + 2) {
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
    expect(call.heard.length).toBe(300);
    expect(await drops('flood')).toBe(flood + 10);
    expect(await drops('type')).toBe(before.type + 1);
  });

  it('that does not arrive is reported each ten seconds, and logged once', async () => {
    const { clock, call, lines, socket, pbx } = await connected();
    clock.advance(RTP_INACTIVITY_MS - 1);
    expect(call.silences).toBe(0);
    clock.advance(1);
    expect(call.silences).toBe(1);
    clock.advance(2 * RTP_INACTIVITY_MS);
    expect(call.silences).toBe(3);
    expect(lines().filter(({ msg }) => String(msg).includes('firewall'))).toHaveLength(1);
    await pbx.send(socket.port, 'a');
    await call.until(1);
    clock.advance(RTP_INACTIVITY_MS - 1);
    expect(call.silences).toBe(3);
    expect(socket.open).toBe(true);
  });

  it('ends once, reports it, and leaves neither timer nor port', async () => {
    const open = await openSockets();
    const { clock, call, socket } = await connected();
    expect(await openSockets()).toBe(open + 1);
    socket.close(CLOSE.normal, 'over');
    socket.close(CLOSE.internal, 'again');
    expect(call.closed).toEqual([CLOSE.normal, 'over']);
    expect(socket.open).toBe(false);
    socket.sendBinary(new Uint8Array(160));
    expect(socket.bufferedBytes).toBe(0);
    expect(clock.timers).toBe(0);
    expect(await openSockets()).toBe(open);
  });

  it('ends if the call cannot take a packet', async () => {
    const { call, socket, pbx } = await connected();
    call.onBinary = () => {
      throw new Error('a fault of ours');
    };
    await pbx.send(socket.port, 'a');
    await call.until(1);
    expect(call.closed?.[0]).toBe(CLOSE.internal);
  });
});

describe('RTP ports', () => {
  it('are shared out among processes, each of which has some and none that another has', () => {
    const shares = [1, 2, 3].map((nth) =>
      shareOfPorts({ first: 30_000, last: 30_100 }, { nth, count: 3 }),
    );
    expect(shares).toEqual([
      { first: 30_000, last: 30_032 },
      { first: 30_033, last: 30_065 },
      { first: 30_066, last: 30_100 },
    ]);
    const one = { first: 30_000, last: 30_000 };
    expect(shareOfPorts(one, { nth: 1, count: 1 })).toEqual(one);
    expect(shareOfPorts(one, { nth: 2, count: 3 })).toEqual(one);
  });

  it('are one for each call, in turn, and given back', async () => {
    const { ports } = range(31_200, 31_202);
    const sockets = await Promise.all([ports.open(), ports.open(), ports.open()]);
    expect(sockets.map(({ port }) => port).toSorted()).toEqual([31_200, 31_201, 31_202]);
    const refusal = await ports.open().then(String, codeOf);
    expect(refusal).toBe('PBX_MEDIA');
    const [first] = sockets;
    first.abandon();
    expect((await ports.open()).port).toBe(first.port);
  });

  it('that another program holds are passed over', async () => {
    const other = createSocket('udp4');
    await new Promise<void>((resolve) => other.bind(31_210, HOST, resolve));
    cleanups.push(() => other.close());
    const { ports } = range(31_210, 31_211);
    expect((await ports.open()).port).toBe(31_211);
    expect(await ports.open().then(String, codeOf)).toBe('PBX_MEDIA');
  });

  it('are all closed when the gateway stops, and calls are notified', async () => {
    const { ports, call } = await connected();
    ports.close();
    expect(call.closed?.[0]).toBe(CLOSE.goingAway);
  });
});
