// Webhooks of a fake provider: one request, and the order of one call's status webhooks. Their content and signatures
// are each provider's.

import type { Mischief } from './hosted-fake.ts';

export interface WebhookRequest {
  /** Where the webhook's URL is really reached. */
  reachUrl: string;
  headers: Record<string, string>;
  body: string;
  /** How long the provider waits for an answer. */
  answerMs: number;
}

export interface WebhookAnswer {
  /** 0 if the gateway could not be reached. */
  status: number;
  body: string;
}

/** Never rejects. */
export async function postWebhook(request: WebhookRequest): Promise<WebhookAnswer> {
  const { reachUrl, headers, body, answerMs } = request;
  try {
    const response = await fetch(reachUrl, {
      method: 'POST',
      headers,
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(answerMs),
    });
    return { status: response.status, body: await response.text() };
  } catch (error) {
    return { status: 0, body: String(error) };
  }
}

/** One call's status webhooks: one after the other, or doubled and out of order when a test asks for that. */
export class StatusQueue {
  readonly #mischief: Mischief;
  #held: (() => Promise<void>) | undefined;
  #last: Promise<void> = Promise.resolve();

  constructor(mischief: Mischief) {
    this.#mischief = mischief;
  }

  /** Queues one, which `post` sends once; `last` also sends one that is held back. */
  send(post: () => Promise<unknown>, last: boolean): void {
    const { deliveries = 1, reorder } = this.#mischief;
    const deliver = async (): Promise<void> => {
      for (let i = 0; i < deliveries; i++) await post();
    };
    if (reorder === true && this.#held === undefined && !last) {
      this.#held = deliver;
      return;
    }
    const held = this.#held;
    this.#held = undefined;
    this.#last = this.#last.then(deliver).then(held);
  }

  /** Sends something else after what is queued, once. */
  sendOnce(post: () => Promise<unknown>): void {
    this.#last = this.#last.then(async () => {
      await post();
    });
  }

  /** Settles when all that was sent has been answered, or given up. */
  settled(): Promise<void> {
    return this.#last;
  }
}
