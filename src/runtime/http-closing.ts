// Closes an HTTP server without cutting requests off, even if several handles of its socket accept connections: Node's
// `close` waits only for those of the server's own handle, and leaves kept-alive connections open.

import type { Server } from 'node:http';
import type { Server as Acceptor } from 'node:net';
import type { Clock, Timer } from '../std/clock.ts';

/** Wait for requests in progress: less than a stop may take. A connection with half a request must not delay the
 *  stop. */
const REQUESTS_MS_MAX = 8_000;
/** Interval of checks for connections whose last request is answered. */
const IDLE_MS = 50;

/** Closes the server. `acceptors`: servers on other handles of its socket. `close` ends the server. No connection is
 *  accepted after the call. Rejects as `close` does. */
export async function closeAnswered(
  server: Server,
  acceptors: readonly Acceptor[],
  { clock, close }: { clock: Clock; close: () => Promise<unknown> },
): Promise<void> {
  const ends = acceptors.map((each) => new Promise((resolve) => each.close(resolve)));
  let idle: Timer;
  const look = (): void => {
    server.closeIdleConnections();
    idle = clock.after(IDLE_MS, look);
  };
  idle = clock.after(IDLE_MS, look);
  let late: Timer | undefined;
  const isLate = new Promise<void>((resolve) => {
    late = clock.after(REQUESTS_MS_MAX, () => {
      server.closeAllConnections();
      resolve();
    });
  });
  try {
    await close();
    await Promise.race([Promise.all(ends), isLate]);
  } finally {
    idle.cancel();
    late?.cancel();
  }
}
