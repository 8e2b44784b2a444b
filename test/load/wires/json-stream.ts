// One call's media messages in JSON: the audio of the gateway is read by looking at the few bytes that are needed,
// once the call's first audio message has been checked as a whole.

import { FRAME_BYTES, readMarkInBase64, SCRATCH_BYTES } from '../caller/watermark.ts';
import { type AudioLayout, AudioMessages } from './audio-messages.ts';
import type { CallStream, GatewayListener } from './wire.ts';

/** Frames of one message: five seconds. */
const FRAMES_MAX = 250;
const EVENT = '{"event":"';
const PAYLOAD = '"payload":"';
const QUOTE = 0x22;

const marks = new Int32Array(FRAMES_MAX);
const markAt = { byte: 0, scratch: new Uint8Array(SCRATCH_BYTES) };

/** A message of the gateway, as far as the provider acts on it. */
export type Sent =
  | { type: 'audio'; payload: string }
  | { type: 'mark'; name: string }
  | { type: 'clear' };

/** What a provider's messages of one call are. `sequence`: the number of each. */
export interface JsonMessages {
  onClear: CallStream['onClear'];
  bufferMsMax: number;
  /** The least that one message may carry. */
  payloadBytesMin: number;
  audio: Omit<AudioLayout, 'sequence'>;
  /** `next` gives the number of each message that has one. */
  opening(next: () => number): object[];
  /** Number of the first message that has one. */
  sequence: number;
  /** `event` of the gateway's audio. */
  audioEvent: string;
  key(key: string, sequence: number): object;
  played(mark: string, sequence: number): object;
  cleared?(sequence: number): object;
  stop?(sequence: number): object;
  /** Undefined: not of this stream, or nothing that the provider knows. */
  read(message: unknown): Sent | undefined;
}

export class JsonStream implements CallStream {
  readonly onClear: CallStream['onClear'];
  readonly bufferMsMax: number;
  readonly #of: JsonMessages;
  readonly #audio: AudioMessages;
  /** First two characters of the audio's event. */
  readonly #event: readonly [number, number];
  /** Where the payload begins in an audio message; 0 until the first has been checked. */
  #payloadAt = 0;

  constructor(of: JsonMessages) {
    this.#of = of;
    this.onClear = of.onClear;
    this.bufferMsMax = of.bufferMsMax;
    this.#audio = new AudioMessages({ ...of.audio, sequence: of.sequence });
    this.#event = [of.audioEvent.charCodeAt(0), of.audioEvent.charCodeAt(1)];
  }

  opening(): string[] {
    const messages = this.#of.opening(() => this.#audio.takeSequence());
    return messages.map((each) => JSON.stringify(each));
  }

  audio(payload: Uint8Array): Buffer {
    return this.#audio.next(payload);
  }

  key(key: string): string {
    return JSON.stringify(this.#of.key(key, this.#audio.takeSequence()));
  }

  played(mark: string): string {
    return JSON.stringify(this.#of.played(mark, this.#audio.takeSequence()));
  }

  cleared(): string | undefined {
    if (this.#of.cleared === undefined) return undefined;
    return JSON.stringify(this.#of.cleared(this.#audio.takeSequence()));
  }

  stop(): string | undefined {
    if (this.#of.stop === undefined) return undefined;
    return JSON.stringify(this.#of.stop(this.#audio.takeSequence()));
  }

  readText(chunk: Buffer, from: number, to: number, listener: GatewayListener): void {
    const usual = this.#usualPayload(chunk, from, to);
    if (usual >= 0) this.#readAudio(chunk, usual, to, listener);
    else this.#readWhole(chunk.toString('utf8', from, to), listener);
  }

  readBinary(_chunk: Buffer, _from: number, _to: number, listener: GatewayListener): void {
    listener.onFault();
  }

  /** Where the base64 begins of an audio message like the one that was checked; -1 for any other message. */
  #usualPayload(chunk: Buffer, from: number, to: number): number {
    const at = from + this.#payloadAt;
    if (this.#payloadAt === 0 || at >= to) return -1;
    const event = from + EVENT.length;
    if (chunk[event] !== this.#event[0] || chunk[event + 1] !== this.#event[1]) return -1;
    return isPayloadStart(chunk, at) ? at : -1;
  }

  #readAudio(chunk: Buffer, from: number, to: number, listener: GatewayListener): void {
    const end = chunk.indexOf(QUOTE, from);
    if (end < 0 || end > to) {
      listener.onFault();
      return;
    }
    const padding = Number(chunk[end - 1] === 0x3d) + Number(chunk[end - 2] === 0x3d);
    const bytes = ((end - from) / 4) * 3 - padding;
    if (bytes < this.#of.payloadBytesMin) {
      listener.onFault();
      return;
    }
    const count = Math.min(FRAMES_MAX, Math.round(bytes / FRAME_BYTES));
    for (let i = 0; i < count; i++) {
      markAt.byte = i * FRAME_BYTES;
      marks[i] = readMarkInBase64(chunk, from, markAt);
    }
    listener.onAudio(marks, count);
  }

  #readWhole(text: string, listener: GatewayListener): void {
    const sent = this.#of.read(parse(text));
    if (sent === undefined) {
      listener.onFault();
    } else if (sent.type === 'clear') {
      listener.onClear();
    } else if (sent.type === 'mark') {
      listener.onMark(sent.name);
    } else {
      const at = text.indexOf(PAYLOAD);
      if (at > 0 && text.startsWith(EVENT)) this.#payloadAt = at + PAYLOAD.length;
      const bytes = Buffer.from(`${sent.payload}"`, 'latin1');
      this.#readAudio(bytes, 0, bytes.length, listener);
    }
  }
}

function isPayloadStart(chunk: Buffer, at: number): boolean {
  // d":"
  return (
    chunk[at - 1] === QUOTE &&
    chunk[at - 2] === 0x3a &&
    chunk[at - 3] === QUOTE &&
    chunk[at - 4] === 0x64
  );
}

/** 20 ms of mu-law as JSON messages carry them. */
export function base64Of(mulaw: Uint8Array): Uint8Array {
  return Buffer.from(Buffer.from(mulaw).toString('base64'), 'latin1');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Reported as a fault.
  }
}
