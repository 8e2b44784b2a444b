// What a call sees of its media connection: whole messages in and out, already within limits. No
// envelope is parsed here.

import type { BatchedReads } from '../runtime/direct-socket.ts';

/** Who receives a socket's messages. Calls are synchronous and in order. */
export interface MediaSocketListener {
  onText(message: string): void;
  /** A text message of plain ASCII, before a string is made of it: `bytes` from `from` to `end`, borrowed
   *  until the call returns. False: `onText` is called with it. */
  takeAscii?(bytes: Uint8Array, from: number, end: number): boolean;
  /** `message` is borrowed until the call returns. */
  onBinary(message: Uint8Array): void;
  /** Called exactly once, whatever ended the socket. 1006 if it broke. */
  onClose(code: number, reason: string): void;
}

export interface MediaSocket {
  /** Sends one text message; dropped silently once the socket is closing. */
  sendText(message: string): void;
  /** Sends one text message of plain ASCII, of which no string was made; borrowed until the call returns. */
  sendAscii?(message: Uint8Array): void;
  sendBinary(message: Uint8Array): void;
  /** Undefined where the connection is read by its stream alone. */
  readonly reads?: BatchedReads | undefined;
  /** Bytes accepted but not yet handed to the kernel. */
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
  invalidText: 1007,
  policy: 1008,
  tooBig: 1009,
  internal: 1011,
  badRequest: 4400,
  unauthorized: 4401,
  notFound: 4404,
  conflict: 4409,
} as const;
