// Transport of the inter-process channel (IPC) between a process and the supervisor that forked it. A process without
// its supervisor ends: the embedded database is gone too, and nothing would restart the process.

import type { ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import type { Log } from '../log.ts';
import { ipcDropped } from '../metrics/metrics.ts';
import { isListenHandle } from '../runtime/listen-handle.ts';
import type { Clock } from '../std/clock.ts';
import type { IpcTransport } from './ipc-channel.ts';
import { type IpcHandle, type IpcMessage, processMessage, readMessage } from './ipc-message.ts';

/** Messages queued in a pipe; with more, the other process is blocked and is killed. */
const PENDING_MAX = 10_000;
/** Bytes queued in a pipe, by the senders' estimates: the supervisor's memory for a process that does not read. */
const PENDING_BYTES_MAX = 64 * 1_048_576;

/** Interval at which a process looks whether its supervisor is there. */
const LOOK_MS = 500;

type Pipe = Pick<ChildProcess, 'send' | 'connected'> | NodeJS.Process;

const pending = new WeakMap<Pipe, { messages: number; bytes: number }>();

/** Transport of a forked process. `onLost` is called when the supervisor is gone. */
export function supervisorTransport(
  { clock, log }: { clock: Clock; log: Log },
  onLost: () => void,
): IpcTransport {
  const channel: IpcTransport = {
    send: (message, handle, keepOpen) => send(process, message, handle, keepOpen),
    onMessage: () => undefined,
  };
  process.on('message', (text: unknown, passed: unknown) => {
    const handle = handleOf(passed);
    const message = readMessage(processMessage, text, { handle, log });
    if (message !== undefined) channel.onMessage(message, handle);
  });
  process.once('disconnect', onLost);
  // The supervisor may have ended while this process was loading, before the listener was set. And Node reports nothing
  // while a passed connection waits for the confirmation of the other end.
  const look = (): void => {
    if (process.connected) clock.after(LOOK_MS, look);
    else onLost();
  };
  look();
  return channel;
}

export function handleOf(handle: unknown): IpcHandle | undefined {
  return handle instanceof Socket || isListenHandle(handle) ? handle : undefined;
}

/** Sends over the pipe of a process, to its parent or a child. Returns false if the pipe is closed or full; throws
 *  if the message cannot be serialized. A passed connection then belongs to the other process, and is closed here
 *  unless `keepOpen` is set; it must have been read completely, and be silent. */
export function send(
  over: Pipe,
  message: IpcMessage,
  handle: IpcHandle | undefined,
  keepOpen = false,
): boolean {
  const socket = handle instanceof Socket ? handle : undefined;
  const closeOurs = (): void => {
    if (!keepOpen) socket?.destroy();
  };
  if (!over.connected || over.send === undefined || !hasRoom(over, message)) {
    closeOurs();
    return false;
  }
  if (socket !== undefined) {
    // Otherwise Node asks the other process about it whenever the server closes.
    Reflect.set(socket, 'server', null);
    stopReading(socket);
  }
  count(over, 1, message.bytes);
  const sent = (): void => {
    count(over, -1, -message.bytes);
    closeOurs(); // Our queue is empty by now, or could not be sent.
  };
  try {
    Reflect.apply(over.send, over, [message, handle, { keepOpen }, sent]); // Not in Node's types.
  } catch (error) {
    sent();
    throw error;
  }
  return true;
}

function hasRoom(over: Pipe, message: IpcMessage): boolean {
  const { messages, bytes } = pending.get(over) ?? { messages: 0, bytes: 0 };
  if (messages < PENDING_MAX && bytes + message.bytes <= PENDING_BYTES_MAX) return true;
  ipcDropped.inc();
  return false;
}

function count(over: Pipe, messages: number, bytes: number): void {
  const before = pending.get(over) ?? { messages: 0, bytes: 0 };
  pending.set(over, { messages: before.messages + messages, bytes: before.bytes + bytes });
}

/** Stops reading a passed socket. Node would read until the other process confirms the socket, and discard the data:
 *  with a busy event loop these would be the far end's first bytes. */
function stopReading(socket: Socket): void {
  const handle: unknown = Reflect.get(socket, '_handle'); // Not in Node's types.
  if (typeof handle !== 'object' || handle === null) return;
  const stop: unknown = Reflect.get(handle, 'readStop');
  if (typeof stop === 'function') Reflect.apply(stop, handle, []);
}
