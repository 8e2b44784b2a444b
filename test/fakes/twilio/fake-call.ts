// One phone call at the fake Twilio: its webhooks and its media.

import type { Clock } from '../../../src/std/clock.ts';
import type { FakeStatus } from '../hosted/hosted-call.ts';
import type { Mischief } from '../hosted/hosted-fake.ts';
import { MarkupCall } from './markup-call.ts';
import { twilioWire, upgradeHeaders } from './media-stream.ts';
import { type Delivered, StatusCallbacks, type WebhookSender } from './webhooks.ts';

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

export class FakeCall extends MarkupCall {
  readonly direction: 'inbound' | 'outbound-api';
  readonly #options: FakeCallOptions;
  readonly #callbacks: StatusCallbacks;
  #streams = 0;

  constructor(options: FakeCallOptions) {
    const { clock, sid: id, from, to, direction, sayMsPerCharacter } = options;
    super({
      clock,
      id,
      from,
      to,
      sayMsPerCharacter,
      direction: direction === 'inbound' ? 'inbound' : 'outbound',
    });
    this.#options = options;
    this.direction = direction;
    this.#callbacks = new StatusCallbacks(options.sender, options.mischief);
  }

  get sid(): string {
    return this.id;
  }

  override callbacksSettled(): Promise<void> {
    return this.#callbacks.settled();
  }

  /** Sends the callback that was asked for. */
  protected override announce(status: FakeStatus): void {
    const { statusTarget } = this.#options;
    const event = terminal.has(status) ? 'completed' : (eventOf[status] ?? '');
    if (statusTarget?.events.includes(event) !== true) return;
    const length = this.isOver ? { ['CallDuration']: String(this.durationS) } : {};
    this.#callbacks.send(statusTarget.url, { ...this.fields(), ...length }, this.isOver);
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
      ['CallStatus']: this.status,
      ['Direction']: this.direction,
      ['ApiVersion']: '2010-04-01',
    };
  }

  protected override reportDestination(url: string): void {
    const leg = { ['CallSid']: `CA${this.sid.slice(2).split('').toReversed().join('')}` };
    const facts = { ...this.fields(), ...leg, ['ParentCallSid']: this.sid };
    for (const status of ['ringing', 'in-progress']) {
      const form = { ...facts, ['CallStatus']: status, ['Direction']: 'outbound-dial' };
      this.#callbacks.send(url, form, status === 'in-progress');
    }
  }

  protected override fetchDocument(url: string): Promise<Delivered> {
    return this.#options.sender.post(url, this.fields());
  }

  protected override async connectStream(
    url: string,
    parameters: Record<string, string>,
  ): Promise<void> {
    const { reach, authToken, accountSid } = this.#options;
    this.#streams += 1;
    const streamSid = `MZ${this.#streams.toString(16).padStart(2, '0')}${this.sid.slice(4)}`;
    await this.connectMedia({
      url,
      reachUrl: reach(url),
      headers: upgradeHeaders(authToken, url),
      wire: twilioWire({ accountSid, callSid: this.sid, streamSid, parameters }),
    });
  }
}
