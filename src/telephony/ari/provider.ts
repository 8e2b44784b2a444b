// Asterisk as a telephony provider, over ARI connections that the gateway holds. Source: asterisk §4; contract §7.5.

import { createEgress, type Egress } from '../../egress/egress-rule.ts';
import { codeOf, GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import type { Clock } from '../../std/clock.ts';
import { deadlineSignal } from '../../std/deadline.ts';
import type { Random } from '../../std/random.ts';
import type { Finding, Pbx } from '../provider/pbx.ts';
import type { PbxProvider, ProviderCapabilities } from '../provider/provider.ts';
import { createRest, type Rest } from '../provider/rest-client.ts';
import { CallTable } from './calls/call-table.ts';
import type { AriSocket, AriSocketListener } from './connection/ari-socket.ts';
import { AriConnection } from './connection/connection.ts';
import { withoutFaultsOfAddress } from './connection/connection-fault.ts';
import { type AriReach, createAriControl } from './connection/control.ts';
import { EventSocket } from './connection/event-socket.ts';
import { KnownClients } from './connection/known-clients.ts';
import {
  type OutboundWebsocket,
  OutboundWebsocketServer,
} from './connection/outbound-websocket.ts';
import { RefusedConnections } from './connection/refused-connections.ts';
import { TestCalls } from './connection/test-calls.ts';
import type { MediaParts } from './doctor/audio-check.ts';
import type { CheckContext } from './doctor/check.ts';
import { examineAri } from './doctor/doctor.ts';
import { addressForPbx } from './media/gateway-address.ts';
import { IncomingSockets } from './media/incoming-sockets.ts';
import { legOpener } from './media/media-leg.ts';
import { type PacketMedia, packetTransports } from './media/packet-transports.ts';
import { websocketTransports } from './media/websocket-transports.ts';
import { createChannelIds } from './rest/channel-ids.ts';
import {
  type AriClient,
  type AriRequestTransport,
  createAriClient,
  httpTransport,
  isAriNotFound,
} from './rest/client.ts';
import { type AriAccount, accountOf } from './rest/config.ts';

/** Asterisk itself has no limit; the workflow's applies. */
const CALL_S_MAX = 86_400;
/** For the answer whether another program is connected. */
const FREE_MS_MAX = 5_000;

export interface AriProviderOptions {
  clock: Clock;
  random: Random;
  /** For Asterisk without media websockets. Undefined: calls of such PBXs have no audio. */
  packets?: PacketMedia | undefined;
  /** Where PBXs may be. Default: as while sign-up is closed. */
  egress?: Egress | undefined;
  /** Of connections that belong to no configuration. */
  log?: Log | undefined;
}

const CAPABILITIES: ProviderCapabilities = {
  digitsOut: 'request',
  closeEndsCall: true,
  idempotentDial: false,
  digitsIn: true,
  answeringMachine: false,
  transfer: ['cold', 'warm', 'refer'],
  transferAwaits: 'answer',
  callS: { max: CALL_S_MAX },
};

export function createAriProvider(options: AriProviderOptions): PbxProvider {
  const { clock, random, packets, egress = createEgress() } = options;
  const rest = createRest({ provider: 'ari', clock, egress });
  const incomingSockets = new IncomingSockets();
  const clients = new KnownClients();
  const transports = {
    ...websocketTransports(incomingSockets, egress),
    ...(packets === undefined ? {} : packetTransports(packets, { clock, egress })),
  };
  const openLeg = legOpener(transports);
  const refused = new RefusedConnections(clock, options.log);
  const outboundWebsockets = new OutboundWebsocketServer({ refused, clock, random });
  /** By Stasis application. */
  const incoming = new Map<string, OutboundWebsocket>();
  const connections = new Map<string, AriConnection>();
  const testCalls = new TestCalls(clock);
  const heldByApp = new Map<string, CallTable>();

  function reach(account: AriAccount): AriReach {
    const connection = connections.get(account.app);
    const client = connection?.client ?? clientOf(account);
    return { account, client, ids: createChannelIds(account.app, random), clock, connection };
  }

  /** An Asterisk that opens the connection to us accepts requests over that connection only. */
  const clientOf = (account: AriAccount) => createAriClient(() => transportOf(account));

  function transportOf(account: AriAccount, over: Rest = rest): AriRequestTransport {
    if (account.connection === 'outgoing') return httpTransport(over, account);
    const socket = incoming.get(account.app);
    if (socket === undefined) throw new GatewayError('PBX_NOT_CONNECTED');
    return socket;
  }

  function openSocket(account: AriAccount, listener: AriSocketListener): AriSocket {
    if (account.connection === 'outgoing') {
      const onConnected = (address: string | undefined): void => clients.note(address);
      const isFree = (): Promise<boolean> => isApplicationFree(clientOf(account), account, clock);
      return new EventSocket({ account, egress, onConnected, isFree, clock, random, listener });
    }
    const socket = outboundWebsockets.expect(account, listener);
    incoming.set(account.app, socket);
    return socket;
  }

  return {
    name: 'ari',
    capabilities: CAPABILITIES,
    formatAddress: (addressNormalized) => addressNormalized,
    control: createAriControl(reach),
    pbx: {
      get applications() {
        return [...connections.keys()];
      },

      connect({ credentials }, { listener, log }) {
        const account = accountOf(credentials);
        warnOfAddress(account, packets?.host, log);
        const shown = egress.hidesFaults ? withoutFaultsOfAddress(listener, log) : listener;
        const held = heldByApp.get(account.app) ?? new CallTable();
        heldByApp.set(account.app, held);
        const connection: AriConnection = new AriConnection({
          account,
          clientOf,
          listener: testCalls.screened(shown, account.app, () => connection.client),
          openLeg,
          openSocket,
          held,
          clock,
          random,
          log,
          onClosed: () => {
            if (connections.get(account.app) !== connection) return;
            connections.delete(account.app);
            incoming.delete(account.app);
            if (held.isEmpty) heldByApp.delete(account.app);
          },
        });
        connections.set(account.app, connection);
        return connection;
      },

      ...socketIntake({ incomingSockets, outboundWebsockets, clients }),

      examine({ credentials }, facts, signal) {
        const account = accountOf(credentials);
        const live = connections.get(account.app);
        const subject = { account, live, testCalls, refused };
        const context = { ...facts, ...subject, egress, clock, random, signal };
        return examineOverOwn(context, { transports, openLeg, transportOf });
      },
    },
  };
}

/** Requests go over new connections: Asterisk serves those that are open also once its HTTP server is off. */
async function examineOverOwn(
  context: Omit<CheckContext, 'client'>,
  means: MediaParts & { transportOf: (account: AriAccount, over: Rest) => AriRequestTransport },
): Promise<Finding[]> {
  const { account, clock, egress } = context;
  const own = createRest({ provider: 'ari', clock, egress });
  try {
    const client = createAriClient(() => means.transportOf(account, own));
    return await examineAri({ ...context, client }, means);
  } finally {
    own.close();
  }
}

/** Calls would have no audio: said at once, not at the first call. */
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

/** False if the PBX cannot be asked. Never rejects. */
async function isApplicationFree(
  client: AriClient,
  { app }: AriAccount,
  clock: Clock,
): Promise<boolean> {
  const deadline = deadlineSignal(clock, FREE_MS_MAX, 'look for the application');
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

/** Sockets that PBXs open, and from where they have proved to be theirs. */
function socketIntake(parts: {
  incomingSockets: IncomingSockets;
  outboundWebsockets: OutboundWebsocketServer;
  clients: KnownClients;
}): Pick<Pbx, 'takeUpgrade' | 'takeSocket' | 'isKnownClient'> {
  const { incomingSockets, outboundWebsockets, clients } = parts;
  return {
    takeUpgrade: (request, socket, head, client) =>
      outboundWebsockets.takeUpgrade(request, socket, head, {
        client,
        onAdmitted: () => clients.note(client),
      }),

    takeSocket: (socket, arrival) =>
      incomingSockets.accept(socket, () => {
        clients.note(arrival?.client);
        arrival?.admitted();
      }),

    isKnownClient: (client) => clients.has(client),
  };
}
