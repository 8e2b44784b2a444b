// Joins one media socket with its provider's protocol: messages become facts, audio becomes messages.
// What breaks the protocol is counted and dropped, up to a limit.

import { codeOf, GatewayError, isErrorCode } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import { mediaFaults } from '../../metrics/metrics.ts';
import type { BatchedReads } from '../../runtime/direct-socket.ts';
import type { Clock, Timer } from '../../std/clock.ts';
import { CLOSE, type MediaSocket, type MediaSocketListener } from '../../transport/media-socket.ts';
import type { MediaListener, MediaProtocol, MediaStart, MediaTraits } from './media-protocol.ts';

/** A provider that sends this many unreadable messages in one call is not one of ours. */
const MALFORMED_MAX = 20;
/** The stream's first words must come within this time. */
const START_MS = 10_000;

export interface MediaSessionListener {
  onStart(start: MediaStart): void;
  onAudio(payload: Uint8Array, timestampMs: number): void;
  onDigit(digit: string): void;
  onMark(name: string): void;
  onQueuedMs(ms: number): void;
  /** Called once: the provider stopped the stream, or the socket is gone. */
  onEnd(facts: { stopped: boolean; code: number }): void;
  /** Called once, instead of `onEnd`: the far end does not keep to the protocol, or we cannot go on. */
  onFault(error: unknown): void;
  /** Called once if the stream does not start. */
  onMediaInactive(): void;
}

/** For a socket whose call was over before it came. */
export const DISCARD_LISTENER: MediaSocketListener = {
  onText: () => undefined,
  onBinary: () => undefined,
  onClose: () => undefined,
};

export class MediaSession implements MediaSocketListener {
  readonly #socket: MediaSocket;
  readonly #protocol: MediaProtocol;
  readonly #listener: MediaSessionListener;
  readonly #log: Log;
  readonly #facts: MediaListener;
  #startTimer: Timer | undefined;
  #started = false;
  #ended = false;
  #malformed = 0;

  constructor(deps: {
    socket: MediaSocket;
    protocol: MediaProtocol;
    listener: MediaSessionListener;
    clock: Clock;
    log: Log;
  }) {
    this.#socket = deps.socket;
    this.#protocol = deps.protocol;
    this.#listener = deps.listener;
    this.#log = deps.log;
    this.#facts = this.#translate();
    this.#startTimer = deps.clock.after(START_MS, () => this.#notStarted());
  }

  get traits(): MediaTraits {
    return this.#protocol.traits;
  }

  get inflow(): BatchedReads | undefined {
    return this.#socket.reads;
  }

  // What the pipeline sends (AudioWire).

  get bufferedBytes(): number {
    return this.#socket.bufferedBytes;
  }

  audio(payload: Uint8Array): void {
    const { encodeAscii } = this.#protocol;
    if (encodeAscii !== undefined && this.#socket.sendAscii !== undefined) {
      this.#socket.sendAscii(encodeAscii.call(this.#protocol, payload));
      return;
    }
    const message = this.#protocol.encodeAudio(payload);
    if (typeof message === 'string') this.#socket.sendText(message);
    else this.#socket.sendBinary(message);
  }

  mark(name: string): void {
    this.#send(this.#protocol.encodeMark(name));
  }

  clear(): void {
    this.#send(this.#protocol.encodeClear());
  }

  close(): void {
    this.#finish();
    this.#socket.close(CLOSE.normal, '');
  }

  // What the socket brings.

  onText(message: string): void {
    this.#guarded(() => this.#protocol.decodeText(message, this.#facts));
  }

  takeAscii(bytes: Uint8Array, from: number, end: number): boolean {
    if (this.#ended) return true;
    return this.#protocol.decodeAscii?.(bytes, from, end, this.#facts) ?? false;
  }

  onBinary(message: Uint8Array): void {
    this.#guarded(() => this.#protocol.decodeBinary(message, this.#facts));
  }

  onClose(code: number, reason: string): void {
    const fault = faultOf(code, reason);
    if (fault === undefined) this.#end({ stopped: false, code });
    else this.#broken(fault);
  }

  #send(message: string | undefined): void {
    if (message !== undefined) this.#socket.sendText(message);
  }

  #guarded(decode: () => void): void {
    if (this.#ended) return;
    try {
      decode();
    } catch (error) {
      const code = codeOf(error);
      if (code === undefined) throw error;
      mediaFaults.inc({ code });
      this.#malformed += 1;
      if (this.#malformed === 1) this.#log.warn({ err: error }, 'media message dropped');
      if (code === 'MEDIA_CODEC' || this.#malformed > MALFORMED_MAX) this.#giveUp(error);
    }
  }

  #giveUp(error: unknown): void {
    this.#finish();
    this.#socket.close(CLOSE.badRequest, 'protocol');
    this.#listener.onFault(error);
  }

  #translate(): MediaListener {
    const listener = this.#listener;
    return {
      onStart: (start) => {
        if (this.#started) return;
        this.#started = true;
        this.#startTimer?.cancel();
        listener.onStart(start);
      },
      onAudio: (payload, timestampMs) => {
        if (this.#started) listener.onAudio(payload, timestampMs);
      },
      onDigit: (digit) => {
        if (this.#started) listener.onDigit(digit);
      },
      onMark: (name) => listener.onMark(name),
      onUnplayed: (ms) => listener.onQueuedMs(ms),
      onCleared() {
        // Silence after a clear is ours to know; the acknowledgement adds nothing.
      },
      onStop: () => this.#end({ stopped: true, code: CLOSE.normal }),
    };
  }

  #notStarted(): void {
    if (this.#started || this.#ended) return;
    this.#listener.onMediaInactive();
  }

  #end(facts: { stopped: boolean; code: number }): void {
    if (this.#ended) return;
    this.#finish();
    this.#listener.onEnd(facts);
  }

  #broken(fault: Error): void {
    if (this.#ended) return;
    this.#finish();
    if (codeOf(fault) === 'MEDIA_SILENT') this.#listener.onMediaInactive();
    else this.#listener.onFault(fault);
  }

  #finish(): void {
    this.#ended = true;
    this.#startTimer?.cancel();
  }
}

/** Why the socket was closed on our side, if it was for a fault: the transport gives our code as the
 *  reason. */
function faultOf(code: number, reason: string): Error | undefined {
  if (code === CLOSE.internal) return new Error(`the media socket failed: ${reason}`);
  if (code !== CLOSE.policy && code !== CLOSE.tooBig) return undefined;
  return isErrorCode(reason) ? new GatewayError(reason) : undefined;
}
