// One AudioSocket connection, from the accept to the end of the call's audio: a media socket with audio only. Text is
// not sent, and received keys are ignored, because ARI reports them too.
// Source: asterisk §3, §0.20.

import type { Socket } from 'node:net';
import { type ErrorCode, GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import { mediaFaults, packetsDropped } from '../../metrics/metrics.ts';
import type { Clock, Timer } from '../../std/clock.ts';
import { CLOSE, type MediaSocket, type MediaSocketListener } from '../media-socket.ts';
import { RateLimiter } from '../rate-limit.ts';
import { FrameReader, KIND, writeFrame } from './audiosocket-frames.ts';

/** Rate limit: ten times the real-time number of frames, and the bytes per second of 192 kHz. */
const RATE = { messagesPerSecondMax: 500, bytesPerSecondMax: 512 * 1024 };
/** Bytes that the peer has not read: four seconds at 16 kHz. */
const BUFFERED_BYTES_MAX = 128 * 1024;
/** Wait from our close to the end of the connection. */
const CLOSE_MS_MAX = 2_000;
/** TCP keep-alive interval, which detects a dead host. */
const KEEP_ALIVE_MS = 15_000;
const BROKEN = 1006;

export interface AudioSocketCall {
  format: AudioSocketFormat;
  accept: (socket: MediaSocket) => MediaSocketListener;
}

export interface AudioSocketFormat {
  kind: number;
  /** Bytes of a 20 ms frame. */
  frameBytes: number;
}

/** Formats by Asterisk's names. Others would be sent under the name of linear audio. */
export const AUDIOSOCKET_FORMATS: Readonly<Record<string, AudioSocketFormat>> = {
  slin: { kind: KIND.slin, frameBytes: 320 },
  slin16: { kind: KIND.slin16, frameBytes: 640 },
};

export interface AudioSocketConnectionOptions {
  socket: Socket;
  clock: Clock;
  log: Log;
  /** Returns the call of a connection. Undefined if no call waits for it. */
  identify: (uuid: Uint8Array) => AudioSocketCall | undefined;
  onClosed: () => void;
  firstFrameMs: number;
}

export class AudioSocketConnection implements MediaSocket {
  readonly #socket: Socket;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #identify: AudioSocketConnectionOptions['identify'];
  readonly #onClosed: () => void;
  readonly #reader = new FrameReader();
  readonly #rate: RateLimiter;
  #call: AudioSocketCall | undefined;
  #listener: MediaSocketListener | undefined;
  /** Close code and reason for the listener; set when the end has begun. */
  #ending: { code: number; reason: string } | undefined;
  #isClosed = false;
  #timer: Timer;

  constructor(options: AudioSocketConnectionOptions) {
    const { socket, clock, firstFrameMs } = options;
    this.#socket = socket;
    this.#clock = clock;
    this.#log = options.log;
    this.#identify = options.identify;
    this.#onClosed = options.onClosed;
    this.#rate = new RateLimiter(clock, RATE);
    this.#timer = clock.after(firstFrameMs, () => this.#fail('MEDIA_SILENT'));
    socket.setNoDelay(true);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    socket.on('data', (chunk: Buffer) => this.#data(chunk));
    socket.on('end', () => this.close(CLOSE.normal, 'the PBX closed it'));
    socket.on('error', () => undefined); // Its close event follows.
    socket.once('close', () => this.#finish());
  }

  get open(): boolean {
    return this.#ending === undefined && !this.#isClosed && this.#socket.writable;
  }

  get bufferedBytes(): number {
    return this.#socket.writableLength;
  }

  sendText(): void {
    // AudioSocket carries audio only.
  }

  sendBinary(message: Uint8Array): void {
    if (!this.open || this.#call === undefined) return;
    const { kind, frameBytes } = this.#call.format;
    for (let at = 0; at < message.length; at += frameBytes) {
      this.#socket.write(writeFrame(kind, message.subarray(at, at + frameBytes)));
    }
    if (this.#socket.writableLength > BUFFERED_BYTES_MAX) this.#fail('MEDIA_STALLED');
  }

  close(code: number, reason: string): void {
    if (this.#ending !== undefined || this.#isClosed) return;
    this.#ending = { code, reason };
    this.#timer.cancel();
    this.#timer = this.#clock.after(CLOSE_MS_MAX, () => this.#socket.destroy());
    const goodbye = this.#call === undefined ? undefined : writeFrame(KIND.hangUp, NOTHING);
    if (this.#socket.writable && goodbye !== undefined) this.#socket.end(goodbye);
    else this.#socket.end();
  }

  /** Closes the connection to free its place for another. */
  evict(): void {
    this.#ending ??= { code: CLOSE.policy, reason: 'MEDIA_FLOOD' };
    this.#socket.destroy();
  }

  #data(chunk: Buffer): void {
    try {
      this.#reader.read(chunk, (kind, payload) => this.#frame(kind, payload));
    } catch (error) {
      this.#refuse(error);
    }
  }

  #frame(kind: number, payload: Uint8Array): void {
    if (this.#ending !== undefined) return;
    if (!this.#rate.allows(payload.length)) this.#fail('MEDIA_FLOOD');
    else if (this.#call === undefined) this.#first(kind, payload);
    else if (kind === this.#call.format.kind) this.#listener?.onBinary(payload);
    else if (kind === KIND.hangUp) this.close(CLOSE.normal, 'the PBX hung up');
    else if (kind === KIND.error) this.#fail('MEDIA_MALFORMED');
    else if (kind !== KIND.digit) packetsDropped.inc({ kind: 'audiosocket', reason: 'type' });
  }

  #first(kind: number, payload: Uint8Array): void {
    const call = kind === KIND.uuid ? this.#identify(payload) : undefined;
    if (call === undefined) {
      packetsDropped.inc({ kind: 'audiosocket', reason: 'stranger' });
      this.#fail(kind === KIND.uuid ? 'MEDIA_UNAUTHORIZED' : 'MEDIA_MALFORMED');
      return;
    }
    this.#timer.cancel();
    this.#call = call;
    this.#listener = call.accept(this);
  }

  /** Closes the connection after a failed frame: as the peer's fault if the error is a GatewayError, else as an
   *  internal error. */
  #refuse(error: unknown): void {
    if (error instanceof GatewayError) {
      this.#fail(error.code);
      return;
    }
    this.#log.error({ err: error }, 'media listener failed');
    this.close(CLOSE.internal, 'internal error');
  }

  /** Ends without a closing frame: a peer that breaks the protocol may not read it either. */
  #fail(code: ErrorCode): void {
    if (this.#ending !== undefined || this.#isClosed) return;
    mediaFaults.inc({ code });
    this.#log.warn({ code }, 'AudioSocket connection closed for a fault');
    this.#ending = { code: CLOSE.policy, reason: code };
    this.#socket.destroy();
  }

  #finish(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#timer.cancel();
    this.#onClosed();
    const { code, reason } = this.#ending ?? { code: BROKEN, reason: '' };
    this.#listener?.onClose(code, reason);
  }
}

const NOTHING = new Uint8Array(0);
