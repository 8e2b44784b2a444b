// A provider's media envelope: messages of its socket to what they mean, and back. Pure: it holds the
// stream's ids and numbers, and it never acts. A provider whose media come over one socket writes this alone.

import type { AudioListener, MediaListener, MediaTraits } from './media-session.ts';

/** One socket's protocol. `decode…` throws MEDIA_MALFORMED on anything that breaks the protocol. */
export interface MediaProtocol {
  readonly traits: MediaTraits;
  /** Reports a mark that comes back as `played`; the session knows what a clear did to it. Reports a stream that
   *  the provider stops as `closed`, `ended`. */
  decodeText(message: string, listener: MediaListener): void;
  /** Reads a text message of plain ASCII off the bytes in which it came (borrowed, from `from` to `end`), if
   *  it is one that comes for every frame. False: it is another, nothing was done. */
  decodeAscii?(bytes: Uint8Array, from: number, end: number, listener: AudioListener): boolean;
  /** Where audio comes as binary messages. */
  decodeBinary(message: Uint8Array, listener: AudioListener): void;
  /** One message that carries `payload`: `leadMs.step` of audio at most. */
  encodeAudio(payload: Uint8Array): string | Uint8Array;
  /** The same, where it is a text message of plain ASCII, as its bytes; borrowed until the next call, of
   *  whichever socket's protocol. */
  encodeAscii?(payload: Uint8Array): Uint8Array;
  /** Undefined where `traits.marks` is false. */
  encodeMark(name: string): string | undefined;
  /** Undefined where the provider takes nothing back. */
  encodeClear(): string | undefined;
}
