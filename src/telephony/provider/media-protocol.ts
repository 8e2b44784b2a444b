// A provider's media envelope: messages of its socket to what they mean, and back. Pure: it holds the
// stream's ids and numbers, and it never acts.

/** What the provider's messages mean. Payloads are borrowed until the call returns. */
export interface MediaListener {
  /** The stream's parameters; comes once, before anything else that matters. */
  onStart(start: MediaStart): void;
  /** Encoded audio of the caller. `timestampMs` counts from the start of the stream; NaN if the
   *  provider gives none. */
  onAudio(payload: Uint8Array, timestampMs: number): void;
  onDigit(digit: string): void;
  /** Everything sent before the mark of this name has been played, or was cleared: see
   *  `MediaTraits.marks`. */
  onMark(name: string): void;
  /** Of all audio sent so far, this much is not played yet, at least, in milliseconds. */
  onUnplayed(ms: number): void;
  onCleared(): void;
  onStop(): void;
}

export interface MediaStart {
  /** The provider's ids of call and stream. */
  callId: string;
  streamId: string;
  /** Codec names as in codec/registry, in and out separately. */
  codecIn: string;
  codecOut: string;
  /** What we put into the markup, as it came back. */
  parameters: Record<string, string>;
}

/** How audio is held and taken back beyond one kind of media socket. */
export interface MediaTraits {
  /** What becomes of pending marks after a clear (providers §7.2). */
  marks: 'none' | 'echo-on-clear' | 'drop-on-clear';
  clear: boolean;
  /** Audio sent ahead of real time, in milliseconds: aim, the most ever, and how much of it goes into one
   *  message (a whole number of frames; the lead is up to this much longer than its aim). */
  leadMs: { aim: number; max: number; step: number };
}

/** One socket's protocol. `decode…` throws MEDIA_MALFORMED on anything that breaks the protocol. */
export interface MediaProtocol {
  readonly traits: MediaTraits;
  decodeText(message: string, listener: MediaListener): void;
  /** Reads a text message of plain ASCII off the bytes in which it came (borrowed, from `from` to `end`), if
   *  it is one that comes for every frame. False: it is another, nothing was done. */
  decodeAscii?(bytes: Uint8Array, from: number, end: number, listener: MediaListener): boolean;
  decodeBinary(message: Uint8Array, listener: MediaListener): void;
  /** One message that carries `payload` (any whole number of frames within the lead). */
  encodeAudio(payload: Uint8Array): string | Uint8Array;
  /** The same, where it is a text message of plain ASCII, as its bytes; borrowed until the next call, of
   *  whichever socket's protocol. */
  encodeAscii?(payload: Uint8Array): Uint8Array;
  encodeMark(name: string): string | undefined;
  encodeClear(): string | undefined;
}
