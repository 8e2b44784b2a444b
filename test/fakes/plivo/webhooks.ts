// Webhooks of the fakes of Plivo and Vobiz: signed forms, in order, or doubled and out of order when a test asks.

import type { Mischief } from '../hosted/hosted-fake.ts';
import type { Dialect } from './dialect.ts';

/** Plivo waits this long for an answer. */
const ANSWER_MS = 15_000;

export interface Delivered {
  url: string;
  form: Record<string, string>;
  /** 0 if the gateway could not be reached. */
  status: number;
  body: string;
}

export class WebhookSender {
  /** Everything that was sent, in the order of the answers. */
  readonly delivered: Delivered[] = [];
  readonly #dialect: Pick<Dialect, 'signed'>;
  readonly #reach: (url: string) => string;

  constructor(dialect: Pick<Dialect, 'signed'>, reach: (url: string) => string) {
    this.#dialect = dialect;
    this.#reach = reach;
  }

  /** POSTs a signed form. Never rejects. */
  async post(url: string, form: Record<string, string>): Promise<Delivered> {
    return this.send(url, form, this.#dialect.signed(url, form));
  }

  async send(
    url: string,
    form: Record<string, string>,
    headers: Record<string, string>,
  ): Promise<Delivered> {
    let delivered: Delivered;
    try {
      const response = await fetch(this.#reach(url), {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
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

  /** One call's status webhooks: one after the other. */
  callbacks(mischief: Mischief): StatusCallbacks {
    return new StatusCallbacks(this, this.#dialect, mischief);
  }
}

export class StatusCallbacks {
  readonly #sender: WebhookSender;
  readonly #dialect: Pick<Dialect, 'signed'>;
  readonly #mischief: Mischief;
  #held: (() => Promise<void>) | undefined;
  #last: Promise<void> = Promise.resolve();

  constructor(sender: WebhookSender, dialect: Pick<Dialect, 'signed'>, mischief: Mischief) {
    this.#sender = sender;
    this.#dialect = dialect;
    this.#mischief = mischief;
  }

  /** Queues one; `last` also lets go of one that is held back. */
  send(url: string, form: Record<string, string>, last: boolean): void {
    const headers = this.#dialect.signed(url, form);
    const deliver = async () => {
      for (let i = 0; i < (this.#mischief.deliveries ?? 1); i++) {
        await this.#sender.send(url, form, headers);
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
