// The protocol of a call's audio from Asterisk, whatever carries it: control messages as text, audio as
// binary. It translates and never acts. Source: asterisk §2, §3.

import { GatewayError } from '../../../errors/gateway-error.ts';
import type { MediaListener, MediaProtocol, MediaTraits } from '../../provider/media-protocol.ts';
import { type ControlMessage, command, parseControlMessage } from './control-messages.ts';

/** Asterisk plays a frame each 20 ms and takes back what it has not played. */
export const SOCKET_TRAITS: MediaTraits = {
  marks: 'drop-on-clear',
  clear: true,
  leadMs: { aim: 100, max: 200, step: 20 },
};
/** It passes packets on as they come: we set the pace, and nothing can be taken back. */
export const PACKET_TRAITS: MediaTraits = {
  marks: 'none',
  clear: false,
  leadMs: { aim: 40, max: 60, step: 20 },
};

/** Asterisk's names of formats, and ours of codecs. */
const codecs: Readonly<Record<string, string>> = {
  ulaw: 'PCMU',
  alaw: 'PCMA',
  slin: 'L16',
  slin16: 'L16/16000',
  g722: 'G722',
};

/** Reads where in a binary message the audio is, and when it was said. */
export interface AudioReader {
  /** The audio of the message; undefined if it has none. */
  payload(message: Uint8Array): Uint8Array | undefined;
  /** Of the message read last. Milliseconds since the stream began, or NaN. */
  readonly timestampMs: number;
}

/** The whole message is audio. */
export const PLAIN_AUDIO: AudioReader = { payload: (message) => message, timestampMs: Number.NaN };

export function createAriMedia(options: {
  /** The caller's channel. */
  callId: string;
  traits: MediaTraits;
  reader?: AudioReader;
}): MediaProtocol {
  return new AriMedia(options.callId, options.traits, options.reader ?? PLAIN_AUDIO);
}

class AriMedia implements MediaProtocol {
  readonly traits: MediaTraits;
  readonly #callId: string;
  readonly #reader: AudioReader;

  constructor(callId: string, traits: MediaTraits, reader: AudioReader) {
    this.#callId = callId;
    this.traits = traits;
    this.#reader = reader;
  }

  decodeText(message: string, listener: MediaListener): void {
    const words = parseControlMessage(message);
    if (words === undefined) {
      throw new GatewayError('MEDIA_MALFORMED', { provider: 'ari', bytes: message.length });
    }
    switch (words.event) {
      case 'MEDIA_START':
        this.#start(words, listener);
        break;
      case 'MEDIA_MARK_PROCESSED':
        listener.onMark(words.correlationId);
        break;
      case 'DIGIT':
        listener.onDigit(words.correlationId);
        break;
      case 'UNPLAYED':
        listener.onUnplayed(words.unplayedMs);
        break;
      default: // DTMF_END comes twice, states of the queue are the leg's to watch.
    }
  }

  decodeBinary(message: Uint8Array, listener: MediaListener): void {
    const payload = this.#reader.payload(message);
    if (payload !== undefined && payload.length > 0) {
      listener.onAudio(payload, this.#reader.timestampMs);
    }
  }

  encodeAudio(payload: Uint8Array): Uint8Array {
    return payload;
  }

  encodeMark(name: string): string | undefined {
    return this.traits.marks === 'none' ? undefined : command('MARK_MEDIA', name);
  }

  encodeClear(): string | undefined {
    return this.traits.clear ? command('FLUSH_MEDIA') : undefined;
  }

  #start({ format = '', channelId = '' }: ControlMessage, listener: MediaListener): void {
    const codec = codecs[format];
    if (codec === undefined) throw new GatewayError('MEDIA_CODEC', { encoding: format });
    listener.onStart({
      callId: this.#callId,
      streamId: channelId,
      codecIn: codec,
      codecOut: codec,
      parameters: {},
    });
  }
}
