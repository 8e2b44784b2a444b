// The channel between a worker and the supervisor that forked it. A worker whose supervisor is gone ends:
// with it went the embedded database, and nobody would start the worker again.

import type { ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import type { IpcTransport } from './ipc-channel.ts';
import type { IpcMessage } from './ipc-message.ts';

/** In a worker. `onLost` is called when the supervisor is gone. */
export function supervisorTransport(onLost: () => void): IpcTransport {
  const channel: IpcTransport = {
    send: (message, socket) => send(process, message, socket),
    onMessage: () => undefined,
  };
  process.on('message', (message: unknown, handle: unknown) => {
    channel.onMessage(message, handle instanceof Socket ? handle : undefined);
  });
  process.once('disconnect', onLost);
  // It may have gone while this process was loaded, when nobody listened.
  if (!process.connected) onLost();
  return channel;
}

/** Sends over the pipe of a process, this one's to its parent or a child's. False if it is closed.
 *  `socket` is the other's from then on; it must have been read to the end, and be quiet. */
export function send(
  over: Pick<ChildProcess, 'send' | 'connected'> | NodeJS.Process,
  message: IpcMessage,
  socket: Socket | undefined,
): boolean {
  if (!over.connected || over.send === undefined) {
    socket?.destroy();
    return false;
  }
  if (socket !== undefined) {
    // Else Node asks the other process whether it is open, whenever the server closes.
    Reflect.set(socket, 'server', null);
    stopReading(socket);
  }
  over.send(message, socket, {}, () => {
    socket?.destroy(); // Ours is empty by now, or could not be sent.
  });
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
