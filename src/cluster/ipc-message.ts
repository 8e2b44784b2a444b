// What the processes of one gateway say to each other: each message goes from one to another, by their
// numbers, over the supervisor, which started them all. The supervisor reads no more than the address.

import { z } from 'zod';

/** The first process, which starts the others and runs no call. */
export const SUPERVISOR = 0;
/** The worker that has the port, the connections to PBXs and everything that is done once. */
export const FRONT = 1;
/** More cores than one machine of ours has. */
export const WORKERS_MAX = 32;

const number = z.int().min(SUPERVISOR).max(WORKERS_MAX);
const route = { from: number, to: number };
const id = z.int().positive();

export const message = z.discriminatedUnion('kind', [
  /** Wants no answer. May carry a socket. */
  z.object({ kind: z.literal('note'), ...route, topic: z.string(), body: z.unknown() }),
  z.object({ kind: z.literal('request'), ...route, id, topic: z.string(), body: z.unknown() }),
  z.object({ kind: z.literal('reply'), ...route, id, body: z.unknown() }),
  /** Instead of a reply: an error by its code. */
  z.object({
    kind: z.literal('failure'),
    ...route,
    id,
    code: z.string(),
    facts: z.record(z.string(), z.union([z.string(), z.number()])),
  }),
]);

export type IpcMessage = z.infer<typeof message>;

/** A worker died. */
export const workerGone = z.object({ worker: number });

/** How the store knows a worker of the gateway that it knows as `gateway`. */
export function nodeOfWorker(gateway: string, worker: number): string {
  return `${gateway}#${worker}`;
}
