// One lean simulated call for load measurements: the provider's side of Media Streams with as little work
// per frame as possible. It sends prepared 20 ms messages and notes when the gateway's frames arrive.

import { WebSocket } from 'ws';

/** What one call saw from outside. Times are milliseconds. */
export interface LoadCallResult {
  framesReceived: number;
  /** How far behind its time each frame arrived: see `latenessOf`. */
  lateness: Float64Array;
  closeCode: number;
}

const FRAME_MS = 20;
/** Frames that the gateway aims to be ahead of real time (its lead of 100 ms). */
const LEAD_FRAMES = 5;
/** A pause longer than this separates utterances. */
const PAUSE_MS = 200;

export class LoadCall {
  readonly #socket: WebSocket;
  readonly #streamSid: string;
  readonly #arrivals: number[] = [];
  #sequence = 2;
  #open = false;
  #closeCode = 0;
  readonly closed: Promise<void>;

  constructor(options: {
    url: string;
    signature: string;
    callSid: string;
    accountSid: string;
    now: () => number;
  }) {
    this.#streamSid = `MZ${options.callSid.slice(2)}`;
    this.#socket = new WebSocket(options.url, {
      headers: { 'x-twilio-signature': options.signature },
      perMessageDeflate: false,
    });
    this.#socket.on('open', () => {
      this.#open = true;
      this.#socket.send('{"event":"connected","protocol":"Call","version":"1.0.0"}');
      this.#socket.send(this.#start(options));
    });
    this.#socket.on('message', (data: Buffer) => this.#receive(data, options.now));
    this.closed = new Promise((resolve) => {
      this.#socket.on('close', (code) => {
        this.#open = false;
        this.#closeCode = code;
        resolve();
      });
      this.#socket.on('error', () => undefined);
    });
  }

  /** Sends one 20 ms frame whose base64 is `payload`. */
  send(payload: string, frame: number): void {
    if (!this.#open) return;
    this.#sequence += 1;
    this.#socket.send(
      `{"event":"media","sequenceNumber":"${this.#sequence}","streamSid":"${this.#streamSid}","media":{"track":"inbound","chunk":"${frame + 1}","timestamp":"${frame * FRAME_MS}","payload":"${payload}"}}`,
    );
  }

  hangUp(): void {
    if (!this.#open) return;
    this.#socket.send(`{"event":"stop","sequenceNumber":"9","streamSid":"${this.#streamSid}"}`);
    this.#socket.close(1000);
  }

  result(): LoadCallResult {
    return {
      framesReceived: this.#arrivals.length,
      lateness: latenessOf(this.#arrivals),
      closeCode: this.#closeCode,
    };
  }

  #start({ callSid, accountSid }: { callSid: string; accountSid: string }): string {
    const streamSid = this.#streamSid;
    return JSON.stringify({
      event: 'start',
      sequenceNumber: '1',
      streamSid,
      start: {
        accountSid,
        streamSid,
        callSid,
        tracks: ['inbound'],
        mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
        customParameters: {},
      },
    });
  }

  #receive(data: Buffer, now: () => number): void {
    if (isMedia(data)) {
      this.#arrivals.push(now());
      return;
    }
    // Marks are echoed at once: this far end has no buffer of its own to play out.
    const text = data.toString();
    if (text.includes('"mark"')) this.#socket.send(text);
  }
}

function isMedia(data: Buffer): boolean {
  return data.length > 100 && data.includes('"media"');
}

/** Splits arrivals into utterances. An utterance's first frames come at once, as its lead; each one after
 *  them is due 20 ms after the one before, counted from the first, and late by what it comes later. */
export function latenessOf(arrivals: readonly number[]): Float64Array {
  const late = new Float64Array(arrivals.length);
  let first = 0;
  for (let i = 0; i < arrivals.length; i++) {
    const at = arrivals[i] ?? 0;
    if (i > 0 && at - (arrivals[i - 1] ?? 0) >= PAUSE_MS) first = i;
    const dueAt = (arrivals[first] ?? 0) + Math.max(0, i - first + 1 - LEAD_FRAMES) * FRAME_MS;
    late[i] = Math.max(0, at - dueAt);
  }
  return late;
}
