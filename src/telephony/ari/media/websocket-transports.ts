// Media transports over websockets: we open the socket (server mode) or Asterisk does (client mode).
// Source: asterisk §2.1, §2.2, §2.7, §3.

import { z } from 'zod';
import type { Egress } from '../../../egress/egress-rule.ts';
import { codeOf, GatewayError } from '../../../errors/gateway-error.ts';
import type { MediaSocket, MediaSocketListener } from '../../../transport/media-socket.ts';
import { connectMedia } from '../../../transport/websocket/websocket-client.ts';
import type { MediaTraits } from '../../provider/media-session.ts';
import { type AriClient, ariFaultOf } from '../rest/client.ts';
import type { AriAccount } from '../rest/config.ts';
import { ariChannel } from '../rest/messages.ts';
import type { AriContext } from '../rest/peer.ts';
import type { AudioReader, ChannelStart } from './ari-media-session.ts';
import type { IncomingSockets } from './incoming-sockets.ts';
import type { MediaWay } from './transport-selection.ts';

export interface MediaTransportOptions {
  peer: AriContext;
  /** Id of the media channel, which we chose. */
  channelId: string;
  format: string;
  /** The socket is open; returns its listener. `start` where the socket has no control messages. */
  accept: (socket: MediaSocket, start?: ChannelStart) => MediaSocketListener;
  /** Aborted when the channel has ended, also after it was open. */
  gone: AbortSignal;
}

export interface MediaTransport {
  /** The transport of one call's audio. */
  framing(): { traits: MediaTraits; reader?: AudioReader };
  /** Creates the channel and its socket; settles when the socket is open. Throws PBX_MEDIA and what `AriClient`
   *  throws. The channel may remain: the caller of `open` ends it. */
  open(options: MediaTransportOptions, signal: AbortSignal): Promise<void>;
}

export type MediaTransports = Readonly<Partial<Record<MediaWay, MediaTransport>>>;

export function websocketTransports(
  incomingSockets: IncomingSockets,
  egress: Egress,
): MediaTransports {
  return { websocket_server: serverMode(egress), websocket_client: clientMode(incomingSockets) };
}

/** Asterisk plays a frame each 20 ms, and a clear takes back what it has not played. */
export const SOCKET_TRAITS: MediaTraits = {
  marks: true,
  lead: { aimMs: 100, maxMs: 200, stallMsMax: 160, stepMs: 20 },
};
const framing = () => ({ traits: SOCKET_TRAITS });

const made = ariChannel.extend({
  channelvars: z.object({ MEDIA_WEBSOCKET_CONNECTION_ID: z.string().regex(/^[\w-]{1,255}$/) }),
});

/** Server mode: we open the socket, by the id in Asterisk's answer. */
function serverMode({ check, lookup }: Egress): MediaTransport {
  return {
    framing,
    async open({ peer, channelId, format, accept }, signal) {
      const { client, account, clock, log } = peer;
      check(account.ari_endpoint);
      const query = { ...socketQuery(account, channelId, format), connection_type: 'server' };
      const channel = made.safeParse(await askFor(client, query, signal)).data;
      if (channel === undefined) {
        throw new GatewayError('PBX_MEDIA', { reason: 'it named no media socket' });
      }
      const base = account.ari_endpoint.replace(/^http/, 'ws').replace(/\/+$/, '');
      const url = `${base}/media/${channel.channelvars.MEDIA_WEBSOCKET_CONNECTION_ID}`;
      try {
        await connectMedia({ url, protocol: 'media', lookup, clock, log }, accept, signal);
      } catch (error) {
        throw unopened(error, shownAddress(`${base}/media`));
      }
    },
  };
}

/** Client mode: Asterisk opens the socket, over a connection of its websocket_client.conf. */
function clientMode(incomingSockets: IncomingSockets): MediaTransport {
  return {
    framing,
    async open({ peer, channelId, format, accept }, signal) {
      const { client, account } = peer;
      const name = account.ws_client_name;
      if (name === '') {
        throw new GatewayError('PBX_MEDIA', {
          reason: 'the configuration names no connection of websocket_client.conf (ws_client_name)',
        });
      }
      const expected = incomingSockets.expect(channelId, accept, signal);
      const query = { ...socketQuery(account, channelId, format), external_host: name };
      try {
        await askFor(client, query, signal);
        await expected.arrived;
      } finally {
        expected.done();
      }
    },
  };
}

/** The error with the address and what to check there. */
function unopened(error: unknown, address: string): unknown {
  if (codeOf(error) !== 'PBX_MEDIA' || !(error instanceof GatewayError)) return error;
  const reason = `${error.facts['reason']} at ${address}: does a proxy before Asterisk pass /media on with its websockets, and is the port that of ari_endpoint?`;
  return new GatewayError('PBX_MEDIA', { reason }, error);
}

/** The URL without user, password and query. */
function shownAddress(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}

/** Why there is no media channel, and what to do. Source: asterisk §2.1, §6. */
const refusals: Readonly<Record<number, string>> = {
  400: 'websocket_client.conf has no connection with the name in ws_client_name: add it, then module reload res_websocket_client.so',
  500: 'Asterisk cannot make the media channel: are chan_websocket.so and the codec of the format loaded (module show like websocket)?',
  501: 'Asterisk has no media websocket: load chan_websocket.so (Asterisk 20.18, 22.8, 23.2 or newer), or set media to audiosocket or rtp',
};

/** Requests the media channel once: an id that is used twice crashes Asterisk up to 22.10. Returns the answer's
 *  content. Throws PBX_MEDIA, PROVIDER_*. */
async function askFor(
  client: AriClient,
  query: Record<string, string>,
  signal: AbortSignal,
): Promise<unknown> {
  const path = 'channels/externalMedia';
  const wanted = { action: 'media', method: 'POST', path, query } as const;
  const answer = await client.send(wanted, signal);
  const reason = refusals[answer.status];
  if (reason !== undefined) throw new GatewayError('PBX_MEDIA', { reason });
  if (answer.status > 299) throw ariFaultOf(wanted, answer);
  return answer.body;
}

function socketQuery(
  { app }: AriAccount,
  channelId: string,
  format: string,
): Record<string, string> {
  return {
    app,
    channelId,
    format,
    transport: 'websocket',
    encapsulation: 'none',
    direction: 'both',
    transport_data: 'f(json)',
  };
}
