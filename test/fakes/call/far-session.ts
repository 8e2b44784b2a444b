// A media session whose far end is played by a test: it speaks Twilio's protocol, as any would do.

import type { Clock } from '../../../src/std/clock.ts';
import type { MediaProtocol } from '../../../src/telephony/provider/media-protocol.ts';
import type { MediaSession } from '../../../src/telephony/provider/media-session.ts';
import { SocketMediaSession } from '../../../src/telephony/provider/socket-media-session.ts';
import { createTwilioMedia } from '../../../src/telephony/twilio/provider.ts';
import type { MediaSocket, MediaSocketListener } from '../../../src/transport/media-socket.ts';
import { quietLog } from '../quiet-log.ts';

/** The far end of a call's media, such as test/call/stream.ts. */
export interface FarMedia extends MediaSocket {
  listen(listener: MediaSocketListener): void;
  start(): void;
  lose(code?: number): void;
}

/** `onAttach`: what the far end does once the call listens; default: its stream starts. */
export function farSession(
  far: FarMedia,
  options: {
    clock: Clock;
    protocol?: MediaProtocol;
    onAttach?: () => void;
  },
): MediaSession {
  const { clock, onAttach = () => far.start() } = options;
  const protocol = options.protocol ?? createTwilioMedia();
  const { log } = quietLog();
  const session = new SocketMediaSession({ socket: far, protocol, clock, log });
  const attach = session.attach.bind(session);
  session.attach = (listener) => {
    attach(listener);
    far.listen(session);
    onAttach();
  };
  return session;
}
