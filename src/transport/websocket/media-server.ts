// Media endpoint for websockets: accepts upgrades at once, has them admitted or refused, and counts open sockets.
// Unadmitted ones have a separate budget (unadmitted-sockets). It parses no message and is independent of providers.
// Source: contract §7.4 (path and close codes).

import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Log } from '../../log.ts';
import { mediaSockets } from '../../metrics/metrics.ts';
import type { SocketKernel } from '../../runtime/direct-socket.ts';
import { type ClientOf, clientBehind } from '../../std/client-address.ts';
import type { Clock } from '../../std/clock.ts';
import { endConnection } from '../../std/last-answer.ts';
import {
  CLOSE,
  type MediaSocket,
  type MediaSocketListener,
  type SocketArrival,
} from '../media-socket.ts';
import { isWebMedia, type MediaPath, mediaPathOf, MEDIA_PATH as PREFIX } from '../media-token.ts';
import { UnadmittedSockets } from '../unadmitted-sockets.ts';
import { refuseUpgrade } from '../upgrade-refusal.ts';
import { DEFAULT_MEDIA_LIMITS, MediaConnection, type MediaLimits } from './media-connection.ts';
import { answerUpgrade } from './websocket-handshake.ts';

/** Decision on a socket. `accept` is called exactly once, even if the peer has left meanwhile: then `onClose` follows
 *  at once. `refuse` is a close code of the contract. */
export type MediaAdmission =
  | { accept(socket: MediaSocket): MediaSocketListener }
  | { refuse: number; reason: string };

/** Decides on an upgrade. `url` is the request target (path and query) as received; header names are lower-case. */
export type AuthorizeMedia = (
  path: MediaPath,
  headers: Record<string, string | undefined>,
  url: string,
) => Promise<MediaAdmission>;

export interface MediaServerOptions {
  log: Log;
  clock: Clock;
  limits?: Partial<MediaLimits>;
  /** Speeds up reads and writes where possible. Default: none. */
  kernel?: SocketKernel | undefined;
  authorize: AuthorizeMedia;
  /** Whether a call waits for exactly this path. Its socket does not count among those of unknown clients. Default:
   *  none. */
  isExpected?: (path: MediaPath) => boolean;
  /** Endpoints whose path names no run, by the word in its place. Default: none. */
  endpoints?: ReadonlyMap<string, MediaEndpoint>;
  /** Budget of unadmitted sockets. Default: one of its own, without known PBXs. */
  unadmitted?: UnadmittedSockets;
  /** Origins whose pages may open sockets of browsers, as `https://example.com`, in addition to pages of the same host.
   *  Default: none. */
  origins?: readonly string[] | undefined;
  /** Determines the client. Default: the peer's address; headers of proxies are ignored. */
  clientOf?: ClientOf;
}

/** Limits of a browser's socket in addition to `MediaLimits`: messages of 20 ms, and a few others. Their mean is half of
 *  `messagesPerSecondMax`; a stalled network catches up beyond it. */
const WEB_LIMITS: Partial<MediaLimits> = {
  messageBytesMax: 4 * 1024,
  messagesPerSecondMax: 120,
  bytesPerSecondMax: 96 * 1024,
  idleMs: 10_000,
};

/** Path for sockets whose first message names their call. */
export interface MediaEndpoint {
  /** Whether the endpoint accepts connections. `application`: the word after it in the path, if any. */
  isInUse(application: string | undefined): boolean;
  accept(socket: MediaSocket, arrival: SocketArrival): MediaSocketListener;
}

export interface MediaServer {
  /** Handles an HTTP server's `upgrade` event. Returns false, and leaves the socket untouched, if the path is not a
   *  media path. */
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean;
  /** Accepts no more sockets, closes the open ones, and settles when they are gone. */
  close(code: number): Promise<void>;
  /** Number of open sockets, admitted or not. */
  readonly open: number;
}

export function createMediaServer(options: MediaServerOptions): MediaServer {
  return new WebsocketMediaServer(options);
}

class WebsocketMediaServer implements MediaServer {
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #limits: MediaLimits;
  readonly #webLimits: MediaLimits;
  readonly #origins: readonly string[];
  readonly #kernel: SocketKernel | undefined;
  readonly #authorize: AuthorizeMedia;
  readonly #isExpected: (path: MediaPath) => boolean;
  readonly #endpoints: ReadonlyMap<string, MediaEndpoint>;
  readonly #unadmitted: UnadmittedSockets;
  readonly #clientOf: ClientOf;
  readonly #connections = new Set<MediaConnection>();
  /** Unadmitted sockets, each with the function that ends its count. */
  readonly #waiting = new Map<MediaConnection, () => void>();
  #draining = false;
  #drained: (() => void) | undefined;

  constructor(options: MediaServerOptions) {
    this.#log = options.log;
    this.#clock = options.clock;
    this.#limits = { ...DEFAULT_MEDIA_LIMITS, ...options.limits };
    this.#webLimits = { ...DEFAULT_MEDIA_LIMITS, ...WEB_LIMITS, ...options.limits };
    this.#origins = options.origins ?? [];
    this.#kernel = options.kernel;
    this.#authorize = options.authorize;
    this.#isExpected = options.isExpected ?? (() => false);
    this.#endpoints = options.endpoints ?? new Map();
    this.#unadmitted = options.unadmitted ?? new UnadmittedSockets();
    this.#clientOf = options.clientOf ?? clientBehind([]);
  }

  get open(): number {
    return this.#connections.size;
  }

  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean {
    const url = request.url ?? '';
    const path = url.split('?', 1)[0] ?? '';
    const isWeb = isWebMedia(request);
    if (!isWeb && !path.startsWith(PREFIX)) return false;
    const admitted = this.#connections.size - this.#waiting.size;
    // At its limit or stopping, the gateway answers so that the provider may try another one.
    if (this.#draining || admitted >= this.#limits.socketsMax) {
      refuseUpgrade(socket, '503 Service Unavailable');
      return true;
    }
    if (isWeb && !this.#isOwnPage(request)) {
      refuseUpgrade(socket, '403 Forbidden');
      return true;
    }
    const named = isWeb ? undefined : this.#named(path);
    if (named?.endpoint.isInUse(named.application) === false) {
      refuseUpgrade(socket, '404 Not Found');
      return true;
    }
    const answer = answerUpgrade(request);
    if (answer.isOpen) {
      socket.write(answer.text);
      this.#begin({ socket, head, request, endpoint: named?.endpoint });
    } else {
      endConnection(socket, answer.text);
    }
    return true;
  }

  close(code: number): Promise<void> {
    this.#draining = true;
    const drained = new Promise<void>((resolve) => {
      this.#drained = resolve;
    });
    for (const connection of this.#connections) connection.close(code, 'gateway is closing');
    if (this.#connections.size === 0) this.#drained?.();
    return drained;
  }

  /** Whether the page is one of the gateway's own or of the known origins. What sends no origin is no browser. */
  #isOwnPage({ headers: { origin, host } }: IncomingMessage): boolean {
    if (origin === undefined || this.#origins.includes(origin)) return true;
    return host !== undefined && [`http://${host}`, `https://${host}`].includes(origin);
  }

  /** Endpoint of a path that names no run. */
  #named(path: string): { endpoint: MediaEndpoint; application: string | undefined } | undefined {
    const [word = '', application, ...more] = path.slice(PREFIX.length).split('/');
    const endpoint = more.length === 0 ? this.#endpoints.get(word) : undefined;
    return endpoint && { endpoint, application: application || undefined };
  }

  #begin({ socket, head, request, endpoint }: Upgraded): void {
    // The stream may detach the socket's handle, and its address with it.
    const client = this.#clientOf(remoteAddressOf(socket), forwardedIn(request));
    const connection = new MediaConnection({
      socket,
      head,
      side: 'server',
      kernel: this.#kernel,
      log: this.#log,
      clock: this.#clock,
      limits: isWebMedia(request) ? this.#webLimits : this.#limits,
      onClosed: () => this.#forget(connection),
    });
    this.#connections.add(connection);
    mediaSockets.inc();
    const path = endpoint === undefined ? mediaPathOf(request) : undefined;
    if (path === undefined || !this.#isExpected(path)) {
      const leave = this.#unadmitted.enter(client, () => connection.evict());
      this.#waiting.set(connection, leave);
    }
    if (endpoint !== undefined) {
      const admitted = (): void => this.#admitted(connection);
      connection.admit((own) => endpoint.accept(own, { client, admitted }));
    } else if (path === undefined) connection.close(CLOSE.badRequest, 'the path is incomplete');
    else void this.#admit(connection, path, request);
  }

  async #admit(
    connection: MediaConnection,
    path: MediaPath,
    request: IncomingMessage,
  ): Promise<void> {
    const deadline = this.#clock.after(this.#limits.authorizeMs, () => {
      this.#log.error({ runId: path.runId }, 'media admission took too long');
      connection.close(CLOSE.internal, 'admission took too long');
    });
    try {
      const admission = await this.#authorize(path, singleHeaders(request), request.url ?? '');
      if ('accept' in admission) {
        this.#admitted(connection);
        connection.admit((socket) => admission.accept(socket));
      } else connection.close(admission.refuse, admission.reason);
    } catch (error) {
      this.#log.error({ err: error, runId: path.runId }, 'media admission failed');
      connection.close(CLOSE.internal, 'internal error');
    } finally {
      deadline.cancel();
    }
  }

  #admitted(connection: MediaConnection): void {
    this.#waiting.get(connection)?.();
    this.#waiting.delete(connection);
  }

  #forget(connection: MediaConnection): void {
    this.#admitted(connection);
    this.#connections.delete(connection);
    mediaSockets.dec();
    if (this.#draining && this.#connections.size === 0) this.#drained?.();
  }
}

interface Upgraded {
  socket: Duplex;
  head: Buffer;
  request: IncomingMessage;
  endpoint: MediaEndpoint | undefined;
}

function remoteAddressOf(socket: Duplex): string | undefined {
  return socket instanceof Socket ? socket.remoteAddress : undefined;
}

function forwardedIn({ headers }: IncomingMessage): string | undefined {
  return [headers['x-forwarded-for'] ?? []].flat().join(',');
}

function singleHeaders(request: IncomingMessage): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : value,
    ]),
  );
}
