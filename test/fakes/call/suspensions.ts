// Twilio's protocol with messages for what it does not have: the name of an event is a message. For calls whose parties
// cannot hear each other for a while.

import type { MediaProtocol } from '../../../src/telephony/provider/media-protocol.ts';
import type { MediaEvent } from '../../../src/telephony/provider/media-session.ts';
import { createTwilioMedia } from '../../../src/telephony/twilio/provider.ts';

const EVENTS = new Map<string, MediaEvent>([
  ['interrupted', { type: 'interrupted' }],
  ['restored', { type: 'restored', outageMs: 1_500, explained: false }],
  ['held', { type: 'held' }],
  ['unheld', { type: 'unheld' }],
]);

export function withSuspensions(): MediaProtocol {
  const protocol = createTwilioMedia();
  const decodeText = protocol.decodeText.bind(protocol);
  protocol.decodeText = (message, listener) => {
    const event = EVENTS.get(message);
    if (event === undefined) decodeText(message, listener);
    else listener.onEvent(event);
  };
  return protocol;
}
