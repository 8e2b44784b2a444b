// One call (session) at the fake Cloudonix: the documents that drive it, its status callbacks and its media.

import type { Clock } from '../../../src/std/clock.ts';
import type { FakeStatus } from '../hosted/hosted-call.ts';
import type { Mischief } from '../hosted/hosted-fake.ts';
import { StatusQueue } from '../hosted/webhooks.ts';
import { MarkupCall } from '../twilio/markup-call.ts';
import { twilioWire } from '../twilio/media-stream.ts';
import type { Delivered, WebhookSender } from './webhooks.ts';

export interface FakeSessionOptions {
  clock: Clock;
  sender: WebhookSender;
  reach: (url: string) => string;
  domain: string;
  /** The id of the call for everything. */
  token: string;
  /** An id that only webhooks and media name. */
  callSid: string;
  from: string;
  to: string;
  direction: 'inbound' | 'outbound-api';
  /** Sent with requests for documents; null for the URL of a dial, which belongs to no application. */
  applicationKey: string | null;
  callbackUrl: string | null;
  detailRecordUrl: string | null;
  mischief: Mischief;
  sayMsPerCharacter: number;
}

const words: Readonly<Record<FakeStatus, string>> = {
  queued: 'new',
  initiated: 'processing',
  ringing: 'ringing',
  'in-progress': 'answer',
  completed: 'answer', // With the time of its end.
  busy: 'busy',
  'no-answer': 'noanswer',
  failed: 'congestion',
  canceled: 'cancel',
};
const dispositions: Partial<Record<FakeStatus, string>> = {
  completed: 'ANSWER',
  busy: 'BUSY',
  'no-answer': 'NOANSWER',
  failed: 'CONGESTION',
  canceled: 'CANCEL',
};

export class FakeSession extends MarkupCall {
  readonly #options: FakeSessionOptions;
  readonly #createdAt: number;
  #answeredAt = 0;
  #endedAt = 0;
  #updates = 0;
  #streams = 0;
  readonly #callbacks: StatusQueue;

  constructor(options: FakeSessionOptions) {
    const { clock, token: id, from, to, direction, sayMsPerCharacter } = options;
    super({
      clock,
      id,
      from,
      to,
      sayMsPerCharacter,
      direction: direction === 'inbound' ? 'inbound' : 'outbound',
    });
    this.#options = options;
    this.#createdAt = clock.now();
    this.#callbacks = new StatusQueue(options.mischief);
  }

  override callbacksSettled(): Promise<void> {
    return this.#callbacks.settled();
  }

  /** As the REST interface and the status callbacks show it. */
  get body(): Record<string, unknown> {
    const { domain, token, direction, clock } = this.#options;
    return {
      id: 4711,
      domainId: 1,
      domain,
      callerId: this.from,
      destination: this.to,
      direction,
      token,
      status: words[this.status],
      createdAt: this.#createdAt,
      modifiedAt: clock.now(),
      callStartTime: this.#createdAt,
      callAnswerTime: this.#answeredAt,
      callEndTime: this.#endedAt,
      vappServer: 'vapp.example',
      profile: { note: 'x' },
    };
  }

  protected override announce(status: FakeStatus): void {
    const { clock, callbackUrl } = this.#options;
    if (status === 'in-progress') this.#answeredAt = clock.now();
    if (this.isOver) this.#endedAt = clock.now();
    if (callbackUrl !== null) this.#update(callbackUrl);
    if (this.isOver) this.#record(status);
  }

  /** Every other update is a list with one object. */
  #update(url: string): void {
    const { sender } = this.#options;
    this.#updates += 1;
    const body = this.#updates % 2 === 0 ? [this.body] : this.body;
    this.#callbacks.send(() => sender.post(url, body, {}), this.isOver);
  }

  #record(status: FakeStatus): void {
    const { sender, domain, token, detailRecordUrl, callSid } = this.#options;
    if (detailRecordUrl === null) return;
    const body = {
      call_id: callSid,
      domain,
      from: this.from,
      to: this.to,

      disposition: dispositions[status],
      duration: this.durationS,
      billsec: this.durationS,
      session: { token },
      cx_trunk_id: 5,
    };
    this.#callbacks.sendOnce(() => sender.post(detailRecordUrl, body, {}));
  }

  protected override fetchDocument(url: string): Promise<Delivered> {
    const { sender, domain, token, callSid, direction, applicationKey } = this.#options;
    const body = {
      ['CallSid']: callSid,
      ['Session']: token,
      ['From']: this.from,
      ['To']: this.to,
      ['CallerName']: '',
      ['Direction']: direction,
      ['CallStatus']: this.status,
      ['Domain']: domain,
      ['AccountSid']: domain,
      ['SessionData']: { token, profile: { ['trunk-sip-headers']: {} } },
    };
    return sender.post(url, body, {
      ...(applicationKey !== null && { 'x-cx-apikey': applicationKey }),
      'x-cx-domain': domain,
      'x-cx-session': token,
      'x-cx-source': '192.0.2.1',
    });
  }

  protected override async connectStream(
    url: string,
    parameters: Record<string, string>,
  ): Promise<void> {
    const { reach, domain, token, callSid } = this.#options;
    this.#streams += 1;
    const facts = { session: token, from: this.from, to: this.to, context: 'default' };
    const streamSid = `MZ${this.#streams}${token.slice(2)}`;
    await this.connectMedia({
      url,
      reachUrl: reach(url),
      headers: { ['User-Agent']: 'cloudonix' },
      wire: twilioWire({ accountSid: domain, callSid, streamSid, parameters, facts }),
    });
  }
}
