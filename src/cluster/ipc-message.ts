// Messages between the processes of one gateway over their inter-process channels (IPC). Each message is addressed by
// the number of a process and passes through the supervisor, which started them all and reads only the address.

import { Socket } from 'node:net';
import { z } from 'zod';
import type { ListenHandle } from '../runtime/listen-handle.ts';

/** The first process: it starts the others and runs no call. */
export const SUPERVISOR = 0;
/** The call worker that holds the connections to PBXs and their media ports. */
export const PBX_WORKER = 1;
/** Call workers at most: more than the cores of any machine in use. */
export const WORKERS_MAX = 32;
/** The process of the HTTP API, which runs no call. */
export const API = WORKERS_MAX + 1;

/** Largest message. Provider requests have bodies of up to 2 MB, which are sent raw and parsed; metrics are smaller. */
export const MESSAGE_BYTES_MAX = 8 * 1_048_576;
/** Bytes of a number, a boolean, or an object or array without its content. */
const VALUE_BYTES = 9;

const number = z.int().min(SUPERVISOR).max(API);
const route = { from: number, to: number };
const id = z.int().positive();
/** Estimated size of the body, from its sender (`messageBytes`). */
const bytes = z.int().nonnegative();

export const message = z.discriminatedUnion('kind', [
  /** One-way message; may carry a handle. */
  z.object({ kind: z.literal('note'), ...route, bytes, topic: z.string(), body: z.unknown() }),
  /** Request; may carry a handle. */
  z.object({
    kind: z.literal('request'),
    ...route,
    bytes,
    id,
    topic: z.string(),
    body: z.unknown(),
  }),
  z.object({ kind: z.literal('reply'), ...route, bytes, id, body: z.unknown() }),
  /** Error in place of a reply, by its code. */
  z.object({
    kind: z.literal('failure'),
    ...route,
    bytes,
    id,
    code: z.string(),
    facts: z.record(z.string(), z.union([z.string(), z.number()])),
  }),
]);

export type IpcMessage = z.infer<typeof message>;

/** Handle of a message: a connection, which then belongs to the other process, or the listening socket, which both
 *  have. */
export type IpcHandle = Socket | ListenHandle;

export function closeHandle(handle: IpcHandle | undefined): void {
  if (handle instanceof Socket) handle.destroy();
  else handle?.close();
}

/** Message: a run was completed at a worker. */
export const runCompleted = z.object({ hasAfterwork: z.boolean() });

/** Message: a process died. */
export const workerGone = z.object({ worker: number });

export function isCallWorker(number: number): boolean {
  return number !== SUPERVISOR && number !== API;
}

/** Name of a process in logs, metrics and node names. */
export function processName(number: number): string {
  if (number === SUPERVISOR) return 'supervisor';
  return number === API ? 'api' : String(number);
}

/** Name of a process of `gateway` in the store. */
export function nodeOfProcess(gateway: string, number: number): string {
  return `${gateway}#${processName(number)}`;
}

/** Estimated bytes of a message's body; undefined above the limit. Computed only up to the limit,
 *  before it is sent: it bounds the memory of the receiver. */
export function messageBytes(body: unknown, bytesMax = MESSAGE_BYTES_MAX): number | undefined {
  const waiting: unknown[] = [body];
  let bytes = 0;
  while (waiting.length > 0 && bytes <= bytesMax) {
    const value = waiting.pop();
    bytes += VALUE_BYTES;
    if (typeof value === 'string') bytes += value.length;
    else if (ArrayBuffer.isView(value)) bytes += value.byteLength;
    else if (typeof value === 'object' && value !== null) {
      for (const [key, member] of Object.entries(value)) {
        bytes += key.length;
        waiting.push(member);
      }
    }
  }
  return bytes <= bytesMax ? bytes : undefined;
}
