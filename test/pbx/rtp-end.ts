// The audio of a telephone: µ-law and telephone events over RTP, on loopback. It sends and measures; SIP is the work of
// the SIP client (sip-client.ts). Source: RFC 3550, RFC 4733.

import { randomInt } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { FRAME_MS, FRAME_SAMPLES } from '../../src/audio/pcm.ts';
import type { ToneSamples } from '../../src/audio/tones/tone-generator.ts';
import { pcmu } from '../../src/codec/g711.ts';
import { readRtp, writeRtp } from '../../src/transport/rtp/rtp-packet.ts';
import { levelDbfs, sine } from '../audio/sounds.ts';

/** What telephones and agents play, so that a measurement can tell it from speech and music. */
export const TONE = { hz: 1_000, levelDbfs: -20 } as const;

const PCMU = 0;
const TELEPHONE_EVENT = 101;
const EVENTS = '0123456789*#ABCD';
/** 100 ms of a key, the last packet three times (RFC 4733, 2.5.1.4). */
const KEY_FRAMES = 5;
const KEY_ENDS = 3;
/** Ten minutes: no call of the run is longer. */
const HEARD_FRAMES_MAX = 30_000;
/** Below this a frame is silent: comfort noise and the quantisation of µ-law are below. */
const SILENCE_DBFS = -50;
/** Share of a frame's energy at the frequency of TONE. */
const TONE_SHARE_MIN = 0.9;
/** Ports of five digits: a dialled number carries the port (sip-client.ts). */
const PORT_MIN = 30_000;
const PORT_MAX = 32_700;
const PORT_TRIES_MAX = 50;

export type Sound = 'silence' | 'tone' | 'other';

export interface HeardFrame {
  atMs: number;
  sound: Sound;
  levelDbfs: number;
}

export class RtpEnd {
  readonly port: number;
  readonly heard: HeardFrame[] = [];
  /** Keys that were sent to the telephone. */
  digits = '';
  readonly #socket: Socket;
  readonly #ssrc = randomInt(2 ** 32);
  #sequence = randomInt(2 ** 16);
  #timestamp = randomInt(2 ** 31);
  #farPort = 0;
  #sound: ToneSamples | null = null;
  #isSending = true;
  #keys: { event: number; sent: number; timestamp: number }[] = [];
  #lastEvent = -1;
  #timer: NodeJS.Timeout | undefined;
  #dueMs = 0;
  #isClosed = false;

  private constructor(socket: Socket, port: number) {
    this.#socket = socket;
    this.port = port;
    socket.on('message', (packet) => this.#take(packet));
    socket.on('error', () => undefined); // Nobody listens there any more: the call's end is reported by SIP.
  }

  static async open(): Promise<RtpEnd> {
    for (let tries = 0; tries < PORT_TRIES_MAX; tries++) {
      const port = randomInt(PORT_MIN, PORT_MAX);
      const socket = await bound(port);
      if (socket !== undefined) return new RtpEnd(socket, port);
    }
    throw new Error(`no free UDP port from ${PORT_MIN} to ${PORT_MAX}`);
  }

  /** Begins to send. */
  connect(farPort: number): void {
    this.#farPort = farPort;
    if (this.#timer !== undefined) return;
    this.#dueMs = performance.now();
    this.#send();
  }

  /** TONE, or silence. */
  play(isTone: boolean): void {
    this.#sound = isTone ? sine(TONE) : null;
  }

  /** A telephone that has put its call on hold sends nothing. */
  hold(on: boolean): void {
    this.#isSending = !on;
  }

  press(keys: string): void {
    for (const key of keys) {
      this.#keys.push({ event: EVENTS.indexOf(key), sent: 0, timestamp: 0 });
    }
  }

  /** May be called twice. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#farPort = 0;
    this.#socket.close();
  }

  // What was heard.

  /** When a sound was first heard after a moment; undefined if it was not. */
  firstMs(sound: Sound, afterMs: number): number | undefined {
    return this.heard.find((frame) => frame.sound === sound && frame.atMs >= afterMs)?.atMs;
  }

  /** How long a sound was heard between two moments. */
  totalMs(sound: Sound, fromMs: number, toMs: number = Number.POSITIVE_INFINITY): number {
    const isWanted = (frame: HeardFrame) =>
      frame.sound === sound && frame.atMs >= fromMs && frame.atMs < toMs;
    return this.heard.filter(isWanted).length * FRAME_MS;
  }

  /** Mean level of the frames with TONE. */
  toneDbfs(fromMs: number): number {
    const tones = this.heard.filter(({ sound, atMs }) => sound === 'tone' && atMs >= fromMs);
    return meanDbfs(tones.map((frame) => frame.levelDbfs));
  }

  #send(): void {
    this.#frame();
    this.#dueMs += FRAME_MS;
    const waitMs = Math.max(0, this.#dueMs - performance.now());
    this.#timer = setTimeout(() => this.#send(), waitMs);
  }

  #frame(): void {
    this.#timestamp = (this.#timestamp + FRAME_SAMPLES) >>> 0;
    if (!this.#isSending || this.#farPort === 0) return;
    const [key] = this.#keys;
    if (key !== undefined) {
      this.#sendKey(key);
      return;
    }
    const pcm = new Int16Array(FRAME_SAMPLES);
    this.#sound?.fill(pcm);
    const payload = new Uint8Array(FRAME_SAMPLES);
    pcmu.encode(pcm, payload);
    this.#packet({ payloadType: PCMU, timestamp: this.#timestamp, marker: false }, payload);
  }

  #sendKey(key: { event: number; sent: number; timestamp: number }): void {
    if (key.sent === 0) key.timestamp = this.#timestamp;
    key.sent += 1;
    const isEnd = key.sent >= KEY_FRAMES;
    const duration = Math.min(key.sent, KEY_FRAMES) * FRAME_SAMPLES;
    const payload = Uint8Array.of(key.event, isEnd ? 0x8a : 0x0a, duration >> 8, duration & 0xff);
    const { timestamp } = key;
    for (let times = isEnd ? KEY_ENDS : 1; times > 0; times--) {
      this.#packet({ payloadType: TELEPHONE_EVENT, timestamp, marker: key.sent === 1 }, payload);
    }
    if (isEnd) this.#keys.shift();
  }

  #packet(
    header: { payloadType: number; timestamp: number; marker: boolean },
    payload: Uint8Array,
  ): void {
    this.#sequence = (this.#sequence + 1) & 0xffff;
    const packet = writeRtp({ ...header, sequence: this.#sequence, ssrc: this.#ssrc }, payload);
    this.#socket.send(packet, this.#farPort, '127.0.0.1');
  }

  #take(packet: Uint8Array): void {
    const read = readRtp(packet);
    if (read === undefined) return;
    if (read.payloadType === TELEPHONE_EVENT) this.#takeEvent(read.payload, read.timestamp);
    if (read.payloadType !== PCMU || this.heard.length >= HEARD_FRAMES_MAX) return;
    const pcm = new Int16Array(read.payload.length);
    pcmu.decode(read.payload, pcm);
    this.heard.push({ atMs: performance.now(), ...soundOf(pcm) });
  }

  /** All packets of a key have the timestamp of its beginning. */
  #takeEvent(payload: Uint8Array, timestamp: number): void {
    if (timestamp === this.#lastEvent) return;
    this.#lastEvent = timestamp;
    this.digits += EVENTS[payload[0] ?? EVENTS.length] ?? '';
  }
}

/** Which sound it is, and its level. */
export function soundOf(pcm: Int16Array): { sound: Sound; levelDbfs: number } {
  const level = levelDbfs(pcm);
  if (level < SILENCE_DBFS) return { sound: 'silence', levelDbfs: level };
  return { sound: toneShare(pcm) >= TONE_SHARE_MIN ? 'tone' : 'other', levelDbfs: level };
}

/** Mean of powers, in dBFS. */
export function meanDbfs(levels: readonly number[]): number {
  const powers = levels.map((level) => 10 ** (level / 10));
  return 10 * Math.log10(powers.reduce((sum, power) => sum + power, 0) / powers.length);
}

/** Share of the energy at TONE.hz, by the Goertzel algorithm. */
function toneShare(pcm: Int16Array): number {
  const coefficient = 2 * Math.cos((2 * Math.PI * TONE.hz) / 8_000);
  let [last, before, energy] = [0, 0, 0];
  for (const sample of pcm) {
    const next = sample + coefficient * last - before;
    before = last;
    last = next;
    energy += sample * sample;
  }
  const power = last * last + before * before - coefficient * last * before;
  return energy === 0 ? 0 : (2 * power) / (pcm.length * energy);
}

function bound(port: number): Promise<Socket | undefined> {
  const socket = createSocket('udp4');
  return new Promise((resolve) => {
    socket.once('error', () => resolve(undefined));
    socket.bind(port, '127.0.0.1', () => {
      socket.removeAllListeners('error');
      resolve(socket);
    });
  });
}
