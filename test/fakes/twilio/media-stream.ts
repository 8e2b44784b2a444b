// Twilio's end of one media stream: connects to the gateway, sends the caller's voice in real time and
// plays what comes back, one frame every 20 ms of a clock that does not drift.

import twilio from 'twilio';
import { WebSocket } from 'ws';
import { z } from 'zod';
import type { Clock, Timer } from '../../../src/std/clock.ts';
import { FRAME_BYTES, Playout } from './playout.ts';
import { FRAME_MS, type Mouth, type Timeline } from './timeline.ts';

/** From the upgrade request to its answer; Twilio gives up about then. */
const CONNECT_MS = 5_000;
/** Frames that are made up at once after a stall of this process. */
const CATCH_UP_FRAMES_MAX = 500;

const incoming = z.discriminatedUnion('event', [
  z.object({
    event: z.literal('media'),
    streamSid: z.string(),
    media: z.object({ payload: z.base64() }),
  }),
  z.object({
    event: z.literal('mark'),
    streamSid: z.string(),
    mark: z.object({ name: z.string() }),
  }),
  z.object({ event: z.literal('clear'), streamSid: z.string() }),
]);

export interface StreamOptions {
  clock: Clock;
  /** As in the markup, and where it is really reached. */
  url: string;
  reachUrl: string;
  authToken: string;
  accountSid: string;
  callSid: string;
  streamSid: string;
  parameters: Record<string, string>;
  heard: Timeline;
  spoken: Timeline;
  mouth: Mouth;
  /** What happened, for the call's list of events. */
  tell: (type: string, detail?: Record<string, unknown>) => void;
}

export class MediaStream {
  readonly playout = new Playout();
  /** How the socket ended: by the gateway, by us, or it never opened. */
  readonly ended: Promise<'gateway' | 'caller' | 'failed'>;
  readonly #options: StreamOptions;
  readonly #ws: WebSocket;
  #resolveEnded: (how: 'gateway' | 'caller' | 'failed') => void = () => undefined;
  #ticker: Timer | undefined;
  #startedMs = 0;
  #frames = 0;
  #sequence = 0;
  #leaving = false;
  readonly #frame = new Uint8Array(FRAME_BYTES);

  constructor(options: StreamOptions) {
    this.#options = options;
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    const { url, reachUrl, authToken } = options;
    this.#ws = new WebSocket(reachUrl, {
      perMessageDeflate: false,
      handshakeTimeout: CONNECT_MS,
      headers: {
        ['X-Twilio-Signature']: twilio.getExpectedTwilioSignature(authToken, url, {}),
        ['User-Agent']: 'Twilio.TmeWs/1.0',
      },
    });
    this.#ws.on('open', () => this.#open());
    this.#ws.on('message', (data: Buffer, isBinary) => this.#receive(data, isBinary));
    this.#ws.on('error', (error) => options.tell('stream-error', { message: error.message }));
    this.#ws.on('close', (code, reason) => this.#close(code, reason.toString()));
  }

  pressDigit(digit: string): void {
    this.#send({ event: 'dtmf', dtmf: { track: 'inbound_track', digit } });
  }

  /** The call has ended, or goes on without the stream. */
  stop(): void {
    if (this.#leaving) return;
    this.#leaving = true;
    const { accountSid, callSid } = this.#options;
    this.#send({ event: 'stop', stop: { accountSid, callSid } });
    this.#ws.close(1000);
    this.#options.clock.after(1_000, () => this.#ws.terminate());
  }

  #open(): void {
    const { accountSid, callSid, streamSid, parameters, clock, tell } = this.#options;
    this.#ws.send(JSON.stringify({ event: 'connected', protocol: 'Call', version: '1.0.0' }));
    this.#send({
      event: 'start',
      start: {
        accountSid,
        streamSid,
        callSid,
        tracks: ['inbound'],
        mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
        customParameters: parameters,
      },
    });
    tell('stream-started', { url: this.#options.url });
    this.#startedMs = clock.monotonicMs();
    this.#wait();
  }

  /** Sleeps until the next frame is due, counted from the start and not from the last frame. */
  #wait(): void {
    const { clock } = this.#options;
    const dueMs = this.#startedMs + (this.#frames + 1) * FRAME_MS;
    this.#ticker = clock.after(Math.max(0, dueMs - clock.monotonicMs()), () => this.#tick());
  }

  #tick(): void {
    const passedMs = this.#options.clock.monotonicMs() - this.#startedMs;
    const due = Math.floor(passedMs / FRAME_MS) - this.#frames;
    for (let i = 0; i < Math.min(due, CATCH_UP_FRAMES_MAX); i++) this.#step();
    if (this.#ws.readyState === WebSocket.OPEN) this.#wait();
  }

  #step(): void {
    const { heard, spoken, mouth } = this.#options;
    for (const name of this.playout.reached()) this.#echo(name);
    this.playout.play(this.#frame);
    heard.append(this.#frame);
    mouth.fill(this.#frame);
    spoken.append(this.#frame);
    const payload = Buffer.from(this.#frame).toString('base64');
    this.#frames += 1;
    this.#send({
      event: 'media',
      media: {
        track: 'inbound',
        chunk: String(this.#frames),
        timestamp: String((this.#frames - 1) * FRAME_MS),
        payload,
      },
    });
  }

  #receive(data: Buffer, isBinary: boolean): void {
    const { tell, streamSid, heard } = this.#options;
    const message = isBinary ? undefined : incoming.safeParse(safeJson(data.toString()));
    if (!message?.success || message.data.streamSid !== streamSid) {
      tell('protocol-fault', { message: data.toString().slice(0, 200) });
      return;
    }
    switch (message.data.event) {
      case 'media':
        if (!this.playout.push(Buffer.from(message.data.media.payload, 'base64'))) {
          tell('protocol-fault', { message: 'more than ten minutes of audio' });
        }
        break;
      case 'mark':
        if (this.playout.mark(message.data.mark.name)) this.#echo(message.data.mark.name);
        break;
      case 'clear':
        tell('clear', { mediaMs: heard.ms, droppedMs: this.playout.bufferedBytes / 8 });
        for (const name of this.playout.clear()) this.#echo(name);
        break;
    }
  }

  #echo(name: string): void {
    this.#options.tell('mark', { name, mediaMs: this.#options.heard.ms });
    this.#send({ event: 'mark', mark: { name } });
  }

  #send(message: { event: string; [part: string]: unknown }): void {
    if (this.#ws.readyState !== WebSocket.OPEN) return;
    const { event, ...parts } = message;
    this.#sequence += 1;
    const { streamSid } = this.#options;
    this.#ws.send(
      JSON.stringify({ event, sequenceNumber: String(this.#sequence), ...parts, streamSid }),
    );
  }

  #close(code: number, reason: string): void {
    this.#ticker?.cancel();
    this.#options.tell('stream-stopped', { code, reason, mediaMs: this.#options.heard.ms });
    const opened = this.#startedMs > 0;
    this.#resolveEnded(this.#leaving ? 'caller' : opened ? 'gateway' : 'failed');
  }
}

function safeJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Reported as a fault of the protocol.
  }
}
