// A provider's end of one media socket: connects to the gateway, sends the caller's voice in real time and
// plays what comes back, one frame every 20 ms of a clock that does not drift. The messages are each provider's
// (`StreamWire`).

import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import type { Clock, Timer } from '../../../src/std/clock.ts';
import { FRAME_BYTES, Playout } from './playout.ts';
import { FRAME_MS, type Mouth, type Timeline } from './timeline.ts';

/** From the upgrade request to its answer; providers give up about then. */
const CONNECT_MS = 5_000;
/** Frames that are made up at once after a stall of this process. */
const CATCH_UP_FRAMES_MAX = 500;

/** What the gateway sent, as far as the provider acts on it. Audio is mu-law at 8 kHz here, whatever it was. */
export type GatewayMessage =
  | { type: 'audio'; mulaw: Uint8Array }
  | { type: 'mark'; name: string }
  | { type: 'clear' }
  /** The gateway asks for the end of the stream. */
  | { type: 'stop' }
  | { type: 'fault'; message: string };

/** One stream's messages. */
export interface StreamWire {
  /** Sent when the socket opens. */
  opening(): readonly (string | Uint8Array)[];
  /** `frame`: 160 bytes of mu-law, the caller's 20 ms; the `index`th, from 0. */
  audio(frame: Uint8Array, index: number): string | Uint8Array;
  /** Undefined where keys are not signalled over the socket. */
  digit(digit: string): string | undefined;
  /** The mark was reached. */
  mark(name: string): string;
  /** What becomes of pending marks after a clear, and how it is acknowledged. */
  onClear: 'echo-marks' | 'drop-marks';
  cleared(): string | undefined;
  /** Undefined where the socket is just closed. */
  stop(): string | undefined;
  read(data: Buffer, isBinary: boolean): GatewayMessage;
  /** The most that the provider buffers, in milliseconds. Default: ten minutes. */
  bufferMsMax?: number;
}

/** How a connection that nobody closed by a message ended: the end of the stream, or a reset. */
export type TcpEnd = 'FIN' | 'RST';

/** By the gateway, by us, or it never opened. */
export type LineEnd = 'gateway' | 'caller' | 'failed';

export interface MediaLineOptions {
  clock: Clock;
  url: string;
  reachUrl: string;
  headers: Record<string, string>;
  wire: StreamWire;
  heard: Timeline;
  spoken: Timeline;
  mouth: Mouth;
  /** What happened, for the call's list of events. */
  tell: (type: string, detail?: Record<string, unknown>) => void;
}

export class MediaLine {
  readonly playout: Playout;
  readonly ended: Promise<LineEnd>;
  readonly #options: MediaLineOptions;
  readonly #ws: WebSocket;
  #resolveEnded: (how: LineEnd) => void = () => undefined;
  #ticker: Timer | undefined;
  #startedMs = 0;
  #frames = 0;
  #leaving = false;
  #isStill = false;
  #socket: Socket | undefined;
  /** What ended the connection first. */
  #tcpEnd: TcpEnd | undefined;
  readonly #frame = new Uint8Array(FRAME_BYTES);

  constructor(options: MediaLineOptions) {
    this.#options = options;
    const { bufferMsMax } = options.wire;
    this.playout = bufferMsMax === undefined ? new Playout() : new Playout(bufferMsMax * 8);
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    this.#ws = new WebSocket(options.reachUrl, {
      perMessageDeflate: false,
      handshakeTimeout: CONNECT_MS,
      headers: options.headers,
    });
    this.#ws.on('upgrade', ({ socket }) => this.#follow(socket));
    this.#ws.on('open', () => this.#open());
    this.#ws.on('message', (data: Buffer, isBinary) => this.#receive(data, isBinary));
    this.#ws.on('error', (error) => options.tell('stream-error', { message: error.message }));
    this.#ws.on('close', (code, reason) => this.#close(code, reason.toString()));
  }

  pressDigit(digit: string): void {
    this.#send(this.#options.wire.digit(digit));
  }

  /** The call has ended, or goes on without the stream. */
  stop(): void {
    if (this.#leaving) return;
    this.#leaving = true;
    this.#send(this.#options.wire.stop());
    this.#ws.close(1000);
    this.#options.clock.after(1_000, () => this.#ws.terminate());
  }

  /** The provider's media end stands still: it sends nothing, and plays nothing. */
  standStill(): void {
    this.#isStill = true;
  }

  /** The connection ends at the provider without a word, and the call goes on. */
  breakOff(how: TcpEnd): void {
    this.#isStill = true;
    if (how === 'FIN') this.#socket?.end();
    else this.#socket?.resetAndDestroy();
  }

  #follow(socket: Socket): void {
    this.#socket = socket;
    socket.once('end', () => {
      this.#tcpEnd ??= 'FIN';
    });
    socket.once('error', () => {
      this.#tcpEnd ??= 'RST';
    });
  }

  #open(): void {
    const { clock, tell, wire, url } = this.#options;
    for (const message of wire.opening()) this.#send(message);
    tell('stream-started', { url });
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
    if (this.#isStill) return;
    const passedMs = this.#options.clock.monotonicMs() - this.#startedMs;
    const due = Math.floor(passedMs / FRAME_MS) - this.#frames;
    for (let i = 0; i < Math.min(due, CATCH_UP_FRAMES_MAX); i++) this.#step();
    if (this.#ws.readyState === WebSocket.OPEN) this.#wait();
  }

  #step(): void {
    const { heard, spoken, mouth, wire } = this.#options;
    for (const name of this.playout.reached()) this.#return(name);
    this.playout.play(this.#frame);
    heard.append(this.#frame);
    mouth.fill(this.#frame);
    spoken.append(this.#frame);
    this.#send(wire.audio(this.#frame, this.#frames));
    this.#frames += 1;
  }

  #receive(data: Buffer, isBinary: boolean): void {
    const { tell, heard, wire } = this.#options;
    const message = wire.read(data, isBinary);
    switch (message.type) {
      case 'audio':
        if (!this.playout.push(message.mulaw)) {
          tell('protocol-fault', { message: 'more audio than the provider buffers' });
        }
        break;
      case 'mark':
        if (this.playout.mark(message.name)) this.#return(message.name);
        break;
      case 'clear':
        tell('clear', { mediaMs: heard.ms, droppedMs: this.playout.bufferedBytes / 8 });
        this.#clear();
        break;
      case 'stop':
        this.stop();
        break;
      case 'fault':
        tell('protocol-fault', { message: message.message });
    }
  }

  #clear(): void {
    const { wire } = this.#options;
    const pending = this.playout.clear();
    if (wire.onClear === 'echo-marks') for (const name of pending) this.#return(name);
    this.#send(wire.cleared());
  }

  #return(name: string): void {
    this.#options.tell('mark', { name, mediaMs: this.#options.heard.ms });
    this.#send(this.#options.wire.mark(name));
  }

  #send(message: string | Uint8Array | undefined): void {
    if (message === undefined || this.#isStill) return;
    if (this.#ws.readyState === WebSocket.OPEN) this.#ws.send(message);
  }

  #close(code: number, reason: string): void {
    this.#ticker?.cancel();
    const { heard, tell } = this.#options;
    tell('stream-stopped', { code, reason, tcpEnd: this.#tcpEnd, mediaMs: heard.ms });
    const opened = this.#startedMs > 0;
    this.#resolveEnded(this.#leaving ? 'caller' : opened ? 'gateway' : 'failed');
  }
}

/** A message that is none. */
export function fault(data: Buffer): GatewayMessage {
  return { type: 'fault', message: data.toString('latin1').slice(0, 200) };
}

export function jsonOf(data: Buffer): unknown {
  try {
    return JSON.parse(data.toString());
  } catch {
    return undefined; // Reported as a fault of the protocol.
  }
}
