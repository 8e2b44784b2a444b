// The ARI connections of this process, by Stasis application, and the transport of requests to each PBX: HTTP, or the
// connection that the PBX opened to us. Source: asterisk §4.

import type { Egress } from '../../egress/egress-rule.ts';
import { codeOf, GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import type { Clock } from '../../std/clock.ts';
import { deadlineSignal } from '../../std/deadline.ts';
import type { Random } from '../../std/random.ts';
import type { PbxAccount, PbxListener } from '../provider/pbx.ts';
import { createRest, type Rest } from '../provider/rest-client.ts';
import { CallTable } from './calls/call-table.ts';
import type { AriSocket, AriSocketListener } from './connection/ari-socket.ts';
import { AriConnection } from './connection/connection.ts';
import { withoutFaultsOfAddress } from './connection/connection-fault.ts';
import type { AriReach } from './connection/control.ts';
import { EventSocket } from './connection/event-socket.ts';
import type { KnownPbxAddresses } from './connection/known-pbx-addresses.ts';
import type {
  OutboundWebsocket,
  OutboundWebsocketServer,
} from './connection/outbound-websocket.ts';
import type { TestCalls } from './connection/test-calls.ts';
import { addressForPbx } from './media/gateway-address.ts';
import { plannedMedia } from './media/transport-selection.ts';
import { createChannelIds } from './rest/channel-ids.ts';
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
  clock: Clock;
  random: Random;
}

export class AriConnections {
  readonly #deps: AriConnectionsDeps;
  readonly #rest: Rest;
  readonly #connections = new Map<string, AriConnection>();
  /** Connections that PBXs open to us, expected or open. */
  readonly #incoming = new Map<string, OutboundWebsocket>();
  readonly #held = new Map<string, CallTable>();

  constructor(deps: AriConnectionsDeps) {
    this.#deps = deps;
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
    { listener, log }: { listener: PbxListener; log: Log },
  ): AriConnection {
    const { egress, openLeg, testCalls, clock, random, packetHost } = this.#deps;
    const account = accountOf(credentials);
    warnOfAddress(account, packetHost, log);
    const shown = egress.hidesFaults ? withoutFaultsOfAddress(listener, log) : listener;
    const held = this.#held.get(account.app) ?? new CallTable();
    this.#held.set(account.app, held);
    const connection: AriConnection = new AriConnection({
      account,
      clientOf: (of, onAnswer) => createAriClient(() => this.transportOf(of), onAnswer),
      listener: testCalls.screened(shown, account.app, () => connection.client),
      openLeg,
      openSocket: (of, socketListener) => this.#openSocket(of, socketListener),
      held,
      clock,
      random,
      log,
      onClosed: () => {
        if (this.#connections.get(account.app) !== connection) return;
        this.#connections.delete(account.app);
        this.#incoming.delete(account.app);
        if (held.isEmpty) this.#held.delete(account.app);
      },
    });
    this.#connections.set(account.app, connection);
    return connection;
  }

  /** Account, client, ids and clock for requests about calls of a PBX. */
  reach(account: AriAccount): AriReach {
    const { clock, random, hasAudioSocket } = this.#deps;
    const connection = this.#connections.get(account.app);
    const client = connection?.client ?? this.#clientOf(account);
    const ids = createChannelIds(account.app, random);
    const media = plannedMedia(account, connection?.version ?? null, hasAudioSocket);
    return { account, client, ids, clock, media, connection };
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
