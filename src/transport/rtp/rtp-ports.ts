// RTP: one UDP port of a range for each call. Received packets are passed on in order of arrival (rtp-timestamps.ts
// reads their time; the pipeline has the jitter buffer); outgoing audio gets its header and is sent at once,
// because playout paces it. Foreign packets are counted and dropped. Source: RFC 3550; asterisk §3.

import { createSocket, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import { mediaSockets } from '../../metrics/metrics.ts';
import type { Clock } from '../../std/clock.ts';
import type { Random } from '../../std/random.ts';
import { RtpSocket } from './rtp-socket.ts';

/** Ports tried for one call: other programs on the machine may use a few. */
const TRIES_MAX = 50;

export interface RtpPorts {
  /** A port for one call, to which the PBX sends. Throws PBX_MEDIA if none is free. */
  open(): Promise<RtpSocket>;
  /** Closes all open ports. */
  close(): void;
}

/** A range of ports, both ends included. */
export interface PortBounds {
  first: number;
  last: number;
}

export interface RtpOptions {
  /** Address to listen on. */
  host: string;
  ports: PortBounds;
  clock: Clock;
  random: Random;
  log: Log;
}

/** The ports of the `nth` of `count` processes, counted from 1: none tries a port of another. All of them where there are
 *  fewer ports than processes. */
export function shareOfPorts(
  { first, last }: PortBounds,
  { nth, count }: { nth: number; count: number },
): PortBounds {
  const each = Math.floor((last - first + 1) / count);
  if (each === 0) return { first, last };
  const from = first + (nth - 1) * each;
  return { first: from, last: nth === count ? last : from + each - 1 };
}

export function createRtpPorts(options: RtpOptions): RtpPorts {
  return new PortRange(options);
}

class PortRange implements RtpPorts {
  readonly #options: RtpOptions;
  readonly #sockets = new Map<number, RtpSocket>();
  readonly #opening = new Set<number>();
  /** Next port to use. Ports rotate, so that late packets of an ended call reach no other call. */
  #next: number;

  constructor(options: RtpOptions) {
    this.#options = options;
    const { first, last } = options.ports;
    this.#next = first + options.random.integer(last - first + 1);
  }

  async open(): Promise<RtpSocket> {
    const { first, last } = this.#options.ports;
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const port = this.#free();
      if (port === undefined) break;
      this.#opening.add(port);
      try {
        const udp = await this.#bind(port);
        if (udp !== undefined) return this.#socketOn(udp, port);
      } finally {
        this.#opening.delete(port);
      }
    }
    throw new GatewayError('PBX_MEDIA', { reason: `no UDP port of ${first}-${last} is free` });
  }

  close(): void {
    for (const socket of this.#sockets.values()) socket.abandon();
  }

  #free(): number | undefined {
    const { first, last } = this.#options.ports;
    const count = last - first + 1;
    for (let i = 0; i < count; i++) {
      const port = this.#next;
      this.#next = port === last ? first : port + 1;
      if (!this.#sockets.has(port) && !this.#opening.has(port)) return port;
    }
    return undefined;
  }

  /** Binds a port. Undefined if another program uses it. Throws PBX_MEDIA for faults that another port would not
   *  fix. */
  #bind(port: number): Promise<Socket | undefined> {
    const { host } = this.#options;
    const udp = createSocket(isIPv6(host) ? 'udp6' : 'udp4');
    return new Promise((resolve, reject) => {
      udp.once('error', (error) => {
        udp.close();
        const code = 'code' in error ? String(error.code) : error.message;
        if (code === 'EADDRINUSE' || code === 'EACCES') resolve(undefined);
        else reject(new GatewayError('PBX_MEDIA', { reason: `no UDP port opens: ${code}` }, error));
      });
      udp.bind({ port, address: host, exclusive: true }, () => {
        udp.removeAllListeners('error');
        resolve(udp);
      });
    });
  }

  #socketOn(udp: Socket, port: number): RtpSocket {
    const { clock, random, log } = this.#options;
    mediaSockets.inc();
    const onClosed = (): void => {
      this.#sockets.delete(port);
      mediaSockets.dec();
    };
    const socket = new RtpSocket({ udp, port, clock, random, log, onClosed });
    this.#sockets.set(port, socket);
    return socket;
  }
}
