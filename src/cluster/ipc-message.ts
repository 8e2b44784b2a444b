// Messages of the inter-process channels (IPC). Between the processes of one gateway each is addressed by the number of
// a process and passes through the supervisor, which started them all and reads only the address. Between gateways it is
// addressed by the name of a gateway (redis-transport.ts).

import { Socket } from 'node:net';
import { z } from 'zod';
import type { Log } from '../log.ts';
import type { ListenHandle } from '../runtime/listen-handle.ts';

/** The first process: it starts the others and runs no call. */
export const SUPERVISOR = 0;
/** The call worker that holds the connections to PBXs, and those of their media that come to one address. */
export const PBX_WORKER = 1;
/** Call workers at most: more than the cores of any machine in use. */
export const WORKERS_MAX = 32;
/** The process of the HTTP API, which runs no call. */
export const API = WORKERS_MAX + 1;

/** Largest message. Provider requests have bodies of up to 2 MB, which are sent raw and parsed; metrics are smaller. */
export const MESSAGE_BYTES_MAX = 8 * 1_048_576;
/** Bytes of a number, a boolean, or an object or array without its content. */
const VALUE_BYTES = 9;

/** Longest name of a gateway: a setting of 200 characters, or host name and data folder. */
const NAME_LENGTH_MAX = 5_000;

/** Receiver of a message to all other gateways; no gateway has this name. */
export const ALL_GATEWAYS = '*';

/** Number of a process of this gateway, or name of another gateway. */
export type Address = number | string;

const number = z.int().min(SUPERVISOR).max(API);
const id = z.int().positive();
/** Estimated size of the body, from its sender (`messageBytes`). */
const bytes = z.int().nonnegative();

function messageBetween<A extends Address>(address: z.ZodType<A>) {
  const route = { from: address, to: address, bytes };
  return z.discriminatedUnion('kind', [
    /** One-way message; may carry a handle. */
    z.object({ kind: z.literal('note'), ...route, topic: z.string(), body: z.unknown() }),
    /** Request; may carry a handle. */
    z.object({ kind: z.literal('request'), ...route, id, topic: z.string(), body: z.unknown() }),
    z.object({ kind: z.literal('reply'), ...route, id, body: z.unknown() }),
    /** Error in place of a reply, by its code. */
    z.object({
      kind: z.literal('failure'),
      ...route,
      id,
      code: z.string(),
      facts: z.record(z.string(), z.union([z.string(), z.number()])),
    }),
  ]);
}

/** Messages between the processes of one gateway, and between gateways. */
export const processMessage = messageBetween(number);
export const gatewayMessage = messageBetween(z.string().min(1).max(NAME_LENGTH_MAX));

export type IpcMessage<A extends Address = number> = z.infer<ReturnType<typeof messageBetween<A>>>;

/** Reads a message of another process. Undefined if it is none, which is logged; its handle is closed. */
export function readMessage<A extends Address>(
  schema: z.ZodType<IpcMessage<A>>,
  text: unknown,
  { handle, log }: { handle?: IpcHandle | undefined; log: Log },
): IpcMessage<A> | undefined {
  const { data, error } = schema.safeParse(text);
  if (error === undefined) return data;
  closeHandle(handle);
  log.error({ problem: error.message }, 'message of another process not read');
  return undefined;
}

/** Handle of a message: a connection, which then belongs to the other process, or the listening socket, which both
 *  have. */
export type IpcHandle = Socket | ListenHandle;

export function closeHandle(handle: IpcHandle | undefined): void {
  if (handle instanceof Socket) handle.destroy();
  else handle?.close();
}

/** Message: a run was completed at a worker. */
export const runCompleted = z.object({ runId: z.string(), hasAfterwork: z.boolean() });

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

/** Name of the gateway of a process in the store. */
export function gatewayOfNode(node: string): string {
  return node.replace(/#(api|\d+)$/, '');
}

/** Number of a call worker by its name in the store; undefined: it is none. */
export function workerOfNode(node: string): number | undefined {
  const number = Number(/#(\d{1,2})$/.exec(node)?.[1]);
  return number >= 1 && number <= WORKERS_MAX ? number : undefined;
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
