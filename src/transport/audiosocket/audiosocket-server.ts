// AudioSocket server: a port to which Asterisk sends the audio of calls, one TCP connection each, whose first frame
// names the call by an unguessable UUID. Bounded in size, number, rate and time. It always reads, because a PBX that
// cannot write blocks its calls. The sender paces its audio.
// Source: asterisk §3, §0.1.

import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { type ErrorCode, GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import { mediaFaults, mediaSockets } from '../../metrics/metrics.ts';
import type { Clock } from '../../std/clock.ts';
import { CLOSE } from '../media-socket.ts';
import { UNADMITTED_LIMITS, UnadmittedSockets } from '../unadmitted-sockets.ts';
import { type AudioSocketCall, AudioSocketConnection } from './audiosocket-connection.ts';

/** Connections of one process. */
const CONNECTIONS_MAX = 4_000;
const UUID_BYTES = 16;
/** Deadline of the first frame. Asterisk sends the UUID as soon as it is connected. */
const FIRST_FRAME_MS_MAX = 2_000;

export interface AudioSocketServer {
  /** The port in use. */
  readonly port: number;
  /** Resolves when the server listens. Rejects if the port is not available. */
  listen(): Promise<void>;
  /** Waits for the connection of one call. Throws QUEUE_FULL. */
  expect(uuid: string, call: AudioSocketCall, signal: AbortSignal): ExpectedConnection;
  /** Stops accepting connections and closes the open ones. */
  close(): Promise<void>;
}

export interface ExpectedConnection {
  /** Resolves on the connection. Rejects with PBX_MEDIA when the wait is given up. */
  arrived: Promise<void>;
  done(): void;
}

export interface AudioSocketOptions {
  /** The address to listen on. */
  host: string;
  /** Port, 0 for any free one. */
  port: number;
  clock: Clock;
  log: Log;
  /** Budget for connections whose call is not known yet. Default: one of its own, without known PBXs. */
  unadmitted?: UnadmittedSockets | undefined;
}

export function createAudioSocketServer(options: AudioSocketOptions): AudioSocketServer {
  return new Listener(options);
}

interface Waiting {
  call: AudioSocketCall;
  arrived: () => void;
}

class Listener implements AudioSocketServer {
  readonly #options: AudioSocketOptions;
  readonly #server: Server;
  /** Waiting calls by the hex digits of their UUID. */
  readonly #waiting = new Map<string, Waiting>();
  readonly #unadmitted: UnadmittedSockets;
  readonly #connections = new Set<AudioSocketConnection>();

  constructor(options: AudioSocketOptions) {
    this.#options = options;
    this.#unadmitted = options.unadmitted ?? new UnadmittedSockets();
    this.#server = createServer((socket) => this.#begin(socket));
    const { socketsMax, socketsOfPbxsMax } = UNADMITTED_LIMITS;
    this.#server.maxConnections = CONNECTIONS_MAX + socketsMax + socketsOfPbxsMax;
  }

  get port(): number {
    const address = this.#server.address();
    return isTcpAddress(address) ? address.port : this.#options.port;
  }

  listen(): Promise<void> {
    const { host, port, log } = this.#options;
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen({ host, port }, () => {
        this.#server.off('error', reject);
        this.#server.on('error', (error) => log.error({ err: error }, 'AudioSocket port failed'));
        resolve();
      });
    });
  }

  expect(uuid: string, call: AudioSocketCall, signal: AbortSignal): ExpectedConnection {
    if (this.#waiting.size >= CONNECTIONS_MAX) {
      throw new GatewayError('QUEUE_FULL', { queue: 'AudioSocket connections' });
    }
    const key = uuid.replaceAll('-', '').toLowerCase();
    let done = (): void => undefined;
    const arrived = new Promise<void>((resolve, reject) => {
      const onAbort = (): void => {
        const reason = 'Asterisk did not bring its AudioSocket connection in time';
        reject(new GatewayError('PBX_MEDIA', { reason }, signal.reason));
      };
      if (signal.aborted) onAbort();
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.set(key, { call, arrived: resolve });
      done = () => {
        signal.removeEventListener('abort', onAbort);
        this.#waiting.delete(key);
      };
    });
    arrived.catch(() => undefined); // The request may fail first.
    return { arrived, done: () => done() };
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#server.listening) this.#server.close(() => resolve());
      else resolve();
      for (const connection of this.#connections) connection.close(CLOSE.goingAway, 'closing');
    });
  }

  #begin(socket: Socket): void {
    const { clock, log } = this.#options;
    // A call's UUID is registered before Asterisk connects: without any, a connection has no purpose.
    if (this.#waiting.size === 0) {
      mediaFaults.inc({ code: 'MEDIA_UNAUTHORIZED' satisfies ErrorCode });
      socket.destroy();
      return;
    }
    mediaSockets.inc();
    const leave = this.#unadmitted.enter(socket.remoteAddress ?? '', () => connection.evict());
    const connection: AudioSocketConnection = new AudioSocketConnection({
      socket,
      clock,
      log,
      identify: (uuid) => {
        const waiting = uuid.length === UUID_BYTES ? this.#take(uuid) : undefined;
        if (waiting !== undefined) leave();
        return waiting;
      },
      onClosed: () => {
        leave();
        this.#connections.delete(connection);
        mediaSockets.dec();
      },
      firstFrameMs: FIRST_FRAME_MS_MAX,
    });
    this.#connections.add(connection);
  }

  /** Takes the call of a UUID, which is valid for one connection. */
  #take(uuid: Uint8Array): AudioSocketCall | undefined {
    const key = Buffer.from(uuid).toString('hex');
    const waiting = this.#waiting.get(key);
    this.#waiting.delete(key);
    waiting?.arrived();
    return waiting?.call;
  }
}

function isTcpAddress(address: ReturnType<Server['address']>): address is AddressInfo {
  return typeof address === 'object' && address !== null;
}
