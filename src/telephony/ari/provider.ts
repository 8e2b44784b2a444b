// Asterisk as a telephony provider, over ARI connections that the gateway holds. Source: asterisk §4; contract §7.5.

import { createEgress, type Egress } from '../../egress/egress-rule.ts';
import type { Log } from '../../log.ts';
import type { Clock } from '../../std/clock.ts';
import type { Random } from '../../std/random.ts';
import type { Pbx, ProcessIdentity } from '../provider/pbx.ts';
import type { PbxProvider } from '../provider/provider.ts';
import { definePbx } from '../provider/provider-definition.ts';
import { createRest, type Rest } from '../provider/rest-client.ts';
import type { ProviderCredentials } from '../provider/terms.ts';
import { AriConnections } from './ari-connections.ts';
import { createAriControl } from './connection/control.ts';
import { KnownPbxAddresses } from './connection/known-pbx-addresses.ts';
import { OutboundWebsocketServer } from './connection/outbound-websocket.ts';
import { RefusedConnections } from './connection/refused-connections.ts';
import { TestCalls } from './connection/test-calls.ts';
import { examineAri } from './doctor/doctor.ts';
import { type LineCallContext, testLine } from './doctor/line-call.ts';
import { IncomingSockets } from './media/incoming-sockets.ts';
import { legOpener } from './media/media-leg.ts';
import { type PacketMedia, packetTransports } from './media/packet-transports.ts';
import { websocketTransports } from './media/websocket-transports.ts';
import { type AriRequestTransport, createAriClient } from './rest/client.ts';
import { type AriAccount, accountOf, applicationOf, ariCredentials } from './rest/config.ts';

/** Longest call. Asterisk itself has no limit; the workflow's applies. */
const CALL_S_MAX = 86_400;

export interface AriProviderOptions {
  clock: Clock;
  random: Random;
  /** Packet media for Asterisk without media websockets. Undefined: calls of such PBXs have no audio. */
  packets?: PacketMedia | undefined;
  /** Addresses where PBXs may be. Default: the rules for closed sign-up. */
  egress?: Egress | undefined;
  /** This process among those of all gateways. */
  identity?: ProcessIdentity | undefined;
  /** Log of connections that belong to no configuration. */
  log?: Log | undefined;
}

export const ariProvider = definePbx({
  credentials: ariCredentials,
  displayName: 'Asterisk (ARI)',
  schemaName: 'ARI',
  connectivity: 'sip',
  docsUrl: 'https://docs.asterisk.org/Configuration/Interfaces/Asterisk-REST-Interface-ARI/',
  accountIdField: null,
  addressFields: ['ari_endpoint'],
  readableKeys: ['stasis_app_name'],
  mintKeys: (random) => ({ stasis_app_name: `patchbay_${random.bytes(6).toString('hex')}` }),
  nestedSecrets: [
    'external_pbx.agent_api.username',
    'external_pbx.agent_api.password',
    'external_pbx.non_agent_api.username',
    'external_pbx.non_agent_api.password',
  ],
  callerIdOptional: true,
  capabilities: {
    digitsOut: 'request',
    closeEndsCall: true,
    afterMedia: 'stays',
    idempotentDial: false,
    digitsIn: true,
    answeringMachine: false,
    transfer: ['cold', 'warm', 'refer'],
    transferDigits: true,
    transferAwaits: 'answer',
    callS: { max: CALL_S_MAX },
  },
  create: createAri,
});

function createAri(options: AriProviderOptions): Omit<PbxProvider, 'name' | 'capabilities'> {
  const { clock, random, packets, egress = createEgress() } = options;
  const incomingSockets = new IncomingSockets();
  const clients = new KnownPbxAddresses();
  const transports = {
    ...websocketTransports(incomingSockets, egress),
    ...(packets === undefined ? {} : packetTransports(packets, { clock, egress })),
  };
  const openLeg = legOpener(transports);
  const refused = new RefusedConnections(clock, options.log);
  const outboundWebsockets = new OutboundWebsocketServer({ refused, clock, random });
  const testCalls = new TestCalls(clock);
  const connections = new AriConnections({
    clients,
    openLeg,
    outboundWebsockets,
    testCalls,

    packetHost: packets?.host,
    hasAudioSocket: transports.audiosocket !== undefined,
    egress,
    identity: options.identity,
    clock,
    random,
  });
  const transportOf = connections.transportOf.bind(connections);
  const contextOf = (
    credentials: ProviderCredentials,
    { publicUrl, log }: Pick<OwnContext, 'publicUrl' | 'log'>,
    signal: AbortSignal,
  ): OwnContext => {
    const account = accountOf(credentials);
    const subject = { account, live: connections.of(account.app), testCalls, refused };
    return { publicUrl, log, ...subject, egress, clock, random, signal };
  };
  return {
    formatAddress: (addressNormalized) => addressNormalized,
    control: createAriControl((account) => connections.reach(account)),
    pbx: {
      get applications() {
        return connections.applications;
      },

      applicationOf,

      connect: (account, connected) => connections.connect(account, connected),

      join: (account, joined) => connections.join(account, joined),

      ...socketIntake({ incomingSockets, outboundWebsockets, clients }),

      examine: ({ credentials }, facts, signal) =>
        overOwn(contextOf(credentials, facts, signal), transportOf, (context) =>
          examineAri({ ...context, ...facts }, { transports, openLeg }),
        ),

      testLine: ({ credentials }, { line, ...facts }, signal) =>
        overOwn(contextOf(credentials, facts, signal), transportOf, (context) =>
          testLine(context, { transports, openLeg }, line),
        ),
    },
  };
}

type OwnContext = Omit<LineCallContext, 'client'>;
type TransportOf = (account: AriAccount, over: Rest) => AriRequestTransport;

/** Works over new connections: Asterisk serves those that are open even after its HTTP server was turned off. */
async function overOwn<T>(
  context: OwnContext,
  transportOf: TransportOf,
  work: (context: LineCallContext) => Promise<T>,
): Promise<T> {
  const { account, clock, egress } = context;
  const own = createRest({ provider: 'ari', clock, egress });
  try {
    const client = createAriClient(() => transportOf(account, own));
    return await work({ ...context, client });
  } finally {
    own.close();
  }
}

/** Accepts sockets that PBXs open, and knows the addresses of PBXs that have proved themselves. */
function socketIntake(parts: {
  incomingSockets: IncomingSockets;
  outboundWebsockets: OutboundWebsocketServer;
  clients: KnownPbxAddresses;
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
