// A provider's side of a call as the load tool plays it: how a call is announced to a gateway, and the messages of its
// media websocket. Written from the providers' documentation alone; of the gateway's own code it has nothing.

/** Providers whose calls the tool places. */
export const HOSTED = ['twilio', 'telnyx', 'plivo', 'vobiz', 'cloudonix', 'vonage'] as const;
export type HostedName = (typeof HOSTED)[number];

/** Whose calls these are, and what its webhooks prove that with. */
export interface Account {
  provider: HostedName;
  /** The fields that the provider's wire reads. */
  credentials: Record<string, string>;
}

export interface InboundCall {
  /** The gateway's webhook for inbound calls. */
  webhookUrl: string;
  credentials: Readonly<Record<string, string>>;
  callId: string;
  /** `+` and digits. */
  from: string;
  to: string;
}

/** Where the call's media go. */
export interface MediaTarget {
  url: string;
  /** Headers of the upgrade. */
  headers: Record<string, string>;
  /** Given back in the stream's first messages. */
  parameters: Record<string, string>;
}

export interface StreamOptions {
  callId: string;
  credentials: Readonly<Record<string, string>>;
  parameters: Readonly<Record<string, string>>;
}

/** One provider. */
export interface Wire {
  /** An id of the provider's form, another one for each number. */
  callIdOf(nth: number): string;
  /** 20 ms of mu-law as a message carries them. */
  payloadOf(mulaw: Uint8Array): Uint8Array;
  /** Rejects with the reply if it names no stream: the gateway is busy, or refuses the call. */
  announce(call: InboundCall): Promise<MediaTarget>;
  stream(options: StreamOptions): CallStream;
}

export interface GatewayListener {
  /** Marks of the message's frames, -1 where there is none; borrowed. */
  onAudio(marks: Int32Array, count: number): void;
  onMark(name: string): void;
  onClear(): void;
  /** A message that the provider does not know. */
  onFault(): void;
}

/** One call's messages. */
export interface CallStream {
  /** What becomes of marks that wait when the gateway clears: returned as if they were reached, or never. */
  readonly onClear: 'echo-marks' | 'drop-marks';
  /** The provider keeps this much audio; more is a fault of the gateway. */
  readonly bufferMsMax: number;
  /** The text messages of a socket that has just opened. */
  opening(): readonly string[];
  /** A whole websocket frame with `payload`, the caller's next 20 ms (`payloadOf`). */
  audio(payload: Uint8Array): Buffer;
  key(key: string): string;
  played(mark: string): string;
  /** The acknowledgement of a clear; undefined where there is none. */
  cleared(): string | undefined;
  /** The last message; undefined where the socket is just closed. */
  stop(): string | undefined;
  /** A message of the gateway: bytes `from` to `to` of `chunk`. */
  readText(chunk: Buffer, from: number, to: number, listener: GatewayListener): void;
  readBinary(chunk: Buffer, from: number, to: number, listener: GatewayListener): void;
}
