// One phone call at the fake: its state, the person at the other end, and the markup that drives it.

import type { Clock } from '../../../src/std/clock.ts';
import { readTwiml, type Verb } from './markup.ts';
import { MediaStream } from './media-stream.ts';
import { Mouth, Timeline, type Wanted } from './timeline.ts';
import { type Mischief, StatusCallbacks, type WebhookSender } from './webhooks.ts';

export type FakeStatus =
  | 'queued'
  | 'initiated'
  | 'ringing'
  | 'in-progress'
  | 'completed'
  | 'busy'
  | 'no-answer'
  | 'failed'
  | 'canceled';

export interface FakeCallEvent {
  /** Wall clock, milliseconds since 1970. */
  at: number;
  type: string;
  detail: Record<string, unknown>;
}

/** Where one call's news goes. */
export interface StatusTarget {
  url: string;
  events: readonly string[];
}

export interface FakeCallOptions {
  clock: Clock;
  sender: WebhookSender;
  reach: (url: string) => string;
  accountSid: string;
  authToken: string;
  sid: string;
  from: string;
  to: string;
  direction: 'inbound' | 'outbound-api';
  statusTarget: StatusTarget | null;
  mischief: Mischief;
  /** How long a character of <Say> takes. */
  sayMsPerCharacter: number;
}

const terminal = new Set<FakeStatus>(['completed', 'busy', 'no-answer', 'failed', 'canceled']);
/** The word of StatusCallbackEvent for a status. */
const eventOf: Partial<Record<FakeStatus, string>> = {
  initiated: 'initiated',
  ringing: 'ringing',
  'in-progress': 'answered',
};
const DIGIT_GAP_MS = 200;

export class FakeCall {
  readonly sid: string;
  readonly from: string;
  readonly to: string;
  readonly direction: 'inbound' | 'outbound-api';
  /** Everything that happened, oldest first. */
  readonly events: FakeCallEvent[] = [];
  /** Settles with the last status. */
  readonly ended: Promise<FakeStatus>;
  /** What AMD will say of who answered, if it is asked. */
  answeredBy = 'human';
  readonly #options: FakeCallOptions;
  readonly #heard = new Timeline();
  readonly #spoken = new Timeline();
  readonly #mouth = new Mouth();
  readonly #callbacks: StatusCallbacks;
  #status: FakeStatus = 'queued';
  #stream: MediaStream | undefined;
  #resolveEnded: (status: FakeStatus) => void = () => undefined;
  #resolveAnswer: (status: 'in-progress' | 'busy' | 'no-answer' | 'failed') => void = () =>
    undefined;
  #watchers: { type: string; resolve: (event: FakeCallEvent) => void }[] = [];
  /** Grows with each document, so that a redirect stops the one before. */
  #document = 0;
  #answeredAt = 0;
  #endedAt = 0;
  #streams = 0;
  #bufferedMsMax = 0;
  /** Settles when the person decides about the ringing telephone. */
  readonly answerDecision: Promise<'in-progress' | 'busy' | 'no-answer' | 'failed'>;

  constructor(options: FakeCallOptions) {
    this.#options = options;
    this.sid = options.sid;
    this.from = options.from;
    this.to = options.to;
    this.direction = options.direction;
    this.#callbacks = new StatusCallbacks(options.sender, options.mischief);
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
    return Math.max(this.#bufferedMsMax, (this.#stream?.playout.bufferedBytesMax ?? 0) / 8);
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

  /** Presses keys, one every 200 ms. */
  async pressDigits(digits: string): Promise<void> {
    for (const digit of digits) {
      this.#stream?.pressDigit(digit);
      await this.#pause(DIGIT_GAP_MS);
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
    return this.#callbacks.settled();
  }

  // What Twilio does

  tell(type: string, detail: Record<string, unknown> = {}): void {
    const event = { at: this.#options.clock.now(), type, detail };
    this.events.push(event);
    const woken = this.#watchers.filter((watcher) => watcher.type === type);
    this.#watchers = this.#watchers.filter((watcher) => watcher.type !== type);
    for (const { resolve } of woken) resolve(event);
  }

  /** Moves the call on and sends the callback that was asked for. */
  become(status: FakeStatus): void {
    if (this.isOver || status === this.#status) return;
    this.#status = status;
    if (status === 'in-progress') this.#answeredAt = this.#options.clock.now();
    if (this.isOver) this.#endedAt = this.#options.clock.now();
    this.tell(status);
    const { statusTarget } = this.#options;
    const event = terminal.has(status) ? 'completed' : (eventOf[status] ?? '');
    if (statusTarget?.events.includes(event)) {
      const length = this.isOver ? { ['CallDuration']: String(this.durationS) } : {};
      this.#callbacks.send(statusTarget.url, { ...this.fields(), ...length }, this.isOver);
    }
    if (this.isOver) this.#resolveEnded(status);
  }

  end(status: FakeStatus): void {
    if (this.isOver) return;
    this.#document += 1;
    this.#resolveAnswer('no-answer');
    this.#leaveStream();
    this.#mouth.end();
    this.become(status);
    this.#heard.end();
    this.#spoken.end();
  }

  /** The fields that every webhook about this call carries. */
  fields(): Record<string, string> {
    const { accountSid } = this.#options;
    return {
      ['CallSid']: this.sid,
      ['AccountSid']: accountSid,
      ['From']: this.from,
      ['To']: this.to,
      ['Caller']: this.from,
      ['Called']: this.to,
      ['CallStatus']: this.#status,
      ['Direction']: this.direction,
      ['ApiVersion']: '2010-04-01',
    };
  }

  /** Fetches a document and carries it out; whatever ran before is over. */
  async follow(url: string): Promise<void> {
    const { status, body } = await this.#options.sender.post(url, this.fields());
    this.tell('document', { url, status, body });
    if (status !== 200) {
      this.tell('application-error', { status });
      this.end(this.#status === 'in-progress' ? 'completed' : 'failed');
      return;
    }
    await this.run(body);
  }

  /** Carries a document out, to its end or until another takes its place. */
  async run(document: string): Promise<void> {
    this.#document += 1;
    const mine = this.#document;
    this.#leaveStream();
    let verbs: Verb[];
    try {
      verbs = readTwiml(document);
    } catch (error) {
      this.tell('protocol-fault', { message: String(error) });
      this.end('failed');
      return;
    }
    for (const verb of verbs) {
      if (this.#document !== mine) return;
      await this.#perform(verb);
    }
    if (this.#document === mine) this.end('completed');
  }

  async #perform(verb: Verb): Promise<void> {
    if (verb.verb !== 'Reject') this.become('in-progress');
    switch (verb.verb) {
      case 'Reject':
        this.end(verb.reason === 'busy' ? 'busy' : 'no-answer');
        break;
      case 'Hangup':
        this.end('completed');
        break;
      case 'Say':
        this.tell('said', { text: verb.text });
        await this.#pause(verb.text.length * this.#options.sayMsPerCharacter);
        break;
      case 'Pause':
        this.tell('paused', { seconds: verb.seconds });
        await this.#pause(verb.seconds * 1_000);
        break;
      case 'Dial':
        this.tell('dialed', { to: verb.to, callerId: verb.callerId, ringS: verb.ringS });
        await this.ended; // The other leg stays until the person hangs up.
        break;
      case 'Stream':
        await this.#connect(verb.url, verb.parameters);
        break;
    }
  }

  async #connect(url: string, parameters: Record<string, string>): Promise<void> {
    const { clock, reach, authToken, accountSid } = this.#options;
    this.#streams += 1;
    const stream = new MediaStream({
      clock,
      url,
      reachUrl: reach(url),
      authToken,
      accountSid,
      callSid: this.sid,
      streamSid: `MZ${this.#streams.toString(16).padStart(2, '0')}${this.sid.slice(4)}`,
      parameters,
      heard: this.#heard,
      spoken: this.#spoken,
      mouth: this.#mouth,
      tell: (type, detail) => this.tell(type, detail),
    });
    this.#stream = stream;
    await stream.ended;
    this.#bufferedMsMax = this.bufferedMsMax;
    if (this.#stream === stream) this.#stream = undefined;
  }

  #leaveStream(): void {
    this.#stream?.stop();
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#options.clock.after(ms, resolve);
    });
  }
}
