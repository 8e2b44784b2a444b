// Interface of a call's media connection: whole messages in and out, within limits. Messages are not parsed here.

import type { BatchedReads } from '../runtime/direct-socket.ts';

/** Receives a socket's messages. Calls are synchronous and in order. */
export interface MediaSocketListener {
  onText(message: string): void;
  /** Called with a text message of plain ASCII, bytes `from` to `end`, borrowed until the call returns. Returns false
   *  to receive it as a string in `onText` instead. */
  takeAscii?(bytes: Uint8Array, from: number, end: number): boolean;
  /** Called with a binary message, which is borrowed until the call returns. */
  onBinary(message: Uint8Array): void;
  /** Called exactly once, at any end of the socket. Code 1006 if it broke. */
  onClose(code: number, reason: string): void;
}

/** Arrival of a socket whose first message names its call. */
export interface SocketArrival {
  /** Address of its client, as in std/client-address. */
  client: string;
  /** To be called when the call is known. Until then the socket may be evicted. */
  admitted(): void;
}

export interface MediaSocket {
  /** Sends one text message; dropped silently once the socket is closing. */
  sendText(message: string): void;
  /** Sends one text message of plain ASCII given as bytes; borrowed until the call returns. */
  sendAscii?(message: Uint8Array): void;
  sendBinary(message: Uint8Array): void;
  /** Undefined if the connection delivers data by events only. */
  readonly reads?: BatchedReads | undefined;
  /** Bytes accepted but not yet passed to the kernel. */
  readonly bufferedBytes: number;
  readonly open: boolean;
  /** Starts the closing handshake; the socket is torn down if the peer does not answer in time. */
  close(code: number, reason: string): void;
}

/** Close codes of the media endpoint (contract §7.4). */
export const CLOSE = {
  normal: 1000,
  goingAway: 1001,
  protocol: 1002,
  unsupported: 1003,
  /** Never sent: the connection broke. */
  broken: 1006,
  invalidText: 1007,
  policy: 1008,
  tooBig: 1009,
  internal: 1011,
  badRequest: 4400,
  unauthorized: 4401,
  notFound: 4404,
  /** No message came for too long. */
  idle: 4408,
  conflict: 4409,
} as const;
