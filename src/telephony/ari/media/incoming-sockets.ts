// Media sockets that Asterisk opens to us. The first message names the media channel by its id, which we chose and
// which cannot be guessed. Upgrades are answered at once: a pending one blocks the whole PBX.
// Source: asterisk §0.2, §0.3.

import { GatewayError } from '../../../errors/gateway-error.ts';
import { mediaFaults } from '../../../metrics/metrics.ts';
import {
  CLOSE,
  type MediaSocket,
  type MediaSocketListener,
} from '../../../transport/media-socket.ts';
import { parseControlMessage } from './control-messages.ts';

/** Legs that wait for their socket. */
const WAITING_MAX = 5_000;

export interface ExpectedSocket {
  /** Rejects when the wait is given up. */
  arrived: Promise<void>;
  done(): void;
}

export class IncomingSockets {
  readonly #waiting = new Map<string, (socket: MediaSocket) => MediaSocketListener>();

  /** Expects the socket of a media channel. Throws QUEUE_FULL. */
  expect(
    channelId: string,
    accept: (socket: MediaSocket) => MediaSocketListener,
    signal: AbortSignal,
  ): ExpectedSocket {
    if (this.#waiting.size >= WAITING_MAX) {
      throw new GatewayError('QUEUE_FULL', { queue: 'media sockets' });
    }
    let done = (): void => undefined;
    const arrived = new Promise<void>((resolve, reject) => {
      const onAbort = (): void => {
        const reason =
          'Asterisk did not open the socket: is the uri of the connection in websocket_client.conf that of this gateway, with tls_enabled = yes for wss://?';
        reject(new GatewayError('PBX_MEDIA', { reason }, signal.reason));
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.set(channelId, (socket) => {
        this.#waiting.delete(channelId);
        resolve();
        return accept(socket);
      });
      done = () => {
        signal.removeEventListener('abort', onAbort);
        this.#waiting.delete(channelId);
      };
    });
    arrived.catch(() => undefined); // The request may fail first.
    return { arrived, done: () => done() };
  }

  /** Takes a socket, and returns its listener. `onAccepted`: called if a call waited for the socket. */
  accept(socket: MediaSocket, onAccepted: () => void = () => undefined): MediaSocketListener {
    let listener: MediaSocketListener | undefined;
    let isFirst = true;
    return {
      onText: (message) => {
        // After a refusal, further messages of the same read have no listener.
        if (isFirst) listener = this.#identify(socket, message, onAccepted);
        isFirst = false;
        listener?.onText(message);
      },
      onBinary: (message) => {
        if (isFirst) this.#refuse(socket, CLOSE.unsupported, 'binary before MEDIA_START');
        isFirst = false;
        listener?.onBinary(message);
      },
      onClose: (code, reason) => listener?.onClose(code, reason),
    };
  }

  #identify(
    socket: MediaSocket,
    message: string,
    onAccepted: () => void,
  ): MediaSocketListener | undefined {
    const words = parseControlMessage(message);
    const channelId = words?.event === 'MEDIA_START' ? words.channelId : undefined;
    const accept = channelId === undefined ? undefined : this.#waiting.get(channelId);
    if (accept !== undefined) {
      onAccepted();
      return accept(socket);
    }
    this.#refuse(socket, CLOSE.unauthorized, 'no call waits for this socket');
    return undefined;
  }

  #refuse(socket: MediaSocket, code: number, reason: string): void {
    if (!socket.open) return;
    mediaFaults.inc({ code: 'MEDIA_UNAUTHORIZED' });
    socket.close(code, reason);
  }
}
