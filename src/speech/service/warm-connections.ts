// Connections opened ahead (connection pool): DNS, TCP and TLS to a speech service while the phone rings, without a
// request, so that nothing is billed. A websocket or request takes one and saves 50 to 200 ms.

import { connect as connectTcp, isIP, type Socket } from 'node:net';
import {
  type ConnectionOptions,
  connect,
  createSecureContext,
  type SecureContext,
  type TLSSocket,
} from 'node:tls';
import type { Egress } from '../../egress/egress-rule.ts';
import type { Clock, Timer } from '../../std/clock.ts';

/** Longest age of an unused connection. Servers close one after 10 to 60 s. */
const AGE_MS_MAX = 30_000;
/** Connections of one process to all addresses. */
const CONNECTIONS_MAX = 200;

interface Warm {
  origin: string;
  socket: Socket;
  age: Timer;
}

export class WarmConnections {
  readonly #clock: Clock;
  readonly #egress: Egress;
  readonly #warm = new Set<Warm>();
  readonly #sessions: TlsSessions;

  /** `authorities`: certificates that sign the servers' (PEM). Default: those that the process trusts. */
  constructor(deps: { clock: Clock; egress: Egress; authorities?: string }) {
    this.#sessions = new TlsSessions(deps.authorities);
    this.#clock = deps.clock;
    this.#egress = deps.egress;
  }

  /** Opens a connection to the host of `url` (ws, wss, http, https). Never throws. A failure appears again in the
   *  connection that needs it. */
  prepare(url: string): void {
    if (this.#warm.size >= CONNECTIONS_MAX) return;
    const target = new URL(url);
    try {
      this.#egress.check(target.origin.replace(/^ws/, 'http'));
    } catch {
      return;
    }
    const socket = this.connect(url);
    const age = this.#clock.after(AGE_MS_MAX, () => this.#discard(warm));
    const warm: Warm = { origin: originOf(target), socket, age };
    this.#warm.add(warm);
    // Both listeners stay for the life of the socket. After `take` they have no effect.
    socket.on('error', () => this.#discard(warm));
    socket.on('close', () => this.#discard(warm));
  }

  /** Returns an open connection to the host of `url`, or undefined. The caller owns it afterwards. */
  take(url: string): Socket | undefined {
    const origin = originOf(new URL(url));
    for (const warm of this.#warm) {
      const { socket } = warm;
      if (warm.origin !== origin || socket.connecting || !socket.writable) continue;
      if ('authorized' in socket && socket.authorized !== true) continue;
      this.#warm.delete(warm);
      warm.age.cancel();
      return socket;
    }
    return undefined;
  }

  /** Starts a connection to the host of `url`, which the caller owns. The egress rule checks the address now, and a
   *  host name when it is resolved. */
  connect(url: string): Socket {
    const target = new URL(url);
    const isTls = target.protocol === 'wss:' || target.protocol === 'https:';
    const host = target.hostname.replace(/^\[|\]$/g, '');
    const port = Number(target.port || (isTls ? 443 : 80));
    const at = { host, port, lookup: this.#egress.lookup };
    const socket = isTls ? this.#sessions.connect(originOf(target), at) : connectTcp(at);
    socket.setNoDelay(true);
    return socket;
  }

  close(): void {
    for (const warm of this.#warm) this.#discard(warm);
  }

  /** Discards an idle connection. Has no effect on one that was taken. */
  #discard(warm: Warm): void {
    if (!this.#warm.delete(warm)) return;
    warm.age.cancel();
    warm.socket.destroy();
  }
}

function originOf({ protocol, host }: URL): string {
  return `${protocol.replace(/^ws/, 'http')}//${host}`;
}

/** Origins of one process: services with their regions, and servers of users. */
const ORIGINS_MAX = 200;

/** TLS session resumption: one context with the trusted authorities, and the last session of each origin. A context per
 *  connection costs 0.4 ms of CPU and a full handshake 1 to 2 ms, during which no call gets audio.
 *  Source: RFC 8446 §2.2; Node.js caches neither for sockets. */
class TlsSessions {
  readonly #authorities: string | undefined;
  #context: SecureContext | undefined;
  /** Last session of each origin, the oldest first. */
  readonly #sessions = new Map<string, Buffer>();

  /** `authorities`: PEM certificates that replace the trusted ones. */
  constructor(authorities?: string) {
    this.#authorities = authorities;
  }

  /** Connects to the host of `origin`. On resumption, its certificate was checked when the session began. */
  connect(origin: string, options: ConnectionOptions): TLSSocket {
    this.#context ??= createSecureContext({ ca: this.#authorities });
    const { host = '' } = options;
    const session = this.#sessions.get(origin);
    const socket = connect({
      ...options,
      servername: isIP(host) === 0 ? host : '',
      secureContext: this.#context,
      ...(session !== undefined && { session }),
    });
    socket.on('session', (offered) => this.#keep(origin, offered));
    // The server may refuse to resume this session.
    socket.on('error', () => this.#sessions.delete(origin));
    return socket;
  }

  #keep(origin: string, session: Buffer): void {
    this.#sessions.delete(origin);
    const [oldest] = this.#sessions.keys();
    if (oldest !== undefined && this.#sessions.size >= ORIGINS_MAX) this.#sessions.delete(oldest);
    this.#sessions.set(origin, session);
  }
}
