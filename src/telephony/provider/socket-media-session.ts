// Media session of a hosted provider over one socket with a `MediaProtocol`. Audio goes from the socket through the
// protocol straight to the call, and back.

import { GatewayError, isErrorCode } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import type { BatchedReads } from '../../runtime/direct-socket.ts';
import type { Clock } from '../../std/clock.ts';
import { parseJson } from '../../std/json.ts';
import { CLOSE, type MediaSocket, type MediaSocketListener } from '../../transport/media-socket.ts';
import type { MediaProtocol } from './media-protocol.ts';
import {
  MediaDelivery,
  type MediaEvent,
  type MediaListener,
  type MediaSession,
  type MediaTraits,
} from './media-session.ts';

export class SocketMediaSession implements MediaSession, MediaSocketListener {
  readonly #socket: MediaSocket;
  readonly #protocol: MediaProtocol;
  readonly #delivery: MediaDelivery;

  constructor(options: { socket: MediaSocket; protocol: MediaProtocol; clock: Clock; log: Log }) {
    const { socket, protocol, clock, log } = options;
    this.#socket = socket;
    this.#protocol = protocol;
    const onGiveUp = (isForeign: boolean): void =>
      socket.close(isForeign ? CLOSE.unsupported : CLOSE.badRequest, 'protocol');
    this.#delivery = new MediaDelivery({ clock, log, onGiveUp });
  }

  get traits(): MediaTraits {
    return this.#protocol.traits;
  }

  get inflow(): BatchedReads | undefined {
    return this.#socket.reads;
  }

  get bufferedBytes(): number {
    return this.#socket.bufferedBytes;
  }

  attach(listener: MediaListener): void {
    this.#delivery.attach(listener);
  }

  // Sending, for the call.

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
    const message = this.#protocol.encodeMark(name);
    if (message === undefined) return;
    this.#delivery.expectMark(name);
    this.#socket.sendText(message);
  }

  clear(): void {
    const message = this.#protocol.encodeClear();
    if (message === undefined) return;
    this.#socket.sendText(message);
    this.#delivery.dropMarks();
  }

  close(reason: 'over' | 'unwanted' | 'taken'): void {
    this.#delivery.stop();
    if (reason === 'over') this.#socket.close(CLOSE.normal, '');
    else this.#socket.close(CLOSE.goingAway, 'the call is over');
  }

  // Receiving from the socket.

  onText(message: string): void {
    try {
      this.#protocol.decodeText(message, this.#delivery);
    } catch (error) {
      this.#delivery.malformed(error, { isForeign: parseJson(message) === undefined });
    }
  }

  takeAscii(bytes: Uint8Array, from: number, end: number): boolean {
    return this.#protocol.decodeAscii?.(bytes, from, end, this.#delivery.audio) ?? false;
  }

  onBinary(message: Uint8Array): void {
    const { decodeBinary } = this.#protocol;
    if (decodeBinary === undefined) {
      const error = new GatewayError('MEDIA_MALFORMED', { bytes: message.length });
      this.#delivery.malformed(error, { isForeign: true });
      return;
    }
    try {
      decodeBinary.call(this.#protocol, message, this.#delivery.audio);
    } catch (error) {
      this.#delivery.malformed(error);
    }
  }

  onClose(code: number, reason: string): void {
    this.#delivery.onEvent(closedBy(code, reason));
  }
}

/** Close codes that the transport uses for a fault of its peer. */
const FAULT_CODES: readonly number[] = [
  CLOSE.idle,
  CLOSE.policy,
  CLOSE.tooBig,
  CLOSE.protocol,
  CLOSE.invalidText,
];

/** The event of a closed socket. When our side closes it for a fault, the transport reports our own code. */
function closedBy(code: number, reason: string): MediaEvent {
  if (code === CLOSE.internal) {
    const error = new Error(`the media socket failed: ${reason}`);
    return { type: 'closed', reason: 'fault', error };
  }
  if (code === CLOSE.broken) return { type: 'closed', reason: 'lost' };
  if (!FAULT_CODES.includes(code) || !isErrorCode(reason)) {
    return { type: 'closed', reason: 'ended' };
  }
  const error = new GatewayError(reason);
  return { type: 'closed', reason: reason === 'MEDIA_SILENT' ? 'inactive' : 'fault', error };
}
