// The end of an HTTP server without cutting requests off, also where several handles of its socket accept its connections:
// Node's `close` waits for those of the server's own handle alone, and leaves connections open whose client keeps them.

import type { Server } from 'node:http';
import type { Server as Acceptor } from 'node:net';
import type { Clock, Timer } from '../std/clock.ts';

/** For requests that are being answered: less than a stop may take. A connection that says half a request must not hold it
 *  up. */
const REQUESTS_MS_MAX = 8_000;
/** Between two looks for connections whose last request is answered. */
const IDLE_MS = 50;

/** `acceptors`: of other handles of the server's socket. `close` ends the server. From the call on no connection is accepted.
 *  Rejects with what `close` rejects with. */
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
