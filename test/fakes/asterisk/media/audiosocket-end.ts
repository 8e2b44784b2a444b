// AudioSocket as chan_audiosocket speaks it: Asterisk dials, sends the call's UUID, and then audio both
// ways in frames of [kind, length, payload]. Nothing is paced: what comes goes straight to the caller.
// Source: asterisk §3.

import { connect, type Socket } from 'node:net';
import type { Codec } from '../../../../src/codec/codec.ts';
import type { Channel, Line } from '../channel.ts';
import type { Pbx } from '../pbx.ts';
import { type Frame, RateConverter } from './frame.ts';
import { decoded, encoded } from './media-format.ts';

const KIND_HANGUP = 0x00;
const KIND_UUID = 0x01;
const KIND_DTMF = 0x03;
const KIND_SLIN = 0x10;
const KIND_SLIN16 = 0x12;
const HEADER_BYTES = 3;
const CONNECT_MS_MAX = 2_000;
const UUID = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

export interface PacketTarget {
  address: string;
  port: number;
  format: { name: string; codec: Codec };
  /** AudioSocket only. */
  uuid: string;
}

export class AudioSocketEnd implements Line {
  readonly uuid: string;
  /** Kinds that came, with the lengths. */
  readonly received: { kind: number; bytes: number; atMs: number }[] = [];
  readonly #pbx: Pbx;
  readonly #target: PacketTarget;
  readonly #convert: RateConverter;
  #channel: Channel | null = null;
  #socket: Socket | null = null;
  #unread: Buffer = Buffer.alloc(0);

  constructor(pbx: Pbx, target: PacketTarget) {
    this.#pbx = pbx;
    this.#target = target;
    this.uuid = target.uuid;
    this.#convert = new RateConverter(target.format.codec.rateHz);
  }

  get channelName(): string {
    return `AudioSocket/${this.#service}-${this.uuid}`;
  }

  get channelVariables(): Record<string, string> {
    return { ['AUDIOSOCKET_SERVICE']: this.#service, ['AUDIOSOCKET_UUID']: this.uuid };
  }

  get dialString(): string {
    return `${this.#service}/${this.uuid}`;
  }

  get #service(): string {
    return `${this.#target.address}:${this.#target.port}`;
  }

  /** False if nobody is there. */
  async open(): Promise<boolean> {
    if (!UUID.test(this.uuid)) return false;
    const socket = connect({ host: this.#target.address, port: this.#target.port });
    this.#socket = socket;
    socket.setNoDelay(true);
    const kill = (): void => void socket.destroy();
    this.#pbx.mortals.add(kill);
    socket.once('close', () => this.#pbx.mortals.delete(kill));
    return await new Promise((resolve) => {
      const cancel = this.#pbx.later(CONNECT_MS_MAX, () => socket.destroy());
      const finish = (isOpen: boolean): void => {
        cancel();
        resolve(isOpen);
      };
      socket.once('connect', () => finish(true));
      socket.on('error', () => finish(false));
      socket.once('close', () => finish(false));
    });
  }

  start(channel: Channel): void {
    this.#channel = channel;
    const socket = this.#socket;
    if (socket === null) return;
    socket.on('data', (data: Buffer) => this.#take(data));
    socket.once('close', () => this.#closed());
    if (socket.destroyed) this.#closed();
    this.send(KIND_UUID, Buffer.from(this.uuid.replaceAll('-', ''), 'hex'));
  }

  audio(frame: Frame): void {
    const { codec, name } = this.#target.format;
    const kind = name === 'slin16' ? KIND_SLIN16 : KIND_SLIN;
    this.send(kind, encoded(codec, this.#convert.convert(frame)));
  }

  digit(digit: string): void {
    this.send(KIND_DTMF, Buffer.from(digit));
  }

  answer(): void {
    // It is up from the start.
  }

  ring(): void {
    // Nobody at the other end would hear it.
  }

  gone(): void {
    this.#channel = null;
    this.#socket?.end();
  }

  send(kind: number, payload: Uint8Array): void {
    const header = Buffer.alloc(HEADER_BYTES);
    header.writeUInt8(kind);
    header.writeUInt16BE(payload.length, 1);
    if (this.#socket?.writable === true) this.#socket.write(Buffer.concat([header, payload]));
  }

  /** The connection breaks without a goodbye. */
  cut(): void {
    this.#socket?.resetAndDestroy();
  }

  #take(data: Buffer): void {
    this.#unread = Buffer.concat([this.#unread, data]);
    while (this.#unread.length >= HEADER_BYTES) {
      const end = HEADER_BYTES + this.#unread.readUInt16BE(1);
      if (this.#unread.length < end) return;
      const kind = this.#unread.readUInt8();
      const payload = this.#unread.subarray(HEADER_BYTES, end);
      this.#unread = this.#unread.subarray(end);
      this.#takeFrame(kind, payload);
    }
  }

  #takeFrame(kind: number, payload: Uint8Array): void {
    this.received.push({ kind, bytes: payload.length, atMs: this.#pbx.clock.monotonicMs() });
    if (kind === KIND_HANGUP) {
      this.#socket?.end();
      this.#closed();
    } else if (kind >= KIND_SLIN && kind <= 0x18) {
      const { codec } = this.#target.format;
      this.#channel?.takeAudio({ pcm: decoded(codec, payload), rateHz: codec.rateHz });
    } else {
      this.#pbx.complaints.push(`an AudioSocket frame of kind ${kind}`);
    }
  }

  #closed(): void {
    const channel = this.#channel;
    this.#channel = null;
    if (channel !== null) this.#pbx.hangUp(channel, 0, null);
  }
}
