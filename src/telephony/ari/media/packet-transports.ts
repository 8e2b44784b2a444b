// Media transports for Asterisk without a media websocket: AudioSocket, which Asterisk connects to one port of
// ours, and RTP, with a port per call. Asterisk forwards the audio at once: our playout sets the pace, and a clear
// has no effect. Source: asterisk §3.

import { isIP, isIPv6 } from 'node:net';
import { z } from 'zod';
import type { Egress } from '../../../egress/egress-rule.ts';
import { GatewayError } from '../../../errors/gateway-error.ts';
import type { Clock } from '../../../std/clock.ts';
import { deadlineSignal } from '../../../std/deadline.ts';
import { AUDIOSOCKET_FORMATS } from '../../../transport/audiosocket/audiosocket-connection.ts';
import type { AudioSocketServer } from '../../../transport/audiosocket/audiosocket-server.ts';
import { CLOSE, type MediaSocket } from '../../../transport/media-socket.ts';
import type { RtpPorts } from '../../../transport/rtp/rtp-ports.ts';
import { RTP_PAYLOAD_TYPES, type RtpSocket } from '../../../transport/rtp/rtp-socket.ts';
import { RtpTimestamps } from '../../../transport/rtp/rtp-timestamps.ts';
import type { MediaTraits } from '../../provider/media-session.ts';
import { type AriAnswer, type AriRequest, ariFaultOf, isAriNotFound } from '../rest/client.ts';
import { ariChannel } from '../rest/messages.ts';
import type { AriContext } from '../rest/peer.ts';
import { addressForPbx } from './gateway-address.ts';
import type { MediaTransport, MediaTransports } from './websocket-transports.ts';

const LOOK_MS_MAX = 5_000;
/** Asterisk forwards packets at once: our playout sets the pace, and sent audio cannot be taken back. */
export const PACKET_TRAITS: MediaTraits = {
  marks: false,
  lead: { aimMs: 40, maxMs: 60, stallMsMax: 20, stepMs: 20 },
};

/** The gateway's ports for AudioSocket and RTP; `app` opens and closes them. */
export interface PacketMedia {
  /** Host name or address of this gateway for PBXs. */
  host: string;
  rtp: RtpPorts;
  /** Undefined if no port is configured. */
  audioSockets: AudioSocketServer | undefined;
}

interface PacketDeps {
  clock: Clock;
  /** Whether packets may be sent to the address that a PBX announces. */
  egress: Pick<Egress, 'allows'>;
}

export function packetTransports(media: PacketMedia, deps: PacketDeps): MediaTransports {
  const { host, rtp, audioSockets } = media;
  return {
    rtp: rtpTransport(host, rtp, deps),
    ...(audioSockets === undefined
      ? {}
      : { audiosocket: audioSocketTransport(host, audioSockets) }),
  };
}

function audioSocketTransport(host: string, server: AudioSocketServer): MediaTransport {
  return {
    framing: () => ({ traits: PACKET_TRAITS }),

    async open(options, signal) {
      const { peer, channelId, format } = options;
      const known = AUDIOSOCKET_FORMATS[format];
      if (known === undefined) throw new GatewayError('MEDIA_CODEC', { encoding: format });
      const target = hostPort(addressForPbx(host, peer.account), server.port);
      const uuid = peer.random.uuid();
      const accept = (socket: MediaSocket) => options.accept(socket, { channelId, format });
      const expected = server.expect(uuid, { format: known, accept }, signal);
      try {
        const query = { transport: 'tcp', encapsulation: 'audiosocket', data: uuid };
        const request = mediaRequest(peer, { channelId, format, target, query });
        const answer = await peer.client.send(request, signal);
        // Hang-up causes when it cannot connect.
        const reason = `Asterisk could not bring its audio to ${target}: is that address (PATCHBAY_MEDIA_HOST, PATCHBAY_AUDIOSOCKET_PORT) reached from the PBX, and is chan_audiosocket.so loaded?`;
        if (answer.status >= 500) throw new GatewayError('PBX_MEDIA', { reason });
        if (answer.status > 299) throw ariFaultOf(request, answer);
        await expected.arrived;
      } finally {
        expected.done();
      }
    },
  };
}

function rtpTransport(
  host: string,
  ports: RtpPorts,
  { clock, egress }: PacketDeps,
): MediaTransport {
  return {
    framing: () => {
      const reader = new RtpTimestamps(() => clock.monotonicMs());
      return { traits: PACKET_TRAITS, reader };
    },

    async open(options, signal) {
      const { peer, channelId, format, gone } = options;
      const payloadType = RTP_PAYLOAD_TYPES[format];
      if (payloadType === undefined) throw new GatewayError('MEDIA_CODEC', { encoding: format });
      const address = addressForPbx(host, peer.account);
      const socket = await ports.open();
      try {
        const target = hostPort(address, socket.port);
        const query = { transport: 'udp', encapsulation: 'rtp' };
        const request = mediaRequest(peer, { channelId, format, target, query });
        const answer = await peer.client.send(request, signal);
        const reason = `Asterisk made no RTP channel to ${target}: is chan_rtp.so loaded (module show like chan_rtp), and does the PBX know that address (PATCHBAY_MEDIA_HOST)?`;
        if (answer.status >= 500) throw new GatewayError('PBX_MEDIA', { reason });
        if (answer.status > 299) throw ariFaultOf(request, answer);
        socket.begin({
          payloadType,
          announced: announcedIn(answer, egress),
          accept: (inner) => options.accept(inner, { channelId, format }),
          onRtpInactive: () => void closeIfGone(peer, channelId, socket),
        });
      } catch (error) {
        socket.abandon();
        throw error;
      }
      // The websocket and AudioSocket close by themselves.
      const onGone = (): void => socket.close(CLOSE.goingAway, 'the media channel ended');
      if (gone.aborted) onGone();
      else gone.addEventListener('abort', onGone, { once: true });
    },
  };
}

function mediaRequest(
  { account }: AriContext,
  wanted: {
    channelId: string;
    format: string;
    target: string;
    query: Record<string, string>;
  },
): AriRequest {
  const { channelId, format, target, query } = wanted;
  return {
    action: 'media',
    method: 'POST',
    path: 'channels/externalMedia',
    query: { app: account.app, channelId, format, external_host: target, ...query },
  };
}

const udpPort = /^[1-9]\d{0,4}$/;
const announcing = ariChannel.extend({
  channelvars: z.object({
    UNICASTRTP_LOCAL_ADDRESS: z.string().max(64),
    UNICASTRTP_LOCAL_PORT: z.string().regex(udpPort).transform(Number).pipe(z.int().max(65_535)),
  }),
});
/** Wildcard addresses of an Asterisk that does not know its own. */
const ANY_ADDRESS: readonly string[] = ['0.0.0.0', '::'];

/** The address that Asterisk announces for its RTP. Undefined: that of the first packet counts (RTP latching). */
function announcedIn(
  { body }: AriAnswer,
  egress: PacketDeps['egress'],
): { host: string; port: number } | undefined {
  const vars = announcing.safeParse(body).data?.channelvars;
  const host = vars?.UNICASTRTP_LOCAL_ADDRESS ?? '';
  if (vars === undefined || isIP(host) === 0 || ANY_ADDRESS.includes(host)) return undefined;
  if (!egress.allows(host, host)) return undefined;
  return { host, port: vars.UNICASTRTP_LOCAL_PORT };
}

/** Closes the socket if the channel has ended. A silent caller sends no packets either, so Asterisk is asked. Never
 *  rejects. */
async function closeIfGone(peer: AriContext, channelId: string, socket: RtpSocket): Promise<void> {
  const { client, clock, log } = peer;
  const deadline = deadlineSignal(clock, LOOK_MS_MAX, 'look after the media');
  try {
    const request = { action: 'look', method: 'GET', path: `channels/${channelId}` } as const;
    const answer = await client.send(request, deadline.signal);
    if (isAriNotFound(answer)) socket.close(CLOSE.goingAway, 'the media channel is gone');
  } catch (error) {
    // While the PBX is away its calls may continue: reconciliation handles them.
    log.debug({ err: error }, 'media channel not looked up');
  } finally {
    deadline.done();
  }
}

function hostPort(host: string, port: number): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}
