// The gateway's end of one of our streams, for tests: its own reading and writing of the protocol.

import { systemClock } from '../../src/std/clock.ts';
import { systemRandom } from '../../src/std/random.ts';
import type { MediaProtocol } from '../../src/telephony/provider/media-protocol.ts';
import { isHosted } from '../../src/telephony/provider/provider.ts';
import { createProviders } from '../../src/telephony/registry/registry.ts';
import { HEADER_BYTES } from './caller/media-client.ts';
import type { CallStream, HostedName } from './wires/wire.ts';
import { wires } from './wires/wires.ts';

const { byName } = createProviders({ clock: systemClock, random: systemRandom });

export function protocolOf(name: HostedName): MediaProtocol {
  const provider = byName(name);
  if (provider === undefined || !isHosted(provider)) throw new Error(`${name} is not hosted`);
  return provider.createMedia();
}

/** Credentials of no real account. */
const credentials = {
  ['account_sid']: `AC${'2'.repeat(32)}`,
  ['auth_id']: 'MA2',
  ['domain_id']: 'acme.cloudonix.net',
};

/** A call's stream as the load tool plays it. */
export function streamOf(provider: HostedName, nth = 3): CallStream {
  const wire = wires[provider];
  const callId = wire.callIdOf(nth);
  const parameters =
    provider === 'vonage' ? { 'content-type': 'audio/l16;rate=8000', ['call_uuid']: callId } : {};
  return wire.stream({ callId, credentials, parameters });
}

export interface GatewayEnd {
  /** Takes one message, text or binary; audio of it goes to `onAudio`. */
  take(message: string | Uint8Array): void;
  /** As `take`, of a whole websocket frame of the stream. */
  takeFrame(frame: Uint8Array): void;
  audio(payload: Uint8Array): string | Uint8Array;
  mark(name: string): string;
  clear(): string;
}

/** The end of `stream`, which has sent its first messages. */
export function gatewayEnd(
  provider: HostedName,
  stream: CallStream,
  onAudio: (payload: Uint8Array, timestampMs: number) => void = () => undefined,
): GatewayEnd {
  const media = protocolOf(provider);
  const listener = { onAudio, onEvent: () => undefined };
  for (const message of stream.opening()) media.decodeText(message, listener);
  const take = (message: string | Uint8Array): void => {
    if (typeof message === 'string') media.decodeText(message, listener);
    else media.decodeBinary?.(message, listener);
  };
  return {
    take,
    takeFrame(frame) {
      const isText = frame[0] === 0x81;
      const message = Buffer.from(frame.subarray(HEADER_BYTES));
      take(isText ? message.toString('latin1') : message);
    },
    audio: (payload) => media.encodeAudio(payload),
    mark: (name) => textOf(media.encodeMark(name)),
    clear: () => textOf(media.encodeClear()),
  };
}

function textOf(message: string | undefined): string {
  if (message === undefined) throw new Error('a message that the protocol does not have');
  return message;
}
