// A page with a call, as far as the gateway sees it: the media socket of docs/web-calls.md, a microphone that never stops,
// and a ring that plays in real time. Its clock is the timer's: what is late is made up for.

import WebSocket from 'ws';

const FRAME_MS = 20;
/** The ring begins to play with that much audio. */
const FIRST_MS = 60;

export interface BrowserOptions {
  url: string;
  token: string;
  origin?: string;
  rate?: 8000 | 16000;
  /** Does not send `hello` by itself. */
  isSilent?: boolean;
}

export type BrowserMessage = Record<string, unknown> & { type: string };

export class FakeBrowser {
  /** Messages of the gateway, without audio. */
  readonly messages: BrowserMessage[] = [];
  /** Samples that came, and samples that were played. */
  received = 0;
  played = 0;
  /** Marks in the order in which they were returned, with the samples that came before them and were played by then. */
  readonly marks: { name: string; dueAt: number; playedAt: number }[] = [];
  /** Length of the ring in milliseconds at each clear. */
  readonly clearedMs: number[] = [];
  closed: { code: number; reason: string } | undefined;
  /** Called every 20 ms with what is heard; borrowed. */
  onFrame: (frame: Int16Array) => void = () => undefined;
  readonly #socket: WebSocket;
  readonly #frameSamples: number;
  #ring: Int16Array[] = [];
  #isPlaying = false;
  #waiting: { name: string; dueAt: number }[] = [];
  #speech: Int16Array = new Int16Array(0);
  /** Sends no microphone audio. */
  isStill = false;
  #timer: NodeJS.Timeout | undefined;
  #startMs = 0;
  #ticks = 0;

  private constructor({ url, token, origin, rate = 16_000 }: BrowserOptions) {
    this.#frameSamples = rate / 50;
    const options = origin === undefined ? {} : { origin };
    this.#socket = new WebSocket(url, ['patchbay.v1', `token.${token}`], options);
    this.#socket.binaryType = 'nodebuffer';
    this.#socket.on('message', (data: Buffer, isBinary) => {
      if (isBinary) this.#take(data);
      else this.#read(JSON.parse(data.toString()));
    });
    this.#socket.on('close', (code, reason) => {
      clearInterval(this.#timer);
      this.closed = { code, reason: reason.toString() };
    });
  }

  /** Settles when the socket is open. Rejects with the status of a refusal, as ws does. */
  static async open(options: BrowserOptions): Promise<FakeBrowser> {
    const browser = new FakeBrowser(options);
    await new Promise<void>((resolve, reject) => {
      browser.#socket.once('open', resolve);
      browser.#socket.once('error', reject);
    });
    browser.#socket.on('error', () => undefined); // Its close is reported.
    if (options.isSilent !== true) browser.#begin(options.rate ?? 16_000);
    return browser;
  }

  get protocol(): string {
    return this.#socket.protocol;
  }

  of(type: string): BrowserMessage[] {
    return this.messages.filter((each) => each.type === type);
  }

  /** Says samples of 8 kHz. */
  say(samples: Int16Array): void {
    const factor = this.#frameSamples / 160;
    const wide = new Int16Array(samples.length * factor);
    for (let i = 0; i < wide.length; i++) wide[i] = samples[Math.floor(i / factor)] as number;
    this.#speech = wide;
  }

  send(message: unknown): void {
    this.#socket.send(JSON.stringify(message));
  }

  sendRaw(data: Buffer | string): void {
    this.#socket.send(data);
  }

  /** The connection breaks, without a closing handshake. */
  breakOff(): void {
    this.#socket.terminate();
  }

  close(): void {
    this.#socket.close(1000);
  }

  #begin(rate: number): void {
    this.send({ type: 'hello', rate, echo: true, out_ms: 30, ua: 'fake' });
    this.#startMs = performance.now();
    this.#timer = setInterval(() => {
      const due = (performance.now() - this.#startMs) / FRAME_MS;
      for (; this.#ticks < due; this.#ticks += 1) this.#tick();
    }, FRAME_MS / 2);
  }

  #tick(): void {
    if (!this.isStill && this.#socket.readyState === WebSocket.OPEN) {
      const frame = Buffer.alloc(this.#frameSamples * 2);
      const words = this.#speech.subarray(0, this.#frameSamples);
      this.#speech = this.#speech.subarray(this.#frameSamples);
      words.forEach((sample, i) => void frame.writeInt16LE(sample, i * 2));
      this.#socket.send(frame);
    }
    this.onFrame(this.#play());
  }

  #play(): Int16Array {
    const frame = new Int16Array(this.#frameSamples);
    if (this.#ring.length * FRAME_MS >= FIRST_MS) this.#isPlaying = true;
    const next = this.#isPlaying ? this.#ring.shift() : undefined;
    if (next === undefined) this.#isPlaying = false;
    else {
      frame.set(next);
      this.played += next.length;
    }
    while (this.#waiting[0] !== undefined && this.#waiting[0].dueAt <= this.played) {
      const { name, dueAt } = this.#waiting.shift() as { name: string; dueAt: number };
      this.marks.push({ name, dueAt, playedAt: this.played });
      this.send({ type: 'mark', name, at_frame: this.played });
    }
    // The end of an utterance may be shorter than what the ring waits for.
    if (this.#ring.length > 0 && this.#waiting.length > 0) this.#isPlaying = true;
    return frame;
  }

  #take(data: Buffer): void {
    const bytes = this.#frameSamples * 2;
    if (data.length % bytes !== 0) throw new Error(`audio of ${data.length} bytes`);
    this.received += data.length / 2;
    for (let at = 0; at < data.length; at += bytes) {
      const frame = new Int16Array(this.#frameSamples);
      for (let i = 0; i < frame.length; i++) frame[i] = data.readInt16LE(at + i * 2);
      this.#ring.push(frame);
    }
  }

  #read(message: BrowserMessage): void {
    this.messages.push(message);
    if (message.type === 'mark') {
      this.#waiting.push({ name: String(message['name']), dueAt: this.received });
    } else if (message.type === 'clear') {
      this.clearedMs.push(this.#ring.length * FRAME_MS);
      this.received = this.played;
      this.#ring = [];
      this.#waiting = [];
      this.#isPlaying = false;
    }
  }
}
