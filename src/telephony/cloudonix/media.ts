// Cloudonix' media websocket: the messages of Twilio's media streams. Cloudonix does not document their format, so
// fields that Twilio always sends may be missing. Source: providers §5.3.

import type { MediaProtocol } from '../provider/media-protocol.ts';
import { createStreamMedia } from '../twiml/stream-media.ts';

/** One socket's protocol. Its call id is `session`: `start.callSid` is not the token of the session. */
export function createCloudonixMedia(): MediaProtocol {
  return createStreamMedia({ provider: 'cloudonix', callIdField: 'session', isComplete: false });
}
