// A loop of audio through an Asterisk without a telephone: a channel that plays the telephone and a media leg like that of a
// call, in one bridge. Source: asterisk §0.15, §2.6, §2.7, §3.

import { GatewayError } from '../../../errors/gateway-error.ts';
import { pause } from '../../../std/pause.ts';
import type { MediaSession } from '../../provider/media-session.ts';
import { AriMediaSession } from '../media/ari-media-session.ts';
import type { MediaChoice } from '../media/transport-selection.ts';
import type { MediaTransportOptions, MediaTransports } from '../media/websocket-transports.ts';
import type { AriContext, OpenLeg } from '../rest/peer.ts';
import type { TestApplication } from './test-application.ts';

const FRAME_MS = 20;
/** Longest wait for Asterisk's first packets, which it sends every 20 ms. */
const FIRST_PACKETS_MS_MAX = 1_000;
/** Event handlers of the telephone's end, which is closed with its channel. */
const UNWATCHED = {
  onClosed: () => undefined,
  onLost: () => undefined,
  onQueue: () => undefined,
};

export interface MediaParts {
  transports: MediaTransports;
  openLeg: OpenLeg;
}

export interface LoopMeans {
  parts: MediaParts;
  choice: MediaChoice;
}

/** The end that plays the telephone. */
interface LoopPhone {
  readonly hasHeard: boolean;
  /** Drops what was received so far. */
  forget(): void;
}

/** What uses the loop: `phone` attaches to the telephone's media, `talk` to the agent's. */
interface LoopUse<Phone, Result> {
  phone(media: MediaSession): Phone;
  talk(
    phone: Phone,
    agent: { media: MediaSession; openMs: number },
    signal: AbortSignal,
  ): Promise<Result>;
}

/** Opens the loop, and closes it after `use`. Throws PBX_MEDIA and what `AriClient` and `use` throw. */
export async function overLoop<Phone extends LoopPhone, Result>(
  testApp: TestApplication,
  { parts, choice }: LoopMeans,
  signal: AbortSignal,
  use: LoopUse<Phone, Result>,
): Promise<Result> {
  const { peer } = testApp;
  const transport = parts.transports[choice.way];
  if (transport === undefined) {
    throw new GatewayError('PBX_MEDIA', { reason: `${choice.way} is not set up at this gateway` });
  }
  const channelId = testApp.channelId();
  const { clock, log } = peer;
  const telephone = new AriMediaSession({
    callId: channelId,
    ...transport.framing(),
    listener: UNWATCHED,
    clock,
    log,
  });
  const phone = use.phone(telephone);
  const startedMs = clock.monotonicMs();
  const gone = new AbortController();
  const both = AbortSignal.any([signal, gone.signal]);
  let hasStarted = (): void => undefined;
  const inStasis = new Promise<void>((resolve, reject) => {
    hasStarted = resolve;
    both.addEventListener('abort', () => reject(both.reason as Error), { once: true });
  });
  inStasis.catch(() => undefined); // Opening may fail first.
  const unwatch = peer.watch(channelId, (event) => {
    if (event.type === 'StasisStart') hasStarted();
    if (event.type === 'ChannelDestroyed') gone.abort(endedEarly(event.cause));
  });
  try {
    const { format } = choice;
    const accept: MediaTransportOptions['accept'] = (socket, start) =>
      telephone.attachTransport(socket, start);
    await transport
      .open({ peer, channelId, format, accept, gone: gone.signal }, both)
      .catch((error: unknown) => {
        throw gone.signal.aborted ? gone.signal.reason : error;
      });
    await inStasis;
    if (choice.way === 'rtp') await awaitFirstPackets(peer, { channelId, phone }, both);
    const onClosed = () => undefined;
    const leg = await parts.openLeg({ peer, callId: channelId, channelId, onClosed }, both);
    const openMs = clock.monotonicMs() - startedMs;
    try {
      return await use.talk(phone, { media: leg.media, openMs }, both);
    } finally {
      await leg.close();
    }
  } finally {
    telephone.close('over');
    unwatch();
  }
}

/** Behind NAT Asterisk's RTP has another address than it announces, which is learned from its first packets. In a call
 *  they carry the telephone's audio; here both ends are ours, and Asterisk is asked to send silence to one. Its tone then
 *  opens the way to the other. */
async function awaitFirstPackets(
  { client, clock }: Pick<AriContext, 'client' | 'clock'>,
  { channelId, phone }: { channelId: string; phone: LoopPhone },
  signal: AbortSignal,
): Promise<void> {
  const path = `channels/${channelId}/silence`;
  await client.send({ action: 'silence', method: 'POST', path }, signal);
  for (let ms = 0; !phone.hasHeard && ms < FIRST_PACKETS_MS_MAX; ms += FRAME_MS) {
    await pause(clock, FRAME_MS, signal);
  }
  await client.send({ action: 'silence', method: 'DELETE', path }, signal);
  phone.forget();
}

/** The telephone's channel ended before the test. Source: asterisk §2.6. */
function endedEarly(cause: number): GatewayError {
  const reasons: Readonly<Record<number, string>> = {
    3: 'Asterisk could not open its socket to the gateway',
    19: 'the socket was not opened in time',
  };
  const reason = reasons[cause] ?? `the channel ended before it was heard (cause ${cause})`;
  return new GatewayError('PBX_MEDIA', { reason });
}
