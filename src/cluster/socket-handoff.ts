// A socket that reached the API process and is a call worker's: handed over between its request and the answer to
// its upgrade, while the far end has to be silent (RFC 6455, 4.1). What was asked travels beside it. Both processes
// have the socket until the worker says that it will answer: of a worker that dies before, the sender answers.

import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { z } from 'zod';
import { GatewayError } from '../errors/gateway-error.ts';
import type { IpcChannel } from './ipc-channel.ts';
import { closeHandle } from './ipc-message.ts';

/** A provider waits longer for its upgrade, and a worker that lives takes milliseconds. */
const TAKEN_MS_MAX = 5_000;

export type AcceptUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

const asked = z.object({
  url: z.string(),
  headers: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
  head: z.instanceof(Uint8Array),
});

/** True once the worker has the socket. False if it does not take it: it is not there, or dies, or does not read.
 *  The socket is still open then, for an answer. Never rejects. */
export async function handOffSocket(
  link: IpcChannel,
  worker: number,
  { request, socket, head }: { request: IncomingMessage; socket: Socket; head: Buffer },
): Promise<boolean> {
  const { url = '', headers } = request;
  const known = Object.fromEntries(Object.entries(headers).filter(([, value]) => value));
  const body = { url, headers: known, head };
  socket.on('error', () => socket.destroy()); // Nobody else listens while it travels.
  try {
    await link.request(worker, 'upgrade', body, TAKEN_MS_MAX, socket);
  } catch {
    return false; // All that can be wrong has one answer, which the caller gives.
  }
  socket.destroy(); // Ours; the connection is open at the worker.
  return true;
}

/** Receives handed-off sockets, like a server's `upgrade` event. */
export function acceptHandedOffSocket(link: IpcChannel, take: AcceptUpgrade): void {
  link.onRequest('upgrade', async (body, handle) => {
    const parsed = asked.safeParse(body);
    if (!(handle instanceof Socket) || !parsed.success) {
      closeHandle(handle);
      throw new GatewayError('WORKER_FAILED', { worker: link.number });
    }
    const { url, headers, head } = parsed.data;
    const request = new IncomingMessage(handle);
    Object.assign(request, { method: 'GET', url, headers, httpVersion: '1.1' });
    handle.setNoDelay(true);
    // After the reply, so that two processes never answer the far end.
    setImmediate(() => take(request, handle, Buffer.from(head)));
  });
}
