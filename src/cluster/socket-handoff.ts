// Hands off a socket from the API process to a call worker between its upgrade request and the answer, while the far
// end must be silent (RFC 6455, 4.1). The request travels with it. Both processes have the socket until the worker
// acknowledges it: if the worker dies before, the sender can still answer.

import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { z } from 'zod';
import { GatewayError } from '../errors/gateway-error.ts';
import { nextTick } from '../std/clock.ts';
import type { IpcChannel } from './ipc-channel.ts';
import { closeHandle } from './ipc-message.ts';

/** Deadline of the worker's acknowledgement, which takes milliseconds. Providers wait longer for their upgrade. */
const TAKEN_MS_MAX = 5_000;

export type AcceptUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

const asked = z.object({
  url: z.string(),
  headers: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
  head: z.instanceof(Uint8Array),
});

/** Hands off a socket. Returns true when the worker has acknowledged it; it is then closed in this process. Returns
 *  false if the worker is not running, dies or does not read: the socket is then still open, for an answer. Never
 *  rejects. */
export async function handOffSocket(
  link: IpcChannel,
  worker: number,
  { request, socket, head }: { request: IncomingMessage; socket: Socket; head: Buffer },
): Promise<boolean> {
  const { url = '', headers } = request;
  const known = Object.fromEntries(Object.entries(headers).filter(([, value]) => value));
  const body = { url, headers: known, head };
  socket.on('error', () => socket.destroy()); // No other listener exists during the handoff.
  try {
    await link.request(worker, 'upgrade', body, TAKEN_MS_MAX, socket);
  } catch {
    return false; // Every error has the same answer, a 503 by the caller.
  }
  socket.destroy(); // Closes our copy; the connection is open at the worker.
  return true;
}

/** Receives handed-off sockets, like a server's `upgrade` event. */
export function acceptHandedOffSocket(link: IpcChannel, take: AcceptUpgrade): void {
  link.onRequest('upgrade', async (body, handle) => {
    const parsed = asked.safeParse(body);
    if (!(handle instanceof Socket) || !parsed.success) {
      closeHandle(handle);
      throw new GatewayError('WORKER_FAILED', { worker: link.address });
    }
    const { url, headers, head } = parsed.data;
    const request = new IncomingMessage(handle);
    Object.assign(request, { method: 'GET', url, headers, httpVersion: '1.1' });
    handle.setNoDelay(true);
    // Only after the acknowledgement, so that one process answers the far end.
    void nextTick().then(() => take(request, handle, Buffer.from(head)));
  });
}
