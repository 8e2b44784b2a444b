// Shared reads: many sockets are read into one buffer. Node gives each read of a server's socket 64 kB of its own and
// sends it through a stream: at one small message per socket and 20 ms that costs more than the message
// (measured on Node 20: 4.1 us of user time a read, 1.2 us this way).
// Node offers such reads for sockets that it opens (`onread` of net.Socket), not for those that a server
// accepted. So the connection is handed to a socket of our own; where that is not possible (TLS, or a Node
// that works otherwise) its stream is read.

import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** What one read can bring: as Node's own reads. */
const READ_BYTES_MAX = 64 * 1024;
const shared = Buffer.allocUnsafeSlow(READ_BYTES_MAX);

/** The first `count` of `bytes` came; borrowed until the call returns, and may be changed. */
export type ReadHandler = (bytes: Buffer, count: number) => void;

export type SharedReadBuffer =
  /** It is read by its stream. */
  | { socket: Duplex }
  /** This one replaces the given one, and is the connection of that descriptor; the listeners of the given one get
   *  nothing more. */
  | { socket: Socket; descriptor: number };

/** Whether such reads work on this Node: see socket-self-test.ts. */
let areTrusted = true;

/** For all connections from now on. False: each is read by its stream. */
export function trustSharedReads(on: boolean): void {
  areTrusted = on;
}

/** Reads `socket` from the next event on. The result is the one to write to from then on. */
export function attachSharedReads(socket: Duplex, take: ReadHandler): SharedReadBuffer {
  const handle = areTrusted ? handleOf(socket) : undefined;
  if (handle === undefined) {
    socket.on('data', (chunk: Buffer) => take(chunk, chunk.length));
    return { socket };
  }
  const callback = (count: number): boolean => {
    take(shared, count);
    return true; // go on reading
  };
  const options = { handle, onread: { buffer: shared, callback } };
  // The old socket releases the connection first: it would close it, and its server counts it.
  Reflect.set(socket, '_handle', null);
  socket.destroy();
  const own: Socket = Reflect.construct(Socket, [options]); // Node's types know no handle
  own.resume();
  return { socket: own, descriptor: handle.fd };
}

/** Node's inside of a plain TCP connection, if it is as known. */
function handleOf(socket: Duplex): { fd: number } | undefined {
  if (!(socket instanceof Socket) || socket.constructor !== Socket) return undefined;
  const handle: unknown = Reflect.get(socket, '_handle');
  const isKnown =
    typeof handle === 'object' &&
    handle !== null &&
    'useUserBuffer' in handle &&
    'onread' in handle &&
    'fd' in handle &&
    typeof handle.fd === 'number' &&
    handle.fd >= 0;
  return isKnown ? (handle as { fd: number }) : undefined; // as was just checked
}
