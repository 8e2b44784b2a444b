// The interface of a media connection for a call: whole messages in and out, within limits. No message is parsed
// here.

import type { BatchedReads } from '../runtime/direct-socket.ts';

/** Receives a socket's messages. Calls are synchronous and in order. */
export interface MediaSocketListener {
  onText(message: string): void;
  /** A text message of plain ASCII as bytes, from `from` to `end`, borrowed until the call returns. False:
   *  `onText` is called with it as a string. */
  takeAscii?(bytes: Uint8Array, from: number, end: number): boolean;
  /** `message` is borrowed until the call returns. */
  onBinary(message: Uint8Array): void;
  /** Called exactly once, for any end of the socket. 1006 if it broke. */
  onClose(code: number, reason: string): void;
}

/** How a socket came that says by its first message which call it is of. */
export interface SocketArrival {
  /** Its client, as in std/client-address. */
  client: string;
  /** To be called once it is known which call it is of: until then it may be evicted. */
  admitted(): void;
}

export interface MediaSocket {
  /** Sends one text message; dropped silently once the socket is closing. */
  sendText(message: string): void;
  /** Sends one text message of plain ASCII given as bytes; borrowed until the call returns. */
  sendAscii?(message: Uint8Array): void;
  sendBinary(message: Uint8Array): void;
  /** Undefined where the connection delivers data by events only. */
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
  invalidText: 1007,
  policy: 1008,
  tooBig: 1009,
  internal: 1011,
  badRequest: 4400,
  unauthorized: 4401,
  notFound: 4404,
  conflict: 4409,
} as const;
