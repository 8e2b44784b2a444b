// A media server alone in its process: ours, with or without the addon, or the package `ws`. It takes the audio of
// calls, or sends it, every 20 ms; over the channel of its parent it says what processor time that took.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import { FRAME_MS } from '../../../src/audio/pcm.ts';
import { socketKernel } from '../../../src/runtime/direct-socket.ts';
import { loadAddon } from '../../../src/runtime/native-kernels.ts';
import { systemClock as clock } from '../../../src/std/clock.ts';
import { createMediaServer } from '../../../src/transport/websocket/media-server.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import { mediaMessage, type ServerCost, type ServerKind } from './websocket-servers.ts';

const [kind = 'ws', direction = 'in'] = process.argv.slice(2) as [ServerKind, 'in' | 'out'];
const message = Buffer.from(mediaMessage());
const sends: (() => void)[] = [];
let messages = 0;

function taken(bytes: number): void {
  if (bytes !== message.length) throw new Error('another message than was sent');
  messages += 1;
}

function ours(): ReturnType<typeof createServer> {
  const addon = kind === 'own-addon' ? loadAddon() : undefined;
  if (kind === 'own-addon' && addon === undefined) throw new Error('npm run build:native first');
  const media = createMediaServer({
    clock,
    log: quietLog('silent').log,
    kernel: addon && socketKernel(addon),
    authorize: () =>
      Promise.resolve({
        accept(socket) {
          sends.push(() => socket.sendAscii?.(message));
          return {
            takeAscii(_, from, end) {
              taken(end - from);
              return true;
            },
            onText: (text) => taken(text.length),
            onBinary: () => undefined,
            onClose: () => undefined,
          };
        },
      }),
  });
  return createServer().on('upgrade', (request, socket, head) => {
    media.handleUpgrade(request, socket, head);
  });
}

function others(): ReturnType<typeof createServer> {
  const http = createServer();
  const server = new WebSocketServer({ server: http, perMessageDeflate: false });
  server.on('connection', (socket) => {
    sends.push(() => socket.send(message, { binary: false }));
    socket.on('message', (data: Buffer) => taken(data.length));
  });
  return http;
}

let nextMs = 0;
function sendAll(): void {
  for (const send of sends) send();
  messages += sends.length;
  nextMs += FRAME_MS;
  clock.after(Math.max(1, nextMs - clock.monotonicMs()), sendAll);
}

let begun = { cpu: process.cpuUsage(), messages: 0 };
process.on('message', (word) => {
  if (word === 'begin') {
    begun = { cpu: process.cpuUsage(), messages };
    return;
  }
  const { user, system } = process.cpuUsage(begun.cpu);
  const cost: ServerCost = { messages: messages - begun.messages, cpuMicroseconds: user + system };
  process.send?.(cost);
});

const http = kind === 'ws' ? others() : ours();
http.listen(0, '127.0.0.1', () => {
  if (direction === 'out') {
    nextMs = clock.monotonicMs();
    sendAll();
  }
  process.send?.((http.address() as AddressInfo).port);
});
