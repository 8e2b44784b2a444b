// One phone call at a fake provider: its state, the person at the other end, and what that person hears. What moves the
// call on (documents or commands, webhooks) is each provider's.

import type { CallStatus } from '../../../src/model/provider.ts';
import type { Clock } from '../../../src/std/clock.ts';
import { Conferences } from './conferences.ts';
import { type LineEnd, MediaLine, type StreamWire, type TcpEnd } from './media-line.ts';
import { Mouth, Timeline, type Wanted } from './timeline.ts';

/** Statuses as this gateway names them, and `queued`. */
export type FakeStatus = 'queued' | CallStatus;

export interface FakeCallEvent {
  /** Wall clock, milliseconds since 1970. */
  at: number;
  type: string;
  detail: Record<string, unknown>;
}

export interface HostedCallOptions {
  clock: Clock;
  /** The provider's id of the call. */
  id: string;
  from: string;
  to: string;
  direction: 'inbound' | 'outbound';
}

export interface MediaTarget {
  /** As in the document or command, and where it is really reached. */
  url: string;
  reachUrl: string;
  headers: Record<string, string>;
  wire: StreamWire;
}

const terminal = new Set<FakeStatus>(['completed', 'busy', 'no-answer', 'failed', 'canceled']);
const DIGIT_GAP_MS = 200;

export class HostedCall {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly isOutbound: boolean;
  /** Everything that happened, oldest first. */
  readonly events: FakeCallEvent[] = [];
  /** Settles with the last status. */
  readonly ended: Promise<FakeStatus>;
  /** Where it is joined with others of its provider. */
  conferences = new Conferences();
  /** What machine detection will say of who answered, if it is asked. */
  answeredBy = 'human';
  /** Settles when the person decides about the ringing telephone. */
  readonly answerDecision: Promise<'in-progress' | 'busy' | 'no-answer' | 'failed'>;
  readonly #clock: Clock;
  readonly #heard = new Timeline();
  readonly #spoken = new Timeline();
  readonly #mouth = new Mouth();
  #status: FakeStatus = 'queued';
  #line: MediaLine | undefined;
  #resolveEnded: (status: FakeStatus) => void = () => undefined;
  #resolveAnswer: (status: 'in-progress' | 'busy' | 'no-answer' | 'failed') => void = () =>
    undefined;
  #watchers: { type: string; resolve: (event: FakeCallEvent) => void }[] = [];
  #answeredAt = 0;
  #endedAt = 0;
  #bufferedMsMax = 0;

  constructor(options: HostedCallOptions) {
    this.#clock = options.clock;
    this.id = options.id;
    this.from = options.from;
    this.to = options.to;
    this.isOutbound = options.direction === 'outbound';
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    this.answerDecision = new Promise((resolve) => {
      this.#resolveAnswer = resolve;
    });
  }

  get status(): FakeStatus {
    return this.#status;
  }

  get isOver(): boolean {
    return terminal.has(this.#status);
  }

  /** Whole seconds from the answer to the end; 0 if it was not answered. */
  get durationS(): number {
    return this.#answeredAt === 0 ? 0 : Math.round((this.#endedAt - this.#answeredAt) / 1_000);
  }

  get hasMedia(): boolean {
    return this.#line !== undefined;
  }

  /** What the person heard since the media began: mu-law, 8 bytes a millisecond, no gaps. A view. */
  get heard(): Uint8Array {
    return this.#heard.bytes;
  }

  /** What the person said, on the same time line. */
  get spoken(): Uint8Array {
    return this.#spoken.bytes;
  }

  /** Milliseconds of media so far. */
  get mediaMs(): number {
    return this.#heard.ms;
  }

  /** The most of our audio that ever waited at the provider, in milliseconds. */
  get bufferedMsMax(): number {
    return Math.max(this.#bufferedMsMax, (this.#line?.playout.bufferedBytesMax ?? 0) / 8);
  }

  /** Faults in what the gateway sent. */
  get faults(): FakeCallEvent[] {
    return this.events.filter(({ type }) => type === 'protocol-fault');
  }

  // What the person does

  /** Says 8 kHz samples in real time, after what is still being said. Settles when they are said. */
  say(samples: Int16Array): Promise<void> {
    if (this.isOver) return Promise.reject(new Error('the call ended first'));
    return this.#mouth.say(samples);
  }

  /** Says what is heard, as the echo test of an operator. */
  echo(): void {
    this.#mouth.echo();
  }

  /** Presses keys, one every 200 ms. */
  async pressDigits(digits: string): Promise<void> {
    for (const digit of digits) {
      this.pressDigit(digit);
      await this.pause(DIGIT_GAP_MS);
    }
  }

  hangUp(): void {
    this.tell('caller-hung-up');
    this.end('completed');
  }

  /** The person's answers to a telephone that rings for an outbound call. */
  answer(): void {
    this.#resolveAnswer('in-progress');
  }

  refuse(status: 'busy' | 'no-answer' | 'failed'): void {
    this.#resolveAnswer(status);
  }

  // What a test waits for

  /** Media time at which the person began to hear speech. */
  waitForSpeech(wanted: Wanted = {}): Promise<number> {
    return this.#heard.wait(true, wanted);
  }

  /** Media time at which silence began; by default it has to last 500 ms. */
  waitForSilence(wanted: Wanted = {}): Promise<number> {
    return this.#heard.wait(false, { forMs: 500, ...wanted });
  }

  isHearingSpeechAt(mediaMs: number): boolean {
    return this.#heard.isSpeechAt(mediaMs);
  }

  /** The next event of this type, or the first that has already happened. */
  waitFor(type: string): Promise<FakeCallEvent> {
    const past = this.events.find((event) => event.type === type);
    if (past !== undefined) return Promise.resolve(past);
    return new Promise((resolve) => this.#watchers.push({ type, resolve }));
  }

  /** Settles when all status callbacks have been answered. */
  callbacksSettled(): Promise<void> {
    return Promise.resolve();
  }

  // What the provider does

  tell(type: string, detail: Record<string, unknown> = {}): void {
    const event = { at: this.#clock.now(), type, detail };
    this.events.push(event);
    const woken = this.#watchers.filter((watcher) => watcher.type === type);
    this.#watchers = this.#watchers.filter((watcher) => watcher.type !== type);
    for (const { resolve } of woken) resolve(event);
  }

  /** Moves the call on, and announces it. */
  become(status: FakeStatus): void {
    if (this.isOver || status === this.#status) return;
    this.#status = status;
    if (status === 'in-progress') this.#answeredAt = this.#clock.now();
    if (this.isOver) this.#endedAt = this.#clock.now();
    this.tell(status);
    this.announce(status);
    if (this.isOver) this.#resolveEnded(status);
  }

  end(status: FakeStatus): void {
    if (this.isOver) return;
    this.#resolveAnswer('no-answer');
    this.leaveMedia();
    this.#mouth.end();
    this.become(status);
    this.#heard.end();
    this.#spoken.end();
  }

  /** Opens the media socket; settles with how it ended. The call goes on. */
  async connectMedia({ url, reachUrl, headers, wire }: MediaTarget): Promise<LineEnd> {
    const line = new MediaLine({
      clock: this.#clock,

      url,
      reachUrl,
      headers,
      wire,
      heard: this.#heard,
      spoken: this.#spoken,
      mouth: this.#mouth,
      tell: (type, detail) => this.tell(type, detail),
    });
    this.#line = line;
    const how = await line.ended;
    this.#bufferedMsMax = this.bufferedMsMax;
    if (this.#line === line) this.#line = undefined;
    return how;
  }

  leaveMedia(): void {
    this.#line?.stop();
  }

  /** The provider's media end stands still, so that nothing is on its way to the gateway. */
  standStill(): void {
    this.#line?.standStill();
  }

  /** The provider loses its media socket without a word; the call goes on as its document or its commands say. */
  loseMedia(how: TcpEnd): void {
    this.#line?.breakOff(how);
  }

  /** Signals a key over the media socket. A provider that signals keys otherwise overrides it. */
  protected pressDigit(digit: string): void {
    this.#line?.pressDigit(digit);
  }

  /** Sends the status webhook that was asked for, if any. */
  protected announce(_status: FakeStatus): void {
    // Nobody asked for webhooks.
  }

  protected pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#clock.after(ms, resolve);
    });
  }
}
