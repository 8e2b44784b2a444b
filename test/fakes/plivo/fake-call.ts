// One phone call at the fake Plivo or Vobiz: the document that drives it, and its webhooks.

import type { Clock } from '../../../src/std/clock.ts';
import { DocumentCall } from '../hosted/document-call.ts';
import type { FakeStatus } from '../hosted/hosted-call.ts';
import type { Mischief } from '../hosted/hosted-fake.ts';
import type { Dialect } from './dialect.ts';
import { readDocument, type Verb } from './markup.ts';
import { streamWire } from './stream-wire.ts';
import type { Delivered, StatusCallbacks, WebhookSender } from './webhooks.ts';

export interface FakeXmlCallOptions {
  clock: Clock;
  dialect: Dialect;
  sender: WebhookSender;
  reach: (url: string) => string;
  id: string;
  from: string;
  to: string;
  direction: 'inbound' | 'outbound';
  ringUrl: string | null;
  hangupUrl: string | null;
  mischief: Mischief;
}

/** Cause of each end: code and name. */
const causes: Partial<Record<FakeStatus, [string, string]>> = {
  completed: ['4000', 'NORMAL_CLEARING'],
  busy: ['3010', 'USER_BUSY'],
  'no-answer': ['3000', 'NO_ANSWER'],
  canceled: ['1000', 'ORIGINATOR_CANCEL'],
  failed: ['2010', 'NORMAL_TEMPORARY_FAILURE'],
};
const SPEAK_MS_PER_CHARACTER = 1;

export class FakeXmlCall extends DocumentCall<Verb> {
  readonly direction: 'inbound' | 'outbound';
  readonly startedAt: Date;
  readonly #options: FakeXmlCallOptions;
  readonly #callbacks: StatusCallbacks;
  #streams = 0;
  #wasAnswered = false;

  constructor(options: FakeXmlCallOptions) {
    super(options);
    this.#options = options;
    this.direction = options.direction;
    this.startedAt = new Date(options.clock.now());
    this.#callbacks = options.sender.callbacks(options.mischief);
  }

  /** Milliseconds since the call exists. */
  get ageMs(): number {
    return this.#options.clock.now() - this.startedAt.getTime();
  }

  get wasAnswered(): boolean {
    return this.#wasAnswered;
  }

  /** Code and name of the cause of its end. */
  get cause(): [string, string] {
    return causes[this.status] ?? ['0', ''];
  }

  /** `CallStatus` in the provider's words. */
  get word(): string {
    if (this.status === 'no-answer') return 'timeout';
    return this.status === 'canceled' ? 'cancel' : this.status;
  }

  override callbacksSettled(): Promise<void> {
    return this.#callbacks.settled();
  }

  override become(status: FakeStatus): void {
    if (status === 'in-progress') this.#wasAnswered = true;
    super.become(status);
  }

  protected override announce(status: FakeStatus): void {
    const { ringUrl, hangupUrl, dialect } = this.#options;
    if (status === 'ringing' && this.isOutbound && ringUrl !== null && dialect.ringEvents) {
      this.#callbacks.send(ringUrl, this.fields('Ring'), false);
    }
    if (!this.isOver || hangupUrl === null) return;
    const [code, name] = this.cause;
    const form = {
      ...this.fields('Hangup'),
      ['HangupCause']: name,
      ['HangupCauseCode']: code,
      ['Duration']: String(this.durationS),
    };
    this.#callbacks.send(hangupUrl, form, true);
  }

  /** The fields that every webhook about this call has. */
  fields(event: string): Record<string, string> {
    return {
      ['CallUUID']: this.id,
      ['From']: this.from,
      ['To']: this.to,
      ['CallStatus']: this.word,
      ['Direction']: this.direction,
      ['ALegUUID']: this.id,
      ['ALegRequestUUID']: this.id,
      ['ParentAuthID']: this.#options.dialect.authId,
      ['Event']: event,
    };
  }

  protected override fetchDocument(url: string, event: string): Promise<Delivered> {
    return this.#options.sender.post(url, this.fields(event));
  }

  protected override read(document: string): Verb[] {
    return readDocument(document);
  }

  protected override async perform(verb: Verb): Promise<void> {
    const isRefused = verb.verb === 'Hangup' && this.status === 'ringing';
    if (!isRefused) this.become('in-progress');
    switch (verb.verb) {
      case 'Hangup':
        this.end(isRefused ? 'busy' : 'completed');
        break;
      case 'Redirect':
        await this.follow(verb.url, 'Redirect');
        break;
      case 'Speak':
        await this.speak(verb.text, SPEAK_MS_PER_CHARACTER);
        break;
      case 'Dial':
        await this.dialOut(verb);
        if (verb.resultUrl !== null) this.#reportDestination(verb.resultUrl);
        break;
      case 'Conference':
        await this.conferences.enter(verb.name, this);
        break;
      case 'Stream':
        await this.#connect(verb.url, verb.keepsCallAlive);
        break;
    }
  }

  /** The destination had answered. */
  #reportDestination(url: string): void {
    const leg = `b-${this.id}`.slice(0, 64);
    const form = { ['DialStatus']: 'completed', ['DialBLegUUID']: leg, ['DialALegUUID']: this.id };
    this.#callbacks.send(url, { ...this.fields('Redirect'), ...form }, true);
  }

  async #connect(url: string, keepsCallAlive: boolean): Promise<void> {
    const { reach, dialect, clock } = this.#options;
    this.#streams += 1;
    const firstMs = dialect.wire.firstMs === 0 ? 0 : clock.now();
    const ids = { callId: this.id, streamId: `s${this.#streams}-${this.id}` };
    const wire = streamWire({ ...dialect.wire, ...ids, accountId: dialect.authId, firstMs });
    const closed = this.connectMedia({ url, reachUrl: reach(url), headers: {}, wire });
    if (!keepsCallAlive) return; // The document goes on, and ends the call.
    await closed;
  }
}
