// A TCP port for what is told its port before it listens, or listens at the same one again. The kernel gives those
// from 32768 on to whoever asks for any port or connects, also while nobody listens there for a moment; so these are
// below, and each process takes them from a stretch of its own.

import { createServer } from 'node:net';

const FIRST = 10_000;
const STRETCHES = 200;
const PER_STRETCH = 100;

let taken = 0;

/** A TCP port of 127.0.0.1, 10,000 to 29,999, that nobody listens at and the kernel gives nobody. */
export async function freePort(): Promise<number> {
  const start = FIRST + (process.pid % STRETCHES) * PER_STRETCH;
  for (let times = 0; times < PER_STRETCH; times++) {
    const port = start + (taken++ % PER_STRETCH);
    if (await isFree(port)) return port;
  }
  throw new Error(`No free port from ${start} to ${start + PER_STRETCH - 1}`);
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => void server.close(() => resolve(true)));
  });
}
