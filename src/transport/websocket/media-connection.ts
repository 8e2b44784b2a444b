// One media websocket within its limits: size, rate, time and back-pressure. Independent of message formats and calls;
// media-server.ts and its caller admit or refuse sockets.
// Source: RFC 6455 for closing and pings.

import type { Duplex } from 'node:stream';
import { type ErrorCode, GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import { mediaFaults } from '../../metrics/metrics.ts';
import type { BatchedReads, SocketKernel } from '../../runtime/direct-socket.ts';
import type { Clock, Timer } from '../../std/clock.ts';
import { SlidingDeadline } from '../../std/sliding-deadline.ts';
import { CLOSE, type MediaSocket, type MediaSocketListener } from '../media-socket.ts';
import { RateLimiter } from '../rate-limit.ts';
import { type WebsocketListener, WebsocketStream } from './websocket-stream.ts';

export interface MediaLimits {
  /** Largest message: half a second of 48 kHz PCM in base64. */
  messageBytesMax: number;
  /** Messages per second, pings and pongs included: ten times real time, so that a stalled network may catch up. */
  messagesPerSecondMax: number;
  /** Bytes per second: twenty times the need of the widest codec. */
  bytesPerSecondMax: number;
  /** Messages and bytes buffered before admission: a real-time sender must reach the end of `authorizeMs` first. */
  earlyMessagesMax: number;
  earlyBytesMax: number;
  /** Bytes that the peer has not read, in addition to the kernel's buffer: 20 s of telephone audio. */
  bufferedBytesMax: number;
  /** Deadline from the upgrade to the first message. */
  firstMessageMs: number;
  /** Longest time without a message. Undefined: only pings show that the peer is there. */
  idleMs?: number | undefined;
  /** Interval of pings, and deadline for the answer to one. */
  pingMs: number;
  pongMs: number;
  /** Wait from our close to the end of the connection. */
  closeMs: number;
  /** Deadline from the upgrade to the decision whether to admit. */
  authorizeMs: number;
  /** Admitted sockets of one process. */
  socketsMax: number;
}

export const DEFAULT_MEDIA_LIMITS: MediaLimits = {
  messageBytesMax: 64 * 1024,
  messagesPerSecondMax: 500,
  bytesPerSecondMax: 1024 * 1024,
  earlyMessagesMax: 300,
  earlyBytesMax: 128 * 1024,
  bufferedBytesMax: 256 * 1024,
  firstMessageMs: 10_000,
  pingMs: 15_000,
  pongMs: 10_000,
  closeMs: 2_000,
  authorizeMs: 5_000,
  socketsMax: 4_000,
};

/** Share of pings and pongs among the messages that a peer may send. */
const CONTROL_SHARE = 10;

export interface MediaConnectionOptions {
  /** A websocket after its handshake, and the bytes received after it. */
  socket: Duplex;
  head: Buffer;
  /** Our role. */
  side: 'server' | 'client';
  log: Log;
  clock: Clock;
  limits: MediaLimits;
  onClosed: () => void;
  /** Speeds up reads and writes where possible. Default: none. */
  kernel?: SocketKernel | undefined;
}

interface End {
  code: number;
  reason: string;
}

export class MediaConnection implements MediaSocket, WebsocketListener {
  readonly #ws: WebsocketStream;
  /** Undefined if data is delivered by events only. */
  readonly reads: BatchedReads | undefined;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #limits: MediaLimits;
  readonly #onClosed: () => void;
  #listener: MediaSocketListener | undefined;
  /** Messages received before there was a listener. */
  #early: (string | Uint8Array)[] = [];
  #earlyBytes = 0;
  /** Code and reason for the listener; set when the gateway has started to close. */
  #ending: End | undefined;
  /** Code and reason; set when the connection is gone. */
  #ended: End | undefined;
  readonly #rate: RateLimiter;
  /** Rate of pings, each of which is answered, and pongs. */
  readonly #controlRate: RateLimiter;
  /** Whether anything arrived since the last ping. */
  #alive = true;
  #silence: Timer;
  readonly #idle: SlidingDeadline;
  #keepalive: Timer;
  #teardown: Timer | undefined;

  constructor(options: MediaConnectionOptions) {
    const { log, clock, limits, onClosed } = options;
    this.#log = log;
    this.#clock = clock;
    this.#limits = limits;
    this.#onClosed = onClosed;
    this.#rate = new RateLimiter(clock, limits);
    this.#controlRate = new RateLimiter(clock, {
      messagesPerSecondMax: limits.messagesPerSecondMax / CONTROL_SHARE,
      bytesPerSecondMax: limits.bytesPerSecondMax / CONTROL_SHARE,
    });
    this.#silence = clock.after(limits.firstMessageMs, () => this.#fail('MEDIA_SILENT'));
    this.#idle = new SlidingDeadline(clock, () => this.#fail('MEDIA_SILENT', CLOSE.idle));
    this.#keepalive = clock.after(limits.pingMs, () => this.#ping());
    const { messageBytesMax } = limits;
    this.#ws = new WebsocketStream({ ...options, messageBytesMax, listener: this });
    this.reads = this.#ws.reads;
  }

  get open(): boolean {
    return this.#ending === undefined && this.#ws.open;
  }

  get bufferedBytes(): number {
    return this.#ws.bufferedBytes;
  }

  sendText(message: string): void {
    if (!this.open) return;
    this.#ws.sendText(message);
    this.#checkBuffered();
  }

  sendAscii(message: Uint8Array): void {
    if (!this.open) return;
    this.#ws.sendAscii(message);
    this.#checkBuffered();
  }

  sendBinary(message: Uint8Array): void {
    if (!this.open) return;
    this.#ws.sendBinary(message);
    this.#checkBuffered();
  }

  close(code: number, reason: string): void {
    if (!this.#taking) return;
    this.#ending = { code, reason };
    this.#teardown = this.#clock.after(this.#limits.closeMs, () => this.#ws.terminate());
    this.#ws.close(code, reason);
  }

  /** Ends the connection to free its place, without a closing handshake, which would still occupy it. */
  evict(): void {
    if (this.#taking) this.#ending = { code: CLOSE.policy, reason: 'MEDIA_FLOOD' };
    this.#ws.terminate();
  }

  /** Connects the listener and delivers buffered messages first. After the end of the connection, the listener is
   *  notified at once. */
  admit(accept: (socket: MediaSocket) => MediaSocketListener): void {
    const listener = accept(this);
    this.#listener = listener;
    const early = this.#early;
    this.#early = [];
    for (const message of early) this.#deliver(message);
    if (this.#ended !== undefined) listener.onClose(this.#ended.code, this.#ended.reason);
  }

  // Events of the websocket.

  onText(message: string): void {
    if (!this.#received(message.length)) return;
    if (this.#listener === undefined) this.#keep(message);
    else this.#deliver(message);
  }

  onAscii(bytes: Buffer, from: number, end: number): void {
    if (!this.#received(end - from)) return;
    if (this.#takeAscii(bytes, from, end)) return;
    const message = bytes.toString('latin1', from, end);
    if (this.#listener === undefined) this.#keep(message);
    else this.#deliver(message);
  }

  onBinary(message: Uint8Array): void {
    if (!this.#received(message.length)) return;
    if (this.#listener === undefined) this.#keep(Buffer.from(message));
    else this.#deliver(message);
  }

  onPing(bytes: number): void {
    this.#withinRate(this.#controlRate, bytes);
  }

  onPong(bytes: number): void {
    this.#alive = true;
    this.#withinRate(this.#controlRate, bytes);
  }

  onFault(code: ErrorCode, closeCode: number): void {
    this.#fail(code, closeCode);
  }

  onClose(code: number, reason: string): void {
    if (this.#ended !== undefined) return;
    this.#ended = this.#ending ?? { code, reason };
    this.#silence.cancel();
    this.#idle.clear();
    this.#keepalive.cancel();
    this.#teardown?.cancel();
    this.#early = [];
    this.#onClosed();
    this.#listener?.onClose(this.#ended.code, this.#ended.reason);
  }

  #received(bytes: number): boolean {
    this.#alive = true;
    this.#silence.cancel();
    const { idleMs } = this.#limits;
    if (idleMs !== undefined && this.#taking) this.#idle.set(idleMs);
    return this.#withinRate(this.#rate, bytes);
  }

  /** Whether messages are still passed on. */
  get #taking(): boolean {
    return this.#ending === undefined && this.#ended === undefined;
  }

  #checkBuffered(): void {
    if (this.#ws.bufferedBytes > this.#limits.bufferedBytesMax) this.#fail('MEDIA_STALLED');
  }

  #deliver(message: string | Uint8Array): void {
    if (this.#listener === undefined || !this.#taking) return;
    try {
      if (typeof message === 'string') this.#listener.onText(message);
      else this.#listener.onBinary(message);
    } catch (error) {
      this.#refuse(error);
    }
  }

  /** Whether the listener has processed the message. A message at which the listener failed counts too. */
  #takeAscii(bytes: Buffer, from: number, end: number): boolean {
    try {
      return this.#listener?.takeAscii?.(bytes, from, end) ?? false;
    } catch (error) {
      this.#refuse(error);
      return true;
    }
  }

  /** Handles a message that the listener failed to process: the peer's fault if the error is a GatewayError, else an
   *  internal error. */
  #refuse(error: unknown): void {
    if (error instanceof GatewayError) {
      this.#fail(error.code);
      return;
    }
    this.#log.error({ err: error }, 'media listener failed');
    this.close(CLOSE.internal, 'internal error');
  }

  #keep(message: string | Uint8Array): void {
    this.#earlyBytes += message.length;
    if (
      this.#early.length >= this.#limits.earlyMessagesMax ||
      this.#earlyBytes > this.#limits.earlyBytesMax
    ) {
      this.#fail('MEDIA_FLOOD');
      return;
    }
    this.#early.push(message);
  }

  /** Counts messages and bytes. Returns false once the connection is closing. */
  #withinRate(rate: RateLimiter, bytes: number): boolean {
    if (!this.#taking) return false;
    if (rate.allows(bytes)) return true;
    this.#fail('MEDIA_FLOOD');
    return false;
  }

  #ping(): void {
    if (!this.#ws.open) {
      this.#ws.terminate(); // The peer closed the websocket but kept the connection open.
      return;
    }
    this.#alive = false;
    this.#ws.ping();
    this.#keepalive = this.#clock.after(this.#limits.pongMs, () => this.#pong());
  }

  #pong(): void {
    // A busy process may have left data from the peer unread.
    if (!this.#alive) this.reads?.readNow();
    if (!this.#alive) {
      this.#log.warn('media peer does not answer');
      this.#ws.terminate();
      return;
    }
    const restMs = Math.max(0, this.#limits.pingMs - this.#limits.pongMs);
    this.#keepalive = this.#clock.after(restMs, () => this.#ping());
  }

  #fail(code: ErrorCode, closeCode: number = CLOSE.policy): void {
    if (!this.#taking) return;
    mediaFaults.inc({ code });
    this.#log.warn({ code }, 'media socket closed because of a fault');
    this.close(closeCode, code);
  }
}
