// The gateway's end of one of our streams, for tests: its own reading and writing of the protocol.

import { createTwilioMedia } from '../../src/telephony/twilio/media.ts';
import { startMessage } from './caller/twilio-wire.ts';

export const CALL_SID = `CA${'3'.repeat(32)}`;
export const STREAM_SID = `MZ${'3'.repeat(32)}`;

export interface GatewayEnd {
  /** Takes one message; audio of it goes to `onAudio`. */
  take(message: string): void;
  audio(payload: Uint8Array): string;
  mark(name: string): string;
  clear(): string;
}

export function gatewayEnd(
  onAudio: (payload: Uint8Array, timestampMs: number) => void = () => undefined,
): GatewayEnd {
  const media = createTwilioMedia();
  const listener = { onAudio, onEvent: () => undefined };
  const accountSid = `AC${'2'.repeat(32)}`;
  const start = { accountSid, callSid: CALL_SID, streamSid: STREAM_SID, parameters: {} };
  media.decodeText(startMessage(start), listener);
  return {
    take: (message) => media.decodeText(message, listener),
    audio: (payload) => textOf(media.encodeAudio(payload)),
    mark: (name) => textOf(media.encodeMark(name)),
    clear: () => textOf(media.encodeClear()),
  };
}

/** All that Twilio's streams carry is text. */
function textOf(message: string | Uint8Array | undefined): string {
  if (typeof message !== 'string') throw new Error('a message that is no text');
  return message;
}
