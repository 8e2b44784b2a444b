// A TCP port for what is told its port before it listens, or listens at the same one again. The kernel gives those
// from 32768 on (as Linux is set up) to whoever asks for any port or connects, also while nobody listens there for a
// moment; so these are below, and processes take them from stretches apart, from a random place on: two that share
// one, as their numbers are a multiple of 200 apart, seldom meet.

import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

const FIRST = 10_000;
const STRETCHES = 200;
const PER_STRETCH = 100;

let taken = randomInt(PER_STRETCH);

/** A TCP port of 127.0.0.1, 10,000 to 29,999, that nobody listens at now and the kernel gives nobody. */
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
