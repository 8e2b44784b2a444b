// Twilio Media Streams: the messages of telephony/twiml with all their fields. Source:
// twilio.com/docs/voice/media-streams/websocket-messages

import type { MediaProtocol } from '../provider/media-protocol.ts';
import { createStreamMedia } from '../twiml/stream-media.ts';

/** One socket's protocol. */
export function createTwilioMedia(): MediaProtocol {
  return createStreamMedia({ provider: 'twilio', callIdField: 'callSid', isComplete: true });
}
