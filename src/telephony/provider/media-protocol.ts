// A provider's media protocol: decodes the messages of its websocket, and encodes ours. Pure: it holds the stream's
// ids and numbers, and it never acts. A provider whose media use one socket implements this alone.

import type { AudioListener, MediaListener, MediaTraits } from './media-session.ts';

/** One socket's protocol. `decode…` throws MEDIA_MALFORMED for anything that breaks the protocol. */
export interface MediaProtocol {
  readonly traits: MediaTraits;
  /** Reports a returned mark as `played`; the session accounts for clears. Reports a stream that the provider
   *  stops as `closed`, `ended`. */
  decodeText(message: string, listener: MediaListener): void;
  /** Decodes a text message of plain ASCII from its bytes (borrowed, from `from` to `end`), if it is of a kind that
   *  comes for every frame. False for any other message, with which nothing was done. */
  decodeAscii?(bytes: Uint8Array, from: number, end: number, listener: AudioListener): boolean;
  /** Decodes audio in a binary message. Undefined where audio comes in text: a binary message ends the session. */
  decodeBinary?(message: Uint8Array, listener: AudioListener): void;
  /** One message with `payload`: at most `lead.stepMs` of audio. */
  encodeAudio(payload: Uint8Array): string | Uint8Array;
  /** The same message as bytes, where it is plain ASCII; borrowed until the next call of any socket's protocol. */
  encodeAscii?(payload: Uint8Array): Uint8Array;
  /** The message of a mark. Undefined where `traits.marks` is false. */
  encodeMark(name: string): string | undefined;
  /** The message that clears unplayed audio. Undefined where the provider has none. */
  encodeClear(): string | undefined;
  /** Messages for a far end that follows its call. Default: it gets media alone. */
  readonly notices?: MediaNotices;
}

/** Messages about the call itself. The facts are JSON. */
export interface MediaNotices {
  /** Once for each socket, as its first message. */
  started(facts: Record<string, unknown>): string;
  /** A live item of the run (contract §8.10). */
  item(item: object): string;
  /** The last message. */
  ended(facts: Record<string, unknown>): string;
}
