// chan_websocket's end of a media socket: control messages in JSON or plain text, the queue of what it is
// sent, one message a frame of what it sends. Source: asterisk §2.3 to §2.6.

import type WebSocket from 'ws';
import type { Codec } from '../../../../src/codec/codec.ts';
import type { Channel, Line } from '../channel.ts';
import type { Pbx } from '../pbx.ts';
import { type Frame, RateConverter } from './frame.ts';
import { decoded, encoded } from './media-format.ts';
import { type MediaNotice, MediaQueue } from './media-queue.ts';

/** Longer text messages are not looked at. */
const TEXT_CHARACTERS_MAX = 128;
/** Larger messages end the socket: what fits into Asterisk's buffer, less the header and its mask. */
const MESSAGE_BYTES_MAX = { server: 65_527, client: 65_531 };
/** A message in ten pieces or more is taken for a dead peer; up to here it goes in one. */
const SEGMENT_BYTES = 1_448;
/** Asterisk blocks once so much is not read: with it, everything that makes channels. */
const UNREAD_BYTES_MAX = 64 * 1024;

export type Direction = 'both' | 'in' | 'out';

export interface MediaFacts {
  connectionId: string;
  format: string;
  codec: Codec;
  isJson: boolean;
  direction: Direction;
  answersItself: boolean;
  /** Who dialled the socket. */
  side: 'server' | 'client';
}

export class ChanWebsocket implements Line {
  readonly queue: MediaQueue;
  readonly facts: MediaFacts;
  /** Every text message of the other side. */
  readonly commands: string[] = [];
  /** Frames handed to the bridge (or lost, for want of one). */
  deliveredFrames = 0;
  lostFrames = 0;
  readonly #pbx: Pbx;
  readonly #channel: Channel;
  readonly #convert: RateConverter;
  readonly #onUp: () => void;
  #direction: Direction;
  #socket: WebSocket | null = null;
  #stop: () => void = () => undefined;
  #beats = 0;

  constructor(pbx: Pbx, channel: Channel, facts: MediaFacts, onUp: () => void) {
    this.#pbx = pbx;
    this.#channel = channel;
    this.facts = facts;
    this.#direction = facts.direction;
    this.#onUp = onUp;
    this.#convert = new RateConverter(facts.codec.rateHz);
    this.queue = new MediaQueue({
      frameBytes: facts.codec.frameBytes,
      notify: (notice) => this.#notify(notice),
    });
  }

  get channelId(): string {
    return this.#channel.id;
  }

  get isConnected(): boolean {
    return this.#socket !== null;
  }

  /** It was connected once, and is no more; or its channel is gone. */
  get isUsedUp(): boolean {
    return this.#channel.isOver;
  }

  /** The other side does not read: what a real Asterisk does not survive. */
  get isUnread(): boolean {
    return (this.#socket?.bufferedAmount ?? 0) > UNREAD_BYTES_MAX;
  }

  attach(socket: WebSocket): void {
    this.#socket = socket;
    // Whatever code it is closed with, Asterisk answers 1001.
    const close = socket.close.bind(socket);
    socket.close = (code) => close(this.#socket === socket ? 1001 : code);
    socket.on('message', (data: Buffer, isBinary: boolean) => {
      if (isBinary) this.#takeBinary(data);
      else this.#takeText(data.toString());
    });
    socket.on('error', () => undefined); // What broke is told by the close that follows.
    socket.on('close', (code: number) => this.#closed(code));
    if (this.#pbx.faults.audioBeforeStart) socket.send(new Uint8Array(this.facts.codec.frameBytes));
    this.#sendStart();
    this.#stop = this.#pbx.ticker.add('source', () => this.#beat());
    if (this.facts.answersItself) this.#onUp();
  }

  audio(frame: Frame): void {
    if (this.#direction === 'out' || this.#socket === null) return;
    this.#socket.send(encoded(this.facts.codec, this.#convert.convert(frame)));
  }

  digit(digit: string): void {
    const id = this.#pbx.version.mediaChannelId ? { channel_id: this.#channel.id } : {};
    this.#send('DTMF_END', this.facts.isJson ? { ...id, digit } : { digit, ...id });
  }

  answer(): void {
    this.#onUp();
  }

  ring(): void {
    // Nobody at the other end would hear it.
  }

  gone(): void {
    this.#stop();
    const socket = this.#socket;
    this.#socket = null;
    socket?.close(1000);
  }

  #beat(): void {
    if (this.#losesBeat()) return;
    const frame = this.queue.beat();
    const { codec } = this.facts;
    if (frame === undefined) {
      if (this.#pbx.version.silenceFill && this.#channel.bridge !== null) {
        const pcm = new Int16Array(codec.rateHz / 50);
        this.#channel.takeAudio({ pcm, rateHz: codec.rateHz });
      }
      return;
    }
    if (this.#channel.bridge === null) this.lostFrames += 1;
    else this.deliveredFrames += 1;
    this.#channel.takeAudio({ pcm: decoded(codec, frame), rateHz: codec.rateHz });
  }

  /** Two ticks that came by the time it looks are one frame. */
  #losesBeat(): boolean {
    this.#beats += 1;
    const { lostBeats, lostBeatEvery } = this.#pbx.faults;
    return this.#beats <= lostBeats || this.#beats % lostBeatEvery === 0;
  }

  #takeBinary(message: Uint8Array): void {
    if (message.length > MESSAGE_BYTES_MAX[this.facts.side]) {
      this.#complain(`a message of ${message.length} bytes`);
      this.#end(38, 1009);
      return;
    }
    if (message.length > SEGMENT_BYTES) this.#complain('a message larger than a segment');
    if (this.#direction === 'in') return;
    this.queue.push(message);
  }

  #takeText(message: string): void {
    this.commands.push(message);
    if (message.length > TEXT_CHARACTERS_MAX) {
      this.#complain('a control message of more than 128 characters');
      return;
    }
    if (!this.facts.isJson) {
      const [command = '', argument = ''] = message.trim().split(/\s+/);
      this.#command(command, { correlationId: argument, direction: null });
      return;
    }
    let parsed: unknown;
    try {
      parsed = JSON.parse(message);
    } catch {
      this.#error('Unable to parse JSON command');
      return;
    }
    const field = (name: string): string => {
      const value: unknown =
        typeof parsed === 'object' && parsed !== null ? Reflect.get(parsed, name) : undefined;
      return typeof value === 'string' ? value : '';
    };
    const direction = field('direction');
    this.#command(field('command'), { correlationId: field('correlation_id'), direction });
  }

  #command(command: string, given: { correlationId: string; direction: string | null }): void {
    const { queue } = this;
    if (this.#direction === 'in' && /^(MARK|START|STOP|PAUSE|CONTINUE)_MEDIA/.test(command)) {
      this.#error(`${command} not supported while media direction is 'in'`);
      return;
    }
    const commands: Record<string, () => void> = {
      ['ANSWER']: () => this.#onUp(),
      ['HANGUP']: () => this.#end(16, 1000),
      ['START_MEDIA_BUFFERING']: () => queue.startBulk(),
      ['STOP_MEDIA_BUFFERING']: () => queue.stopBulk(given.correlationId),
      ['FLUSH_MEDIA']: () => queue.flush(),
      ['REPORT_QUEUE_DRAINED']: () => queue.reportDrained(),
      ['PAUSE_MEDIA']: () => queue.pause(true),
      ['CONTINUE_MEDIA']: () => queue.pause(false),
      ['GET_STATUS']: () => this.#sendStatus(),
      ['SET_MEDIA_DIRECTION']: () => this.#setDirection(given.direction),
    };
    if (this.#pbx.version.mediaJson) commands['MARK_MEDIA'] = () => queue.mark(given.correlationId);
    const run = commands[command];
    if (run === undefined) this.#complain(`an unknown command ${command}`);
    else run();
  }

  #setDirection(direction: string | null): void {
    if (direction === null) this.#error('SET_MEDIA_DIRECTION only supports JSON format.\n');
    else if (direction === 'in' || direction === 'out' || direction === 'both') {
      this.#direction = direction;
    }
  }

  #sendStart(): void {
    const { connectionId, format, codec } = this.facts;
    const { version } = this.#pbx;
    const variables = Object.fromEntries(this.#channel.variables);
    this.#send('MEDIA_START', {
      connection_id: connectionId,
      channel: this.#channel.name,
      ...(version.mediaChannelId ? { channel_id: this.#channel.id } : {}),
      format,
      optimal_frame_size: codec.frameBytes,
      ptime: 20,
      ...(this.facts.isJson ? { channel_variables: variables } : {}),
    });
  }

  #sendStatus(): void {
    const id = this.#pbx.version.mediaChannelId ? { channel_id: this.#channel.id } : {};
    this.#send('STATUS', { ...id, ...this.queue.status });
  }

  #notify(notice: MediaNotice): void {
    const { event, ...facts } = notice;
    if (this.facts.isJson) {
      this.#send(event, { channel_id: this.#channel.id, ...facts });
      return;
    }
    const id = 'correlation_id' in notice ? notice.correlation_id : '';
    this.#socket?.send(id === '' ? event : `${event} ${id}`);
  }

  #error(text: string): void {
    this.#send('ERROR', { channel_id: this.#channel.id, error_text: text });
  }

  #send(event: string, facts: Record<string, unknown>): void {
    const words = Object.entries(facts).map(([name, value]) => `${name}:${String(value)}`);
    const json = JSON.stringify({ event, ...facts });
    this.#socket?.send(this.facts.isJson ? json : [event, ...words].join(' '));
  }

  #complain(what: string): void {
    this.#pbx.complaints.push(`${what} on the media socket of ${this.#channel.id}`);
  }

  /** Asterisk ends it. */
  #end(cause: number, code: number): void {
    const socket = this.#socket;
    this.#socket = null;
    socket?.close(code);
    this.#hangUp(cause, code === 1009 ? 1001 : code);
  }

  /** The other side has ended it: in order, or by dying. */
  #closed(code: number): void {
    if (this.#socket === null) return;
    this.#socket = null;
    this.#hangUp(code === 1006 ? 38 : 16, 1001);
  }

  #hangUp(cause: number, techCause: number): void {
    this.#stop();
    const { techCause: isTold } = this.#pbx.version;
    if (isTold) this.#channel.techCause = techCause;
    const request = isTold ? { cause, tech_cause: techCause } : { cause };
    this.#pbx.hangUp(this.#channel, 0, request);
  }
}
