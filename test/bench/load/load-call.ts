// One lean simulated call for load measurements: the provider's side of Media Streams with as little work
// per frame as possible. It sends prepared 20 ms messages and notes when the gateway's frames arrive.

import { WebSocket } from 'ws';

/** What one call saw from outside. Times are milliseconds. */
export interface LoadCallResult {
  framesReceived: number;
  /** How far behind the steady 20 ms grid each frame arrived. */
  lateness: Float64Array;
  closeCode: number;
}

const FRAME_MS = 20;
/** Frames at the start of an utterance that come ahead of time (the lead). */
const LEAD_FRAMES = 12;
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

/** Splits arrivals into utterances and measures each steady frame against the earliest 20 ms grid. */
export function latenessOf(arrivals: readonly number[]): Float64Array {
  const late: number[] = [];
  let from = 0;
  for (let i = 1; i <= arrivals.length; i++) {
    const gap = (arrivals[i] ?? Number.POSITIVE_INFINITY) - (arrivals[i - 1] ?? 0);
    if (gap < PAUSE_MS) continue;
    late.push(...gridLateness(arrivals.slice(from + LEAD_FRAMES, i)));
    from = i;
  }
  return Float64Array.from(late);
}

function gridLateness(steady: readonly number[]): number[] {
  const offsets = steady.map((at, i) => at - i * FRAME_MS);
  const earliest = Math.min(...offsets);
  return offsets.map((offset) => offset - earliest);
}
