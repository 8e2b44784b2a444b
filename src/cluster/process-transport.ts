// The inter-process channel (IPC) between a process and the supervisor that forked it. A process whose supervisor is
// gone ends: with it went the embedded database, and nobody would start the process again.

import type { ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import { ipcDropped } from '../metrics/metrics.ts';
import { isListenHandle } from '../runtime/listen-handle.ts';
import type { IpcTransport } from './ipc-channel.ts';
import type { IpcHandle, IpcMessage } from './ipc-message.ts';

/** Messages that a pipe may hold: the other process stands still if there are more, and is killed for it. */
const PENDING_MAX = 10_000;

type Pipe = Pick<ChildProcess, 'send' | 'connected'> | NodeJS.Process;

const pending = new WeakMap<Pipe, number>();

/** In a process that was forked. `onLost` is called when the supervisor is gone. */
export function supervisorTransport(onLost: () => void): IpcTransport {
  const channel: IpcTransport = {
    send: (message, handle) => send(process, message, handle),
    onMessage: () => undefined,
  };
  process.on('message', (message: unknown, handle: unknown) => {
    channel.onMessage(message, handleOf(handle));
  });
  process.once('disconnect', onLost);
  // It may have gone while this process was loaded, when nobody listened.
  if (!process.connected) onLost();
  return channel;
}

export function handleOf(handle: unknown): IpcHandle | undefined {
  return handle instanceof Socket || isListenHandle(handle) ? handle : undefined;
}

/** Sends over the pipe of a process, this one's to its parent or a child's. False if it is closed or full.
 *  A connection is the other's from then on; it must have been read to the end, and be quiet. */
export function send(over: Pipe, message: IpcMessage, handle: IpcHandle | undefined): boolean {
  const socket = handle instanceof Socket ? handle : undefined;
  const waiting = pending.get(over) ?? 0;
  if (waiting >= PENDING_MAX) ipcDropped.inc();
  if (!over.connected || over.send === undefined || waiting >= PENDING_MAX) {
    socket?.destroy();
    return false;
  }
  if (socket !== undefined) {
    // Else Node asks the other process whether it is open, whenever the server closes.
    Reflect.set(socket, 'server', null);
    stopReading(socket);
  }
  pending.set(over, waiting + 1);
  const sent = (): void => {
    pending.set(over, (pending.get(over) ?? 1) - 1);
    socket?.destroy(); // Ours is empty by now, or could not be sent.
  };
  Reflect.apply(over.send, over, [message, handle, {}, sent]); // Node's types know no raw handle.
  return true;
}

/** Node reads on until the other process says that it has the socket, and throws away what comes: with a busy
 *  loop these are the far end's first words, which the other has asked for already. */
function stopReading(socket: Socket): void {
  const handle: unknown = Reflect.get(socket, '_handle'); // Node's types know none.
  if (typeof handle !== 'object' || handle === null) return;
  const stop: unknown = Reflect.get(handle, 'readStop');
  if (typeof stop === 'function') Reflect.apply(stop, handle, []);
}
