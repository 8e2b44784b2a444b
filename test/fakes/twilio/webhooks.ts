// Twilio's side of webhooks: forms with a real signature, in order, or doubled and out of order when a
// test asks for that.

import { randomUUID } from 'node:crypto';
import twilio from 'twilio';

/** Twilio waits this long for an answer. */
const ANSWER_MS = 15_000;

export interface Mischief {
  /** Each status callback is delivered this many times, with one idempotency token. */
  deliveries?: number;
  /** Status callbacks of a call arrive in pairs, the later one first. */
  reorder?: boolean;
}

export interface Delivered {
  url: string;
  form: Record<string, string>;
  /** 0 if the gateway could not be reached. */
  status: number;
  body: string;
}

export interface WebhookOptions {
  authToken: string;
  /** Where a public URL is really reached. */
  reach: (url: string) => string;
}

export class WebhookSender {
  readonly #options: WebhookOptions;
  /** Everything that was sent, in the order of the answers. */
  readonly delivered: Delivered[] = [];

  constructor(options: WebhookOptions) {
    this.#options = options;
  }

  /** POSTs a signed form. Never rejects. */
  async post(
    url: string,
    form: Record<string, string>,
    token: string = randomUUID(),
  ): Promise<Delivered> {
    const signature = twilio.getExpectedTwilioSignature(this.#options.authToken, url, form);
    let delivered: Delivered;
    try {
      const response = await fetch(this.#options.reach(url), {
        method: 'POST',
        headers: {
          'content-type': 'application/x-www-form-urlencoded; charset=UTF-8',
          'x-twilio-signature': signature,
          'i-twilio-idempotency-token': token,
          'user-agent': 'TwilioProxy/1.1',
        },
        body: new URLSearchParams(form).toString(),
        redirect: 'manual',
        signal: AbortSignal.timeout(ANSWER_MS),
      });
      delivered = { url, form, status: response.status, body: await response.text() };
    } catch (error) {
      delivered = { url, form, status: 0, body: String(error) };
    }
    this.delivered.push(delivered);
    return delivered;
  }
}

/** One call's status callbacks: one after the other, with sequence numbers. */
export class StatusCallbacks {
  readonly #sender: WebhookSender;
  readonly #mischief: Mischief;
  #sequence = 0;
  #held: (() => Promise<void>) | undefined;
  #last: Promise<void> = Promise.resolve();

  constructor(sender: WebhookSender, mischief: Mischief) {
    this.#sender = sender;
    this.#mischief = mischief;
  }

  /** Queues one; `last` also lets go of one that is held back. */
  send(url: string, fields: Record<string, string>, last: boolean): void {
    const form = {
      ...fields,
      ['SequenceNumber']: String(this.#sequence++),
      ['Timestamp']: new Date().toUTCString(),
      ['CallbackSource']: 'call-progress-events',
    };
    const token = randomUUID();
    const deliver = async () => {
      for (let i = 0; i < (this.#mischief.deliveries ?? 1); i++) {
        await this.#sender.post(url, form, token);
      }
    };
    if (this.#mischief.reorder === true && this.#held === undefined && !last) {
      this.#held = deliver;
      return;
    }
    const held = this.#held;
    this.#held = undefined;
    this.#last = this.#last.then(deliver).then(held);
  }

  /** Settles when all that was sent has been answered. */
  settled(): Promise<void> {
    return this.#last;
  }
}
