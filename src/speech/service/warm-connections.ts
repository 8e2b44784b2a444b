// Connections opened ahead (connection pool): DNS, TCP and TLS to a speech service while the phone rings, without a
// request, so that nothing is billed. A websocket or request takes one and saves 50 to 200 ms.

import { connect as connectTcp, type Socket } from 'node:net';
import type { Egress } from '../../egress/egress-rule.ts';
import type { Clock, Timer } from '../../std/clock.ts';
import { TlsSessions } from './tls-sessions.ts';

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
