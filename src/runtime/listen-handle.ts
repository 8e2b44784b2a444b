// A listening socket that one process owns and another accepts from: the kernel keeps connections in its backlog
// while the accepting process is started again. Binds without accepting, and sends the raw handle, as node:cluster
// does (lib/internal/cluster/shared_handle.js); Node documents neither. The self-test shows at start whether this
// Node does so; where it does not, the accepting process binds by itself.

import net, { connect, createServer, isIP, type Server } from 'node:net';
import { getSystemErrorName } from 'node:util';
import type { Clock } from '../std/clock.ts';
import { withDeadline } from '../std/deadline.ts';
import type { Fault } from './self-test-report.ts';

/** A handle of Node's internals; opaque but for this. */
export interface ListenHandle {
  close(): void;
}

/** A connection over loopback. */
const PROOF_MS_MAX = 2_000;

/** The system's code for an address that cannot be bound, such as EADDRINUSE. Undefined if this Node cannot do it, or if
 *  the host is a name: a process binds by itself then. No connection is accepted, and the port is closed, before a process
 *  listens on it. */
export function bindListenHandle(host: string, port: number): ListenHandle | string | undefined {
  const create: unknown = Reflect.get(net, '_createServerHandle');
  const family = isIP(host);
  if (typeof create !== 'function' || family === 0) return undefined;
  const handle: unknown = Reflect.apply(create, net, [host, port, family, -1, 0]);
  if (typeof handle === 'number' && handle < 0) return getSystemErrorName(handle);
  if (!isListenHandle(handle)) return undefined;
  if (isBoundTo(handle, port)) return handle;
  handle.close();
  return 'EADDRINUSE';
}

/** libuv reports an address in use, and no other error, at `listen`, in this process alone. In another one, the kernel would give the
 *  unbound socket a random port on all addresses. */
function isBoundTo(handle: ListenHandle, port: number): boolean {
  const bound: { port?: number } = {};
  const fault: unknown = Reflect.apply(Reflect.get(handle, 'getsockname'), handle, [bound]);
  return fault === 0 && bound.port !== 0 && (port === 0 || bound.port === port);
}

export function isListenHandle(value: unknown): value is ListenHandle {
  if (typeof value !== 'object' || value === null || value instanceof net.Socket) return false;
  return ['listen', 'close', 'getsockname'].every(
    (name) => typeof Reflect.get(value, name) === 'function',
  );
}

/** Accepts queued and new connections of the handle. Rejects with the system's error code, such as EADDRINUSE. */
export function listenOn(server: Server, handle: ListenHandle): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(handle, () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
}

/** Another handle of the socket on which `server` listens: its connections are the server's. libuv accepts one connection of
 *  a handle in each turn of the event loop, so that turns of a tenth of a second leave new ones waiting for seconds. Returns
 *  what ends with the server (`closeAnswered`). */
export async function acceptMore(server: Server, handle: ListenHandle): Promise<Server> {
  const more = createServer({ allowHalfOpen: true }, (socket) => {
    socket.setNoDelay(); // As node:http does for its own.
    server.emit('connection', socket);
  });
  await listenOn(more, handle);
  return more;
}

/** Whether a server accepts from a handle that was bound apart, over loopback. */
export async function selfTestListenHandle(clock: Clock): Promise<Fault> {
  const server = createServer((socket) => socket.destroy());
  try {
    const handle = bindListenHandle('127.0.0.1', 0);
    if (!isListenHandle(handle)) return 'no handle can be bound apart from its server';
    await withDeadline(clock, PROOF_MS_MAX, 'accept on a bound handle', accepts(server, handle));
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    server.close();
  }
}

async function accepts(server: Server, handle: ListenHandle): Promise<void> {
  await listenOn(server, handle);
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  await new Promise<void>((resolve, reject) => {
    server.once('connection', () => resolve());
    const socket = connect(port, '127.0.0.1');
    socket.on('error', reject); // After the connection its error has no reader.
  });
}
