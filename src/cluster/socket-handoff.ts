// Hands off a socket from the API process to a call worker: between its upgrade request and the answer, while the
// far end must be silent (RFC 6455, 4.1). The request travels with it.

import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { z } from 'zod';
import type { IpcChannel } from './ipc-channel.ts';
import { closeHandle } from './ipc-message.ts';

export type AcceptUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

const asked = z.object({
  url: z.string(),
  headers: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
  head: z.instanceof(Uint8Array),
});

/** False if the worker is not there; the socket is closed then. */
export function handOffSocket(
  link: IpcChannel,
  worker: number,
  { request, socket, head }: { request: IncomingMessage; socket: Socket; head: Buffer },
): boolean {
  const { url = '', headers } = request;
  const known = Object.fromEntries(Object.entries(headers).filter(([, value]) => value));
  return link.notify(worker, 'upgrade', { url, headers: known, head }, socket);
}

/** Receives handed-off sockets, like a server's `upgrade` event. */
export function acceptHandedOffSocket(link: IpcChannel, take: AcceptUpgrade): void {
  link.onNotification('upgrade', (body, { handle }) => {
    const parsed = asked.safeParse(body);
    if (!(handle instanceof Socket) || !parsed.success) {
      closeHandle(handle);
      return;
    }
    const { url, headers, head } = parsed.data;
    const request = new IncomingMessage(handle);
    Object.assign(request, { method: 'GET', url, headers, httpVersion: '1.1' });
    handle.setNoDelay(true);
    take(request, handle, Buffer.from(head));
  });
}
