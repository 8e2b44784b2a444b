// A media socket that we open: to Asterisk, which waits for it. From then on it is as one that was opened
// to us. Source: asterisk.md §2.7.

import { WebSocket } from 'ws';
import { GatewayError } from '../errors.ts';
import type { Log } from '../log.ts';
import { mediaSockets } from '../metrics.ts';
import type { Clock } from '../std/clock.ts';
import { DEFAULT_MEDIA_LIMITS, MediaConnection } from './media-connection.ts';
import type { MediaSocket, MediaSocketListener } from './media-socket.ts';

export interface DialMedia {
  url: string;
  protocol: string;
  clock: Clock;
  log: Log;
}

/** Settles when the socket is open. Throws PBX_MEDIA. */
export function dialMedia(
  { url, protocol, clock, log }: DialMedia,
  accept: (socket: MediaSocket) => MediaSocketListener,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const ws = new WebSocket(url, protocol, {
      perMessageDeflate: false,
      maxPayload: DEFAULT_MEDIA_LIMITS.messageBytesMax,
      followRedirects: false,
    });
    const fail = (reason: string, cause?: unknown): void => {
      signal.removeEventListener('abort', onAbort);
      ws.terminate();
      reject(new GatewayError('PBX_MEDIA', { reason }, cause));
    };
    const onAbort = (): void => fail('its media socket did not open in time', signal.reason);
    const onError = (error: Error): void =>
      fail(
        `its media socket did not open (${'code' in error ? String(error.code) : error.message})`,
        error,
      );
    ws.on('error', onError);
    if (signal.aborted) {
      onAbort();
      return;
    }
    signal.addEventListener('abort', onAbort, { once: true });
    ws.once('unexpected-response', (_, { statusCode }) =>
      fail(`its media socket answered ${statusCode ?? 0}`),
    );
    ws.once('open', () => {
      signal.removeEventListener('abort', onAbort);
      ws.off('error', onError);
      mediaSockets.inc();
      const limits = DEFAULT_MEDIA_LIMITS;
      const onClosed = (): void => mediaSockets.dec();
      new MediaConnection({ ws, log, clock, limits, onClosed }).admit(accept);
      resolve();
    });
  });
}
