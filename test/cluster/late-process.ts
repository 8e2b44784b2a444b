// A process for the test of process-channel: on a message it blocks for a while; of a socket that it
// is handed it tells the first words.

import type { Socket } from 'node:net';

const STILL_MS = 500;

process.on('message', (_message, handle) => {
  if (handle === undefined) {
    process.send?.('standing still');
    setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STILL_MS));
    return;
  }
  const socket = handle as Socket; // Nothing else is handed over here.
  socket.once('data', (bytes) => {
    process.send?.(`heard ${bytes}`);
    socket.end();
  });
});
