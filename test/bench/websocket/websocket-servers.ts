// Our websocket server of media beside the package `ws`: processor time for a message of 20 ms of audio, in and
// out, in turn, so that what else the machine does meets all of them. Prints a table (docs/decisions.md has one):
// tsx test/bench/websocket/websocket-servers.ts

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { pathToFileURL } from 'node:url';
import { FRAME_MS } from '../../../src/audio/pcm.ts';
import { frameOf, OPCODE } from '../../../src/transport/websocket/websocket-frames.ts';
import { median } from '../median.ts';

export type ServerKind = 'own-addon' | 'own' | 'ws';
const KINDS: readonly ServerKind[] = ['ws', 'own', 'own-addon'];
const DIRECTIONS = ['in', 'out'] as const;
export interface ServerCost {
  messages: number;
  /** User and system. */
  cpuMicroseconds: number;
}

const PATH = '/api/v1/telephony/ws/1/2/3/token';
const FULL = { connections: 200, seconds: 5, rounds: 5 };
/** Compiling and the first collections are not measured. */
const WARM_UP_MS = 2_000;

/** A message of Twilio's with 160 bytes of G.711. */
export function mediaMessage(): string {
  const payload = Buffer.alloc(160, 0x7e).toString('base64');
  return JSON.stringify({
    event: 'media',
    sequenceNumber: '1234',
    media: { track: 'inbound', chunk: '1233', timestamp: '24660', payload },
    streamSid: `MZ${'0'.repeat(32)}`,
  });
}

interface Size {
  connections: number;
  seconds: number;
  warmUpMs?: number;
}

/** Microseconds of processor time for a message, and how many there were. */
export async function costOf(
  kind: ServerKind,
  direction: 'in' | 'out',
  { connections, seconds, warmUpMs = WARM_UP_MS }: Size,
): Promise<{ microseconds: number; messages: number }> {
  const server = fork(
    new URL('./websocket-server-process.ts', import.meta.url),
    [kind, direction],
    {
      execArgv: ['--import', 'tsx'],
    },
  );
  const sockets: Socket[] = [];
  try {
    const port = Number(await next(server));
    for (let nth = 0; nth < connections; nth++) sockets.push(await opened(port));
    const talking = direction === 'in' ? talk(sockets) : undefined;
    await rest(warmUpMs);
    server.send('begin');
    await rest(seconds * 1_000);
    server.send('end');
    const cost = (await next(server)) as ServerCost; // Its process sends nothing else.
    clearInterval(talking);
    return { microseconds: cost.cpuMicroseconds / cost.messages, messages: cost.messages };
  } finally {
    for (const socket of sockets) socket.destroy();
    server.kill();
  }
}

const rest = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function next(server: ChildProcess): Promise<unknown> {
  const [word] = await Promise.race([
    once(server, 'message'),
    once(server, 'exit').then(() => Promise.reject(new Error('the server ended'))),
  ]);
  return word;
}

async function opened(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.setNoDelay(true);
  socket.on('error', () => undefined);
  socket.write(
    `GET ${PATH} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
  );
  await once(socket, 'data');
  socket.resume();
  return socket;
}

/** Each sends a message every 20 ms, spread over them. */
function talk(sockets: readonly Socket[]): NodeJS.Timeout {
  const frame = frameOf(OPCODE.text, Buffer.from(mediaMessage()), Uint8Array.of(1, 2, 3, 4));
  let sent = 0;
  const begunMs = performance.now();
  return setInterval(() => {
    const due = ((performance.now() - begunMs) / FRAME_MS) * sockets.length;
    for (; sent < due; sent++) sockets[sent % sockets.length]?.write(frame);
  }, 1);
}

async function compare(): Promise<void> {
  for (const direction of DIRECTIONS) {
    const costs = new Map<ServerKind, number[]>(KINDS.map((kind) => [kind, []]));
    for (let round = 0; round < FULL.rounds; round++) {
      for (const kind of KINDS) {
        costs.get(kind)?.push((await costOf(kind, direction, FULL)).microseconds);
      }
    }
    const base = median(costs.get('ws') ?? []);
    for (const [kind, figures] of costs) {
      const middle = median(figures);
      const all = figures.map((each) => each.toFixed(2)).join(' ');
      const ratio = (base / middle).toFixed(2);
      console.log(
        `${direction} ${kind}: ${middle.toFixed(2)} us (${all}), ws costs ${ratio} times`,
      );
    }
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await compare();
}
