// A listening socket that one process owns and another accepts from: the kernel keeps connections in its backlog
// while the accepting process is started again. Binds without accepting, and sends the raw handle, as node:cluster
// does (lib/internal/cluster/shared_handle.js); Node documents neither. The self-test shows at start whether this
// Node does so; where it does not, the accepting process binds by itself.

import net, { connect, createServer, isIP, type Server } from 'node:net';
import type { Clock } from '../std/clock.ts';
import { withDeadline } from '../std/deadline.ts';
import type { Fault } from './self-test-report.ts';

/** A handle of Node's internals; opaque but for this. */
export interface ListenHandle {
  close(): void;
}

/** A connection over loopback. */
const PROOF_MS_MAX = 2_000;

/** `in-use` passes when the process that has the address ends. Undefined if this Node cannot do it, if the host is a
 *  name, or if the address cannot be bound, such as one of another machine or one without the right to it: a process that
 *  binds by itself reports the reason. No connection is accepted, and the port is closed, before a process listens on
 *  it. */
export function bindListenHandle(host: string, port: number): ListenHandle | 'in-use' | undefined {
  const create: unknown = Reflect.get(net, '_createServerHandle');
  const family = isIP(host);
  if (typeof create !== 'function' || family === 0) return undefined;
  const handle: unknown = Reflect.apply(create, net, [host, port, family, -1, 0]);
  if (!isListenHandle(handle)) return undefined; // The number of an error.
  if (isBoundTo(handle, port)) return handle;
  handle.close();
  return 'in-use';
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
