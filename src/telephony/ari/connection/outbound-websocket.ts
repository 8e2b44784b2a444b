// Asterisk's outbound websocket: Asterisk behind a NAT opens the connection to us, which carries the events and our
// requests. Source: asterisk §4 (ARI outbound websocket; 20.15, 22.5 and newer).

import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { GatewayError } from '../../../errors/gateway-error.ts';
import { mediaFaults } from '../../../metrics/metrics.ts';
import type { Clock } from '../../../std/clock.ts';
import { PingWatchdog } from '../../../std/ping-watchdog.ts';
import type { Random } from '../../../std/random.ts';
import { refuseUpgrade } from '../../../transport/upgrade-refusal.ts';
import { PBX_PATH } from '../../provider/pbx.ts';
import type { AriAnswer, AriRequest, AriRequestTransport } from '../rest/client.ts';
import { type AriAccount, basicAuth } from '../rest/config.ts';
import { ApplicationWatch } from './application-watch.ts';
import { ARI_MESSAGE_BYTES_MAX, type AriSocket, type AriSocketListener } from './ari-socket.ts';
import { type ConnectionFault, connectionFault, takenFault } from './connection-fault.ts';
import { LoginGuesses, type RefusalCause, type RefusedConnections } from './refused-connections.ts';
import { SocketRest } from './rest-over-websocket.ts';

export const NOT_CONNECTED: ConnectionFault = {
  code: 'PBX_NOT_CONNECTED',
  message:
    'Asterisk has not connected to this gateway. Look at outbound_websocket in ari.conf and its connection in websocket_client.conf (uri, username, password, tls_enabled), then: module reload res_ari.so',
  isPermanent: false,
};

export interface OutboundWebsocketOptions {
  refused: RefusedConnections;
  clock: Clock;
  random: Random;
}

/** The configurations whose Asterisk opens the connection, and the HTTP upgrades of these connections. */
export class OutboundWebsocketServer {
  readonly #acceptor = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: ARI_MESSAGE_BYTES_MAX,
  });
  readonly #expected = new Map<string, OutboundWebsocket>();
  readonly #guesses: LoginGuesses;
  readonly #options: OutboundWebsocketOptions;

  constructor(options: OutboundWebsocketOptions) {
    this.#options = options;
    this.#guesses = new LoginGuesses(options.clock);
  }

  /** The connection of `account`'s application, whenever Asterisk opens it. */
  expect(account: AriAccount, listener: AriSocketListener): OutboundWebsocket {
    const onClosed = (): void => {
      if (this.#expected.get(account.app) === socket) this.#expected.delete(account.app);
    };
    const { clock, random } = this.#options;
    const means = { account, clock, random, listener, onClosed };
    const socket: OutboundWebsocket = new OutboundWebsocket(means);
    this.#expected.set(account.app, socket);
    return socket;
  }

  /** Takes an upgrade. False if no configuration waits at that path: then the attempt is noted, and nothing else is
   *  done. `client`: as in std/client-address. */
  takeUpgrade(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    { client = '', onAdmitted }: { client?: string | undefined; onAdmitted?: () => void } = {},
  ): boolean {
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    if (!path.startsWith(PBX_PATH)) return false;
    const app = path.slice(PBX_PATH.length);
    const expected = this.#expected.get(app);
    if (expected === undefined) {
      this.#options.refused.note({ app, cause: 'application', client });
      return false;
    }
    const lockedMs = this.#guesses.lockedMs(client, app);
    if (lockedMs > 0) {
      const retryAfterS = Math.ceil(lockedMs / 1_000);
      refuseUpgrade(socket, '429 Too Many Requests', { retryAfterS });
      return true;
    }
    const { authorization } = request.headers;
    const cause = expected.refusalOf(authorization);
    if (cause !== undefined) {
      this.#guesses.note(client, digest(`${app} ${authorization}`).toString('base64'));
      this.#options.refused.note({ app, cause, client });
      mediaFaults.inc({ code: 'PBX_UNAUTHORIZED' });
      refuseUpgrade(socket, '401 Unauthorized');
      return true;
    }
    this.#guesses.noteLogin(client, app);
    onAdmitted?.();
    this.#acceptor.handleUpgrade(request, socket, head, (ws) => expected.take(ws));
    return true;
  }
}

export class OutboundWebsocket implements AriSocket, AriRequestTransport {
  readonly #authorization: Buffer;
  readonly #account: AriAccount;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #listener: AriSocketListener;
  readonly #onClosed: () => void;
  #socket: WebSocket | undefined;
  #rest: SocketRest | undefined;
  #pings: PingWatchdog | undefined;
  #application: ApplicationWatch | undefined;
  #closed = false;

  constructor(options: {
    account: AriAccount;
    clock: Clock;
    random: Random;
    listener: AriSocketListener;
    onClosed: () => void;
  }) {
    const { account, clock, listener } = options;
    this.#authorization = digest(basicAuth(account));
    this.#account = account;
    this.#clock = clock;
    this.#random = options.random;
    this.#listener = listener;
    this.#onClosed = options.onClosed;
    clock.after(0, () => {
      if (this.#socket === undefined && !this.#closed) listener.onDown(NOT_CONNECTED);
    });
  }

  /** Why a login is refused; undefined for the configuration's own user and password. */
  refusalOf(authorization: string | undefined): RefusalCause | undefined {
    if (timingSafeEqual(digest(authorization ?? ''), this.#authorization)) return undefined;
    const login = /^Basic (.+)$/i.exec(authorization ?? '')?.[1];
    if (login === undefined) return 'no-login';
    const [user] = Buffer.from(login, 'base64').toString().split(':', 1);
    return user === this.#account.app_name ? 'password' : 'user';
  }

  /** Takes a new connection in place of the current one: Asterisk opens another only when one is lost. */
  take(socket: WebSocket): void {
    if (this.#closed) {
      socket.terminate();
      return;
    }
    this.#drop();
    this.#socket = socket;
    const rest = new SocketRest({ send: (text) => socket.send(text), clock: this.#clock });
    const application = new ApplicationWatch({
      app: this.#account.app,

      rest,
      clock: this.#clock,
      random: this.#random,
      onOurs: () => this.#listener.onOpen(),
      onTaken: () => this.#listener.onDown(takenFault(this.#account)),
    });
    this.#rest = rest;
    this.#application = application;
    const down = (): void => this.#down(socket, connectionFault(this.#account, 'silent'));
    this.#pings = new PingWatchdog(socket, this.#clock, down);
    socket.on('message', (data) => {
      if (socket !== this.#socket) return;
      const text = String(data);
      if (!rest.take(text) && !application.take(text)) this.#listener.onMessage(text);
    });
    socket.on('error', () => undefined); // Its close follows.
    socket.on('close', () => this.#down(socket, NOT_CONNECTED));
  }

  async send(request: AriRequest, signal: AbortSignal): Promise<AriAnswer> {
    if (this.#rest === undefined) throw new GatewayError('PBX_NOT_CONNECTED');
    return await this.#rest.send(request, signal);
  }

  /** Keeps the connection: another one would not have the application either, and this one carries requests for current
   *  calls. */
  reopen(fault: ConnectionFault): void {
    if (this.#socket === undefined) return;
    if (fault.code === 'PBX_APP_TAKEN') {
      this.#application?.replaced();
      this.#listener.onDown(fault);
    } else {
      this.#down(this.#socket, fault);
    }
  }

  close(): void {
    this.#closed = true;
    this.#drop();
    this.#onClosed();
  }

  #down(socket: WebSocket, fault: ConnectionFault): void {
    if (socket !== this.#socket) return;
    this.#drop();
    if (!this.#closed) this.#listener.onDown(fault);
  }

  #drop(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    this.#pings?.stop();
    this.#application?.stop();
    this.#rest?.close();
    this.#rest = undefined;
    socket?.terminate();
  }
}

/** Hashes have one length for any input, so that they can be compared in constant time. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
