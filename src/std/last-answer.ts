// Last answer on a connection that its HTTP server no longer manages: after an upgrade, CONNECT or a parser error no
// timeout of the server applies, and a server's sockets stay half-open until the client ends its side.

import type { Duplex } from 'node:stream';
import { systemClock } from './clock.ts';

/** Time for the client to read the answer and end its side. A connection that is destroyed with unread bytes is reset,
 *  and the client may lose the answer. */
const END_MS_MAX = 1_000;

/** Writes the answer and closes the connection. Further data from the client is dropped. */
export function endConnection(socket: Duplex, answer: string): void {
  socket.on('error', () => socket.destroy());
  const timer = systemClock.after(END_MS_MAX, () => socket.destroy());
  socket.once('close', () => timer.cancel());
  socket.end(answer);
  socket.resume();
}
