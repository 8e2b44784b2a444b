// Passes an upgrade of the API's port on to another gateway, before it is answered: the request is replayed byte by byte
// over a connection of our own, and both connections are joined. The last resort, for sockets that the load balancer did
// not route and whose call cannot move: it costs about as much processor time as a call.

import type { IncomingMessage } from 'node:http';
import { connect, isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls, TLSSocket } from 'node:tls';
import type { Log } from '../log.ts';
import { mediaSpliced } from '../metrics/metrics.ts';
import type { Clock } from '../std/clock.ts';

/** Sockets that are passed on at once; each takes about a thousandth of a core, and this process has the API to serve. */
const SPLICES_MAX = 500;
/** Deadline of the connection to the other gateway. A provider waits longer for its upgrade. */
const CONNECT_MS_MAX = 2_000;
/** Time without a byte in either direction, twice at most. Audio has none of it, and PBXs' connections are pinged far more
 *  often. */
const IDLE_MS_MAX = 300_000;
/** Interval at which a draining process checks whether its sockets are closed. */
const DRAIN_CHECK_MS = 100;

/** Header that a passed-on upgrade has: no gateway passes it on again. */
export const SPLICED_HEADER = 'x-patchbay-spliced';

export interface Upgrade {
  request: IncomingMessage;
  socket: Duplex;
  head: Buffer;
}

/** The socket that came, and ours to the other gateway. */
type Splice = readonly [Duplex, Socket];

export class SocketSplices {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #label: string;
  readonly #splicesMax: number;
  /** Both ends of each; the second is not connected at first. */
  readonly #open = new Set<Splice>();

  /** `label`: of this gateway. */
  constructor(options: { clock: Clock; log: Log; label: string; splicesMax?: number }) {
    this.#clock = options.clock;
    this.#log = options.log;
    this.#label = options.label;
    this.#splicesMax = options.splicesMax ?? SPLICES_MAX;
  }

  get open(): number {
    return this.#open.size;
  }

  /** Passes the upgrade on to the gateway at `url`. Returns false, and leaves the socket open for an answer, if there are
   *  too many or the gateway is not reached. Never rejects. */
  async pass({ request, socket, head }: Upgrade, url: string): Promise<boolean> {
    if (this.#open.size >= this.#splicesMax) {
      this.#log.warn({ open: this.#open.size }, 'too many sockets of other gateways');
      return false;
    }
    // The bytes that wait in between are bounded by the buffers of both sockets: a pipe stops reading at a full one.
    const far = socketTo(new URL(url));
    const pair = [socket, far] as const;
    this.#open.add(pair);
    mediaSpliced.set(this.#open.size);
    // An error is followed by `close`.
    for (const end of pair) end.on('error', () => end.destroy());
    if (!(await this.#isConnected(far))) {
      this.#forget(pair);
      far.destroy();
      this.#log.warn({ url }, 'gateway not reached: its socket is not passed on');
      return false;
    }
    const close = (): void => this.#close(pair);
    for (const end of pair) end.once('close', close);
    if (socket.destroyed) close();
    far.setNoDelay(true);
    this.#watch(pair, 0);
    far.write(this.#headOf(request), 'latin1');
    if (head.length > 0) far.write(head);
    socket.pipe(far);
    far.pipe(socket);
    return true;
  }

  /** Settles when all sockets are closed, or after `limitMs`. */
  async drain(limitMs: number): Promise<void> {
    const untilMs = this.#clock.monotonicMs() + limitMs;
    while (this.#open.size > 0 && this.#clock.monotonicMs() < untilMs) {
      await new Promise<void>((resolve) => this.#clock.after(DRAIN_CHECK_MS, resolve));
    }
  }

  /** Closes all sockets. */
  close(): void {
    for (const pair of this.#open) this.#close(pair);
  }

  /** Closes a splice whose bytes do not move. `bytes`: those at the last check. */
  #watch(pair: Splice, bytes: number): void {
    const [, far] = pair;
    const timer = this.#clock.after(IDLE_MS_MAX, () => {
      const moved = far.bytesRead + far.bytesWritten;
      if (moved === bytes) this.#close(pair);
      else this.#watch(pair, moved);
    });
    far.once('close', () => timer.cancel());
  }

  #isConnected(far: Socket): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = this.#clock.after(CONNECT_MS_MAX, () => resolve(false));
      far.once('close', () => resolve(false));
      // A socket with TLS is `ready` before the other end has proved itself.
      far.once(far instanceof TLSSocket ? 'secureConnect' : 'ready', () => {
        timer.cancel();
        resolve(true);
      });
    });
  }

  /** The request as it came, with its client and the mark of this gateway. */
  #headOf({ method = 'GET', url = '/', httpVersion, rawHeaders, socket }: IncomingMessage): string {
    const lines = [`${method} ${url} HTTP/${httpVersion}`];
    for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
      lines.push(`${rawHeaders[at] ?? ''}: ${rawHeaders[at + 1] ?? ''}`);
    }
    // Lines of one name are one list (RFC 9110, 5.3).
    lines.push(`X-Forwarded-For: ${socket.remoteAddress ?? 'unknown'}`);
    lines.push(`X-Patchbay-Spliced: ${this.#label}`);
    return `${lines.join('\r\n')}\r\n\r\n`;
  }

  #close(pair: Splice): void {
    this.#forget(pair);
    for (const end of pair) end.destroy();
  }

  #forget(pair: Splice): void {
    this.#open.delete(pair);
    mediaSpliced.set(this.#open.size);
  }
}

/** A TCP socket, or one with TLS, that connects. */
function socketTo({ protocol, hostname, port }: URL): Socket {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (protocol !== 'https:') return connect({ host, port: Number(port || 80) });
  // An address is no server name (RFC 6066, 3).
  const servername = isIP(host) === 0 ? host : '';
  return connectTls({ host, port: Number(port || 443), servername });
}
