// The ARI connections of this process, by Stasis application, and the transport of requests to each PBX: HTTP, or the
// connection that the PBX opened to us. Source: asterisk §4.

import type { Egress } from '../../egress/egress-rule.ts';
import { codeOf, GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import type { Clock } from '../../std/clock.ts';
import { deadlineSignal } from '../../std/deadline.ts';
import type { Random } from '../../std/random.ts';
import type { Pbx, PbxAccount, PbxListener, ProcessIdentity } from '../provider/pbx.ts';
import { createRest, type Rest } from '../provider/rest-client.ts';
import { CallTable } from './calls/call-table.ts';
import type { AriSocket, AriSocketListener } from './connection/ari-socket.ts';
import { AriConnection, type AriConnectionOptions } from './connection/connection.ts';
import { withoutFaultsOfAddress } from './connection/connection-fault.ts';
import { ConnectionShare } from './connection/connection-share.ts';
import type { AriReach } from './connection/control.ts';
import { EventSocket } from './connection/event-socket.ts';
import type { KnownPbxAddresses } from './connection/known-pbx-addresses.ts';
import type {
  OutboundWebsocket,
  OutboundWebsocketServer,
} from './connection/outbound-websocket.ts';
import type { TestCalls } from './connection/test-calls.ts';
import { addressForPbx } from './media/gateway-address.ts';
import { plannedMedia, spreadOf } from './media/transport-selection.ts';
import { createChannelIds, createTag, processTag } from './rest/channel-ids.ts';
import {
  type AriClient,
  type AriRequestTransport,
  createAriClient,
  httpTransport,
  isAriNotFound,
  isWriteRefused,
} from './rest/client.ts';
import { type AriAccount, accountOf } from './rest/config.ts';
import type { OpenLeg } from './rest/peer.ts';

/** Deadline of the requests that ask whether a new attempt to connect makes sense. */
const ASK_MS_MAX = 5_000;
/** Id that no channel has. */
const NO_CHANNEL = 'patchbay-no-channel';

export interface AriConnectionsDeps {
  clients: KnownPbxAddresses;
  openLeg: OpenLeg;
  outboundWebsockets: OutboundWebsocketServer;
  testCalls: TestCalls;
  /** Where PBXs reach our RTP and AudioSocket. Undefined: calls have neither. */
  packetHost: string | undefined;
  /** Whether this gateway has a port for AudioSocket. */
  hasAudioSocket: boolean;
  egress: Egress;
  /** This process. Undefined: no other process knows it. */
  identity: ProcessIdentity | undefined;
  clock: Clock;
  random: Random;
}

type ConnectOptions = Pick<Parameters<Pbx['connect']>[1], 'members' | 'elsewhere'>;

interface Joined {
  listener: PbxListener;
  log: Log;
}

export class AriConnections {
  readonly #deps: AriConnectionsDeps;
  readonly #rest: Rest;
  readonly #connections = new Map<string, AriConnection>();
  /** Connections that PBXs open to us, expected or open. */
  readonly #incoming = new Map<string, OutboundWebsocket>();
  readonly #held = new Map<string, CallTable>();
  /** Connections of other processes, of whose calls this one has a share. */
  readonly #shares = new Map<string, AriConnection>();
  readonly #tag: string;

  constructor(deps: AriConnectionsDeps) {
    this.#deps = deps;
    const { identity, random } = deps;
    this.#tag = identity === undefined ? createTag(random) : processTag(identity);
    this.#rest = createRest({ provider: 'ari', clock: deps.clock, egress: deps.egress });
  }

  get applications(): string[] {
    return [...this.#connections.keys()];
  }

  of(app: string): AriConnection | undefined {
    return this.#connections.get(app);
  }

  connect(
    { credentials }: PbxAccount,
    { listener, log, members, elsewhere }: Joined & ConnectOptions,
  ): AriConnection {
    const account = accountOf(credentials);
    const { app } = account;
    const { egress, testCalls, packetHost } = this.#deps;
    warnOfAddress(account, packetHost, log);
    // The calls of a share go on over our own connection.
    void this.#shares.get(app)?.close();
    const shown = egress.hidesFaults ? withoutFaultsOfAddress(listener, log) : listener;
    const connection: AriConnection = new AriConnection({
      ...this.#common(account, log, this.#connections),
      listener: testCalls.screened(shown, app, () => connection.client),
      openSocket: (of, socketListener) => this.#openSocket(of, socketListener),
      members: account.connection === 'outgoing' ? members : undefined,
      elsewhere,
      // A test call of the doctor is recognised here.
      keepsNext: () => testCalls.isOpen(app),
      isShare: false,
    });
    this.#connections.set(app, connection);
    return connection;
  }

  /** This process's share of the calls of another process's connection. */
  join(
    { credentials }: PbxAccount,
    { listener, log, send }: Joined & { send: (message: unknown) => void },
  ): ConnectionShare {
    const account = accountOf(credentials);
    const connect = (openSocket: (socketListener: AriSocketListener) => AriSocket): AriConnection =>
      new AriConnection({
        ...this.#common(account, log, this.#shares),
        listener,
        openSocket: (_, socketListener) => openSocket(socketListener),
        elsewhere: undefined,
        keepsNext: () => true,
        isShare: true,
      });
    const share = new ConnectionShare({ connect, send });
    this.#shares.set(account.app, share.connection);
    return share;
  }

  #common(account: AriAccount, log: Log, connections: Map<string, AriConnection>) {
    const { openLeg, clock, random } = this.#deps;
    const { app } = account;
    const held = this.#held.get(app) ?? new CallTable();
    this.#held.set(app, held);
    const clientOf: AriConnectionOptions['clientOf'] = (of, onAnswer) =>
      createAriClient(() => this.transportOf(of), onAnswer);
    const onClosed = (closed: AriConnection): void => {
      if (connections.get(app) !== closed) return;
      connections.delete(app);
      this.#incoming.delete(app);
      if (held.isEmpty && !this.#connections.has(app)) this.#held.delete(app);
    };
    const spread: AriConnectionOptions['spread'] = (of, version) =>
      spreadOf(of, plannedMedia(of, version, this.#deps.hasAudioSocket));
    const own = { held, tag: this.#tag, spread, onClosed };
    return { account, clientOf, openLeg, clock, random, log, ...own };
  }

  /** Account, client, ids and clock for requests about calls of a PBX. */
  reach(account: AriAccount): AriReach {
    const { clock, random, hasAudioSocket } = this.#deps;
    const { app } = account;
    const [own, share] = [this.#connections.get(app), this.#shares.get(app)];
    const connection = own ?? share;
    // Without its holder a share gets no events. The id of a call that is dialled meanwhile names no process, so the process
    // that receives the call's events has the call.
    const dialler = own ?? (share?.state.kind === 'up' ? share : undefined);
    const client = connection?.client ?? this.#clientOf(account);
    const ids = createChannelIds(app, random, dialler ? this.#tag : createTag(random));
    const media = plannedMedia(account, connection?.version ?? null, hasAudioSocket);
    const held = this.#held.get(app);
    return { account, client, ids, clock, media, connection, dialler, held };
  }

  /** Requests go over HTTP, or over the connection that Asterisk has opened to us. Throws PBX_NOT_CONNECTED if it has
   *  opened none. */
  transportOf(account: AriAccount, over: Rest = this.#rest): AriRequestTransport {
    if (account.connection === 'outgoing') return httpTransport(over, account);
    const socket = this.#incoming.get(account.app);
    if (socket === undefined) throw new GatewayError('PBX_NOT_CONNECTED');
    return socket;
  }

  #clientOf(account: AriAccount): AriClient {
    return createAriClient(() => this.transportOf(account));
  }

  #openSocket(account: AriAccount, listener: AriSocketListener): AriSocket {
    const { clients, egress, outboundWebsockets, clock, random } = this.#deps;
    if (account.connection === 'outgoing') {
      const onConnected = (address: string | undefined): void => clients.note(address);
      const client = this.#clientOf(account);
      const isFree = () => isApplicationFree(client, account, clock);
      const mayWrite = () => isWriter(client, clock);
      const asks = { isFree, mayWrite };
      return new EventSocket({ account, egress, onConnected, asks, clock, random, listener });
    }
    const socket = outboundWebsockets.expect(account, listener);
    this.#incoming.set(account.app, socket);
    return socket;
  }
}

/** Logs at once, not at the first call, that calls of the PBX would have no audio. */
function warnOfAddress(account: AriAccount, host: string | undefined, log: Log): void {
  const isOurs = account.media === 'rtp' || account.media === 'audiosocket';
  if (!isOurs || host === undefined) return;
  try {
    addressForPbx(host, account);
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    log.error({ code: codeOf(error), message }, 'calls of the PBX will have no audio');
  }
}

/** Whether our user may write: asked by a request that changes nothing. True if the PBX cannot be asked. Never
 *  rejects. */
async function isWriter(client: AriClient, clock: Clock): Promise<boolean> {
  const deadline = deadlineSignal(clock, ASK_MS_MAX, 'look for the right to write');
  const request = { action: 'look', method: 'DELETE', path: `channels/${NO_CHANNEL}` } as const;
  try {
    return !isWriteRefused(request, await client.send(request, deadline.signal));
  } catch {
    return true; // The next attempt to connect finds out.
  } finally {
    deadline.done();
  }
}

/** Whether no client is connected as the application. False if the PBX cannot be asked. Never rejects. */
async function isApplicationFree(
  client: AriClient,
  { app }: AriAccount,
  clock: Clock,
): Promise<boolean> {
  const deadline = deadlineSignal(clock, ASK_MS_MAX, 'look for the application');
  const path = `applications/${encodeURIComponent(app)}`;
  try {
    const request = { action: 'application', method: 'GET', path } as const;
    return isAriNotFound(await client.send(request, deadline.signal));
  } catch {
    return false; // Unreachable: the attempts after a pause go on.
  } finally {
    deadline.done();
  }
}
