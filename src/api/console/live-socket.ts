// The websocket of the console's board, /console/live: who may open it, how many, and its life. What is sent is in
// live-board.ts. Only upgrades to this path reach the websocket server; the gateway's media has its own.

import { Server } from 'node:http';
import websocket, { type WebSocket } from '@fastify/websocket';
import type { FastifyRequest } from 'fastify';
import type { LiveWatchers } from '../../call/events/live-watchers.ts';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { BoardChanges, BoardMessage } from '../../model/board-call.ts';
import type { Timer } from '../../std/clock.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { ownerOfSession, principalOf } from '../http/authentication.ts';
import { type BoardViewer, LiveBoard } from './live-board.ts';

const PATH = '/console/live';
/** Sockets of one organization, and of this process: boards of people, and on wall displays. */
const OF_ORGANIZATION_MAX = 50;
const OF_PROCESS_MAX = 500;
/** Largest message of a client: it has nothing to say. */
const MESSAGE_BYTES_MAX = 1_024;
/** Bytes that wait for a client, above which it gets no changes, but all calls once it has read these. */
const WAITING_BYTES_MAX = 256 * 1_024;
/** Interval of pings: proxies close a silent connection after a minute, some after half a minute. A client that has not
 *  answered by the next one is gone. */
const PING_MS = 15_000;
/** Pings between two checks that the session still holds. */
const PINGS_OF_SESSION = 4;
/** Time for the closing handshake, after which the connection is cut. */
const CLOSE_MS_MAX = 2_000;

const CLOSE = { goingAway: 1001, policy: 1008, sessionOver: 4401 } as const;

interface LiveDeps extends ApiDeps {
  live: LiveWatchers;
}

/** Adds the socket and `api.takeUpgrade`. */
export async function liveSocket(api: Api, deps: LiveDeps): Promise<void> {
  // Never listens: it passes upgrades on to the plugin.
  const upgrades = new Server();
  api.decorate('takeUpgrade', (request, socket, head) => {
    if (request.url?.split('?', 1)[0] !== PATH) return false;
    return upgrades.emit('upgrade', request, socket, head);
  });
  await api.register(socketRoute(deps, upgrades));
}

function socketRoute(deps: LiveDeps, upgrades: Server) {
  const sockets = new LiveSockets(deps);
  return async (within: Api): Promise<void> => {
    await within.register(websocket, {
      options: { server: upgrades, maxPayload: MESSAGE_BYTES_MAX },
      preClose: (done) => {
        sockets.close();
        done();
      },
      errorHandler: (_error, socket) => socket.terminate(), // The client broke the protocol, or is gone.
    });
    within.route({
      method: 'GET',
      url: PATH,
      exposeHeadRoute: false,
      schema: { hide: true },
      config: { admission: 'first' },
      onRequest: async (request) => {
        requireOwnOrigin(request, deps.publicUrl);
        request.principal = await ownerOfSession(deps, request);
        sockets.requireRoom(principalOf(request).organizationId);
      },
      handler: async () => {
        throw new GatewayError('UPGRADE_REQUIRED');
      },
      wsHandler: (socket, request) => sockets.open(socket, request),
    });
  };
}

/** Browsers name the origin of the page; pages of others are refused. Throws CONSOLE_ORIGIN_FORBIDDEN. */
function requireOwnOrigin({ headers, host }: FastifyRequest, publicUrl: string): void {
  const { origin } = headers;
  const given = origin !== undefined && URL.canParse(origin) ? new URL(origin) : undefined;
  const isOwn =
    given !== undefined && (given.host === host || given.origin === new URL(publicUrl).origin);
  if (!isOwn) throw new GatewayError('CONSOLE_ORIGIN_FORBIDDEN');
}

/** The open sockets of this process, and one board for those of an organization. */
class LiveSockets {
  readonly #deps: LiveDeps;
  readonly #open = new Map<LiveSocket, string>();
  readonly #boards = new Map<string, LiveBoard>();
  #isClosing = false;

  constructor(deps: LiveDeps) {
    this.#deps = deps;
  }

  /** Throws STREAMS_FULL, GATEWAY_DRAINING. */
  requireRoom(organizationId: string): void {
    if (this.#isClosing) throw new GatewayError('GATEWAY_DRAINING');
    const own = [...this.#open.values()].filter((each) => each === organizationId).length;
    for (const [count, limit] of [
      [this.#open.size, OF_PROCESS_MAX],
      [own, OF_ORGANIZATION_MAX],
    ] as const) {
      if (count >= limit) throw new GatewayError('STREAMS_FULL', { limit });
    }
  }

  open(socket: WebSocket, request: FastifyRequest): void {
    request.place?.leave();
    const { organizationId } = principalOf(request);
    const board = this.#boards.get(organizationId) ?? new LiveBoard(this.#deps, organizationId);
    this.#boards.set(organizationId, board);
    const isSessionOver = () =>
      ownerOfSession(this.#deps, request).then(
        () => false,
        (error: unknown) => error instanceof GatewayError && error.code === 'SESSION_OVER',
      );
    const live = new LiveSocket(this.#deps, { socket, board, isSessionOver });
    this.#open.set(live, organizationId);
    socket.once('close', () => {
      this.#open.delete(live);
      live.leave();
      if (!board.isWatched && this.#boards.get(organizationId) === board)
        this.#boards.delete(organizationId);
    });
    if (this.#isClosing) live.close('closing', CLOSE.goingAway);
    else live.begin();
  }

  close(): void {
    this.#isClosing = true;
    for (const live of this.#open.keys()) live.close('closing', CLOSE.goingAway);
  }
}

/** One client of a board. */
class LiveSocket implements BoardViewer {
  readonly #deps: LiveDeps;
  readonly #socket: WebSocket;
  readonly #board: LiveBoard;
  readonly #isSessionOver: () => Promise<boolean>;
  /** Whether the client reads too slowly, or has nothing yet: it gets all calls next. */
  #isBehind = true;
  #isAnswered = true;
  #pings = 0;
  #ping: Timer | undefined;
  #closing: Timer | undefined;

  constructor(
    deps: LiveDeps,
    of: { socket: WebSocket; board: LiveBoard; isSessionOver: () => Promise<boolean> },
  ) {
    this.#deps = deps;
    this.#socket = of.socket;
    this.#board = of.board;
    this.#isSessionOver = of.isSessionOver;
  }

  begin(): void {
    this.#socket.on('message', () => this.close('unexpected', CLOSE.policy));
    this.#socket.on('pong', () => {
      this.#isAnswered = true;
    });
    this.#board.add(this);
    this.#sendAll();
    this.#pingLater();
  }

  onChanges(changes: BoardChanges & { total: number }): void {
    if (this.#isBehind) this.#sendAll();
    else if (this.#socket.bufferedAmount > WAITING_BYTES_MAX) this.#isBehind = true;
    else this.#send({ type: 'changes', ...changes });
  }

  onUnavailable(): void {
    if (this.#socket.bufferedAmount === 0) this.#send({ type: 'unavailable' });
  }

  /** Ends the socket with a message about the reason. */
  close(reason: string, code: number): void {
    if (this.#closing !== undefined) return;
    this.#board.remove(this);
    this.#socket.close(code, reason);
    this.#closing = this.#deps.clock.after(CLOSE_MS_MAX, () => this.#socket.terminate());
  }

  /** The socket is closed. */
  leave(): void {
    this.#board.remove(this);
    this.#ping?.cancel();
    this.#closing?.cancel();
  }

  /** Sends all calls, unless there is nothing yet or the client still reads what was sent. */
  #sendAll(): void {
    const { snapshot } = this.#board;
    if (snapshot === undefined || this.#socket.bufferedAmount > 0) return;
    this.#isBehind = false;
    this.#send({ type: 'snapshot', now: this.#deps.clock.now(), ...snapshot });
  }

  #send(message: BoardMessage): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.#socket.send(JSON.stringify(message), () => {
      if (this.#isBehind) this.#sendAll();
    });
  }

  #pingLater(): void {
    this.#ping = this.#deps.clock.after(PING_MS, () => {
      if (!this.#isAnswered) {
        this.#socket.terminate();
        return;
      }
      this.#isAnswered = false;
      this.#socket.ping();
      this.#pings += 1;
      if (this.#pings % PINGS_OF_SESSION === 0) void this.#checkSession();
      this.#pingLater();
    });
  }

  async #checkSession(): Promise<void> {
    if (await this.#isSessionOver()) this.close('session over', CLOSE.sessionOver);
  }
}
