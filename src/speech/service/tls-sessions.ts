// What TLS connections to services share: one context, with the authorities that the process trusts, and for each origin
// its last session, which a further connection resumes. A context of its own costs each connection 0.4 ms of CPU, a full
// handshake 1 to 2 ms, during which no call gets audio. Source: RFC 8446 §2.2; Node.js caches neither for sockets.

import { isIP } from 'node:net';
import {
  type ConnectionOptions,
  connect,
  createSecureContext,
  type SecureContext,
  type TLSSocket,
} from 'node:tls';

/** Of one process: services with their regions, and servers of users. */
const ORIGINS_MAX = 200;

export class TlsSessions {
  readonly #authorities: string | undefined;
  #context: SecureContext | undefined;
  /** By origin, the oldest first. */
  readonly #sessions = new Map<string, Buffer>();

  /** `authorities`: PEM, in place of those that the process trusts. */
  constructor(authorities?: string) {
    this.#authorities = authorities;
  }

  /** Connects to the host of `origin`, whose certificate was checked when the session began that is resumed. */
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
    // A server that breaks the connection may not take the session.
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
