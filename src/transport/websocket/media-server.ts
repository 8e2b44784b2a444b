// The media endpoint: accepts upgrades at once, has them admitted or refused, and counts open sockets. It parses no
// message and is independent of providers. Source: contract §7.4 (path and close codes).

import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Log } from '../../log.ts';
import { mediaSockets } from '../../metrics/metrics.ts';
import type { SocketKernel } from '../../runtime/direct-socket.ts';
import type { Clock } from '../../std/clock.ts';
import { MEDIA_PATH as PREFIX } from '../media-path.ts';
import { CLOSE, type MediaSocket, type MediaSocketListener } from '../media-socket.ts';
import { DEFAULT_MEDIA_LIMITS, MediaConnection, type MediaLimits } from './media-connection.ts';
import { answerUpgrade } from './websocket-handshake.ts';

/** The parts of a media URL's path, unchecked. */
export interface MediaPath {
  workflowId: string;
  organizationId: string;
  runId: string;
  /** Empty if the path ends before it. */
  token: string;
}

/** Whether a socket may stay. `accept` is called exactly once if it is given, even if the peer has left
 *  meanwhile: then `onClose` follows at once. `refuse` is a close code of the contract. */
export type MediaAdmission =
  | { accept(socket: MediaSocket): MediaSocketListener }
  | { refuse: number; reason: string };

/** `url` is the request target (path and query) as received; header names are lower-case. */
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
  /** Endpoints whose path names no run, by the first segment, which an application may follow: the listener
   *  decides by the first message whether the socket may stay. Default: none. */
  endpoints?: ReadonlyMap<string, (socket: MediaSocket) => MediaSocketListener>;
}

export interface MediaServer {
  /** Handles an HTTP server's `upgrade` event. False if the path is not ours; the socket is untouched then. */
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean;
  /** Accepts no more sockets, closes the open ones, and settles when they are gone. */
  close(code: number): Promise<void>;
  /** Sockets that are not closed, admitted or not. */
  readonly open: number;
}

/** At its limit, or stopping: the provider may try elsewhere. */
const UNAVAILABLE =
  'HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n';
/** Longest path: three ids and a token. */
const PATH_MAX = 512;
const PATH = /^([\w-]{1,64})\/([\w-]{1,64})\/([\w-]{1,64})(?:\/([\w-]{1,256}))?\/?$/;

export function createMediaServer(options: MediaServerOptions): MediaServer {
  return new WebsocketMediaServer(options);
}

class WebsocketMediaServer implements MediaServer {
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #limits: MediaLimits;
  readonly #kernel: SocketKernel | undefined;
  readonly #authorize: AuthorizeMedia;
  readonly #endpoints: ReadonlyMap<string, (socket: MediaSocket) => MediaSocketListener>;
  readonly #connections = new Set<MediaConnection>();
  #draining = false;
  #drained: (() => void) | undefined;

  constructor({ log, clock, limits, kernel, authorize, endpoints }: MediaServerOptions) {
    this.#log = log;
    this.#clock = clock;
    this.#limits = { ...DEFAULT_MEDIA_LIMITS, ...limits };
    this.#kernel = kernel;
    this.#authorize = authorize;
    this.#endpoints = endpoints ?? new Map();
  }

  get open(): number {
    return this.#connections.size;
  }

  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean {
    const url = request.url ?? '';
    const path = url.split('?', 1)[0] ?? '';
    if (!path.startsWith(PREFIX)) return false;
    if (this.#draining || this.#connections.size >= this.#limits.socketsMax) {
      endWith(socket, UNAVAILABLE);
      return true;
    }
    const answer = answerUpgrade(request);
    if (answer.isOpen) {
      socket.write(answer.text);
      this.#begin(socket, head, request);
    } else {
      endWith(socket, answer.text);
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

  #begin(socket: Duplex, head: Buffer, request: IncomingMessage): void {
    const connection = new MediaConnection({
      socket,
      head,
      side: 'server',
      kernel: this.#kernel,
      log: this.#log,
      clock: this.#clock,
      limits: this.#limits,
      onClosed: () => this.#forget(connection),
    });
    this.#connections.add(connection);
    mediaSockets.inc();
    const url = request.url ?? '';
    const [word = '', , ...more] = url.split('?', 1)[0]?.slice(PREFIX.length).split('/') ?? [];
    const endpoint = more.length === 0 ? this.#endpoints.get(word) : undefined;
    if (endpoint !== undefined) {
      connection.admit(endpoint);
      return;
    }
    const path = parsePath(url);
    if (path === undefined) connection.close(CLOSE.badRequest, 'the path is incomplete');
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
      if ('accept' in admission) connection.admit((socket) => admission.accept(socket));
      else connection.close(admission.refuse, admission.reason);
    } catch (error) {
      this.#log.error({ err: error, runId: path.runId }, 'media admission failed');
      connection.close(CLOSE.internal, 'internal error');
    } finally {
      deadline.cancel();
    }
  }

  #forget(connection: MediaConnection): void {
    this.#connections.delete(connection);
    mediaSockets.dec();
    if (this.#draining && this.#connections.size === 0) this.#drained?.();
  }
}

function parsePath(url: string): MediaPath | undefined {
  const path = url.split('?', 1)[0] ?? '';
  if (path.length > PATH_MAX) return undefined;
  const parts = PATH.exec(path.slice(PREFIX.length));
  if (parts === null) return undefined;
  const [, workflowId = '', organizationId = '', runId = '', token = ''] = parts;
  return { workflowId, organizationId, runId, token };
}

function singleHeaders(request: IncomingMessage): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : value,
    ]),
  );
}

function endWith(socket: Duplex, answer: string): void {
  socket.on('error', () => socket.destroy());
  socket.end(answer);
}
