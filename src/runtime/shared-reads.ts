// Shared reads: many sockets are read into one buffer. Node gives each read of a server's socket its own 64 kB and
// passes it through a stream, which costs more than one small message per socket and 20 ms (measured on Node 20: 4.1 us
// of user time a read, 1.2 us this way). Node offers such reads for sockets that it opens (`onread` of net.Socket), not
// for accepted ones. So the connection is moved to a socket of our own; where that is not possible (TLS, or a different
// Node) its stream is read.

import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Largest read, equal to Node's own. */
const READ_BYTES_MAX = 64 * 1024;
const shared = Buffer.allocUnsafeSlow(READ_BYTES_MAX);

/** Receives the first `count` of `bytes`, which are borrowed until the call returns and may be changed. */
export type ReadHandler = (bytes: Buffer, count: number) => void;

export type SharedReadBuffer =
  /** The connection is read by its stream. */
  | { socket: Duplex }
  /** This socket replaces the given one and is the connection of that descriptor. The listeners of the given one
   *  receive nothing more. */
  | { socket: Socket; descriptor: number };

/** Whether shared reads work on this Node: see socket-self-test.ts. */
let areTrusted = true;

/** Turns shared reads on or off for later connections. Off: each is read by its stream. */
export function trustSharedReads(on: boolean): void {
  areTrusted = on;
}

/** Reads `socket` from the next event on. Later writes must use the socket in the result. */
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
  // The old socket must release the connection first: it would close it, and its server counts it.
  Reflect.set(socket, '_handle', null);
  socket.destroy();
  const own: Socket = Reflect.construct(Socket, [options]); // Node's types know no handle
  own.resume();
  return { socket: own, descriptor: handle.fd };
}

/** Internal handle of a plain TCP connection, if it has the expected form. */
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
