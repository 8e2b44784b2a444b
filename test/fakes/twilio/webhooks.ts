// Twilio's side of webhooks: forms with a real signature, in order, or doubled and out of order when a
// test asks for that.

import { randomUUID } from 'node:crypto';
import twilio from 'twilio';
import type { Mischief } from '../hosted/hosted-fake.ts';
import { postWebhook, StatusQueue, type WebhookAnswer } from '../hosted/webhooks.ts';

/** Twilio waits this long for an answer. */
const ANSWER_MS = 15_000;

export interface Delivered extends WebhookAnswer {
  url: string;
  form: Record<string, string>;
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
    const answer = await postWebhook({
      reachUrl: this.#options.reach(url),
      headers: {
        'content-type': 'application/x-www-form-urlencoded; charset=UTF-8',
        'x-twilio-signature': signature,
        'i-twilio-idempotency-token': token,
        'user-agent': 'TwilioProxy/1.1',
      },
      body: new URLSearchParams(form).toString(),
      answerMs: ANSWER_MS,
    });
    const delivered = { url, form, ...answer };
    this.delivered.push(delivered);
    return delivered;
  }
}

/** One call's status callbacks, with sequence numbers; each keeps its idempotency token when it is sent again. */
export class StatusCallbacks {
  readonly #sender: WebhookSender;
  readonly #queue: StatusQueue;
  #sequence = 0;

  constructor(sender: WebhookSender, mischief: Mischief) {
    this.#sender = sender;
    this.#queue = new StatusQueue(mischief);
  }

  /** Queues one; `last` also sends one that is held back. */
  send(url: string, fields: Record<string, string>, last: boolean): void {
    const form = {
      ...fields,
      ['SequenceNumber']: String(this.#sequence++),
      ['Timestamp']: new Date().toUTCString(),
      ['CallbackSource']: 'call-progress-events',
    };
    const token = randomUUID();
    this.#queue.send(() => this.#sender.post(url, form, token), last);
  }

  /** Settles when all that was sent has been answered. */
  settled(): Promise<void> {
    return this.#queue.settled();
  }
}
