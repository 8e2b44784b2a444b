// A listening socket that one process owns and another accepts from: the kernel keeps connections in its backlog while
// the accepting process restarts. Binds without accepting and passes the raw handle, as node:cluster does
// (lib/internal/cluster/shared_handle.js); Node documents neither. A self-test at start shows whether this Node
// supports it; otherwise the accepting process binds itself.

import net, { connect, createServer, isIP, type Server } from 'node:net';
import { getSystemErrorName } from 'node:util';
import type { Clock } from '../std/clock.ts';
import { withDeadline } from '../std/deadline.ts';
import type { Fault } from './self-test-report.ts';

/** A handle of Node's internals, opaque except for this. */
export interface ListenHandle {
  close(): void;
}

/** Deadline of the self-test's connection over loopback. */
const PROOF_MS_MAX = 2_000;

/** Binds a handle. Returns the system's code if the address cannot be bound, such as EADDRINUSE. Returns undefined if
 *  this Node does not support it or the host is a name: the accepting process then binds itself. The port stays closed
 *  until a process listens on the handle. */
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

/** Whether the port was bound. libuv reports an address in use, and no other error, only at `listen` in this process.
 *  In another one, the kernel would give the unbound socket a random port on all addresses. */
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

/** Adds another handle to the socket on which `server` listens; its connections are the server's. libuv accepts one
 *  connection per handle in each turn of the event loop, so that turns of a tenth of a second would leave new ones
 *  waiting for seconds. Returns the additional server, which `closeAnswered` closes. */
export async function acceptMore(server: Server, handle: ListenHandle): Promise<Server> {
  const more = createServer({ allowHalfOpen: true }, (socket) => {
    socket.setNoDelay(); // node:http does the same for its own connections.
    server.emit('connection', socket);
  });
  await listenOn(more, handle);
  return more;
}

/** Tests over loopback whether a server accepts from a handle that was bound separately. */
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
    socket.on('error', reject); // After the connection, nothing handles its error.
  });
}
