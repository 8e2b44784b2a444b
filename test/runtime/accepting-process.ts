// Accepts connections on the handles that its parent sends, in turns of an event loop that is busy, and reports how many came
// in each of these turns.

import { createServer } from 'node:http';
import { acceptMore, type ListenHandle, listenOn } from '../../src/runtime/listen-handle.ts';

const TURN_MS = 20;
const CONNECTIONS = 40;
/** Ten seconds: the rest does not come. */
const TURNS_MAX = 500;

const server = createServer((_, response) => response.end('here'));
const turns = [0];
let handles = 0;

server.on('connection', (socket) => {
  turns[turns.length - 1] = (turns.at(-1) ?? 0) + 1;
  socket.on('error', () => socket.destroy());
});

process.on('message', (message, handle) => {
  if (message === 'begin') process.send?.('begun', () => setImmediate(turn));
  else void take(handle as unknown as ListenHandle);
});

async function take(handle: ListenHandle): Promise<void> {
  handles += 1;
  if (handles === 1) await listenOn(server, handle);
  else await acceptMore(server, handle);
  process.send?.('listens');
}

function turn(): void {
  const accepted = turns.reduce((sum, count) => sum + count, 0);
  if (accepted >= CONNECTIONS || turns.length >= TURNS_MAX) {
    process.send?.(turns, () => process.exit());
    return;
  }
  turns.push(0);
  for (const until = performance.now() + TURN_MS; performance.now() < until; );
  setImmediate(turn);
}
