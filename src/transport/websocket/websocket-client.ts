// Websocket client for media: opens a media socket to Asterisk, which then works like an accepted one.
// Source: asterisk §2.7.

import type { LookupFunction } from 'node:net';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import { mediaSockets } from '../../metrics/metrics.ts';
import type { Clock } from '../../std/clock.ts';
import type { MediaSocket, MediaSocketListener } from '../media-socket.ts';
import { DEFAULT_MEDIA_LIMITS, MediaConnection } from './media-connection.ts';
import { connectWebsocket, type Handshake } from './websocket-handshake.ts';

export interface MediaClientOptions {
  url: string;
  protocol: string;
  /** Resolves the server's name. Default: the system. */
  lookup?: LookupFunction;
  clock: Clock;
  log: Log;
}

/** Connects. Resolves when the socket is open. Throws PBX_MEDIA. */
export async function connectMedia(
  { clock, log, ...handshake }: MediaClientOptions,
  accept: (socket: MediaSocket) => MediaSocketListener,
  signal: AbortSignal,
): Promise<void> {
  const { socket, head } = await open({ ...handshake, signal });
  mediaSockets.inc();
  const limits = DEFAULT_MEDIA_LIMITS;
  const onClosed = (): void => mediaSockets.dec();
  const options = { socket, head, side: 'client', log, clock, limits, onClosed } as const;
  new MediaConnection(options).admit(accept);
}

async function open(handshake: Handshake) {
  try {
    return await connectWebsocket(handshake);
  } catch (error) {
    throw new GatewayError('PBX_MEDIA', { reason: reasonOf(error, handshake.signal) }, error);
  }
}

function reasonOf(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return 'its media socket did not open in time';
  if (!(error instanceof Error)) return 'its media socket did not open';
  const isSystem = 'code' in error;
  return isSystem
    ? `its media socket did not open (${String(error.code)})`
    : `its media socket ${error.message}`;
}
