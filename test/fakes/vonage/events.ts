// Vonage's side of webhooks: JSON with a signed token, in order, or doubled and out of order when a test asks for that.

import type { Mischief } from '../hosted/hosted-fake.ts';
import { webhookToken } from './account.ts';

/** Vonage waits this long for an answer. */
const ANSWER_MS = 10_000;

export interface Delivered {
  url: string;
  content: Record<string, unknown>;
  /** 0 if the gateway could not be reached. */
  status: number;
  body: string;
}

export class VonageWebhooks {
  /** Everything that was sent, in the order of the answers. */
  readonly delivered: Delivered[] = [];
  readonly #reach: (url: string) => string;

  constructor(reach: (url: string) => string) {
    this.#reach = reach;
  }

  /** POSTs signed JSON. Never rejects. */
  async post(url: string, content: Record<string, unknown>): Promise<Delivered> {
    const body = JSON.stringify(content);
    let delivered: Delivered;
    try {
      const response = await fetch(this.#reach(url), {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: await webhookToken(body) },
        body,
        redirect: 'manual',
        signal: AbortSignal.timeout(ANSWER_MS),
      });
      delivered = { url, content, status: response.status, body: await response.text() };
    } catch (error) {
      delivered = { url, content, status: 0, body: String(error) };
    }
    this.delivered.push(delivered);
    return delivered;
  }
}

/** One call's events, one after the other. */
export class CallEvents {
  readonly #webhooks: VonageWebhooks;
  readonly #mischief: Mischief;
  #held: (() => Promise<void>) | undefined;
  #last: Promise<void> = Promise.resolve();

  constructor(webhooks: VonageWebhooks, mischief: Mischief) {
    this.#webhooks = webhooks;
    this.#mischief = mischief;
  }

  /** Queues one; `last` also sends one that is held back. */
  send(url: string, content: Record<string, unknown>, last: boolean): void {
    const deliver = async (): Promise<void> => {
      for (let i = 0; i < (this.#mischief.deliveries ?? 1); i++) {
        await this.#webhooks.post(url, content);
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
