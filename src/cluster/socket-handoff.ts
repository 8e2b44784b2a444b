// A media socket that reached one worker and is another's: handed over between its request and our answer,
// while the far end has to be silent (RFC 6455, 4.1). What was asked travels beside it.

import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { z } from 'zod';
import { workerOfToken } from '../transport/media-token.ts';
import type { IpcChannel } from './ipc-channel.ts';
import { FRONT, WORKERS_MAX } from './ipc-message.ts';

export type AcceptUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

const asked = z.object({
  url: z.string(),
  headers: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
  head: z.instanceof(Uint8Array),
});

/** Hands over what is another worker's; false if it is ours or nobody's, then nothing was done. */
export function handOffSocket(
  link: IpcChannel,
  request: IncomingMessage,
  at: Duplex,
  head: Buffer,
): boolean {
  const { url = '', headers } = request;
  const token = url.split('?', 1)[0]?.split('/').filter(Boolean).at(-1) ?? '';
  const worker = workerOfToken(token);
  if (worker === undefined || worker === link.number || !(at instanceof Socket)) return false;
  if (worker < FRONT || worker > WORKERS_MAX || request.method !== 'GET') return false;
  const known = Object.fromEntries(Object.entries(headers).filter(([, value]) => value));
  link.notify(worker, 'upgrade', { url, headers: known, head }, at);
  return true;
}

/** Takes the sockets that others hand over, as a server's `upgrade` event brings them. */
export function acceptHandedOffSocket(link: IpcChannel, take: AcceptUpgrade): void {
  link.onNotification('upgrade', (body, { socket }) => {
    const parsed = asked.safeParse(body);
    if (socket === undefined) return;
    if (!parsed.success) {
      socket.destroy();
      return;
    }
    const { url, headers, head } = parsed.data;
    const request = new IncomingMessage(socket);
    Object.assign(request, { method: 'GET', url, headers, httpVersion: '1.1' });
    socket.setNoDelay(true);
    take(request, socket, Buffer.from(head));
  });
}
