// Telnyx' side of webhooks: JSON with a real Ed25519 signature, repeated until it is accepted; doubled and out of order
// when a test asks for that.

import { type KeyObject, sign } from 'node:crypto';
import type { Mischief } from '../hosted/hosted-fake.ts';

/** Telnyx waits this long for an answer, */
const ANSWER_MS = 5_000;
/** and delivers again this often, after these pauses. */
const PAUSES_MS = [100, 300, 900];

export interface WebhookOptions {
  privateKey: KeyObject;
  /** Where a public URL is really reached. */
  reach: (url: string) => string;
  mischief: Mischief;
}

/** The webhooks of one call: one after the other. */
export class CallWebhooks {
  readonly #options: WebhookOptions;
  #held: (() => Promise<void>) | undefined;
  #last: Promise<void> = Promise.resolve();

  constructor(options: WebhookOptions) {
    this.#options = options;
  }

  /** Queues one; `last` also releases one that is held back. */
  send(url: string, event: Record<string, unknown>, last: boolean): void {
    const { deliveries = 1, reorder } = this.#options.mischief;
    const deliver = async () => {
      for (let i = 0; i < deliveries; i++) await this.#deliver(url, event);
    };
    if (reorder === true && this.#held === undefined && !last) {
      this.#held = deliver;
      return;
    }
    const held = this.#held;
    this.#held = undefined;
    this.#last = this.#last.then(deliver).then(held);
  }

  /** Settles when all that was sent has been answered, or given up. */
  settled(): Promise<void> {
    return this.#last;
  }

  async #deliver(url: string, event: Record<string, unknown>): Promise<void> {
    for (const [attempt, pauseMs] of [0, ...PAUSES_MS].entries()) {
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      const status = await this.#post(url, {
        ...event,
        meta: { attempt: attempt + 1, delivered_to: url },
      });
      if (status !== 0 && status !== 408 && status !== 429 && status < 500) return;
    }
  }

  /** 0 if the gateway could not be reached. */
  async #post(url: string, body: Record<string, unknown>): Promise<number> {
    const text = JSON.stringify(body);
    const timestamp = String(Math.floor(Date.now() / 1_000));
    const signature = sign(null, Buffer.from(`${timestamp}|${text}`), this.#options.privateKey);
    try {
      const response = await fetch(this.#options.reach(url), {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'telnyx-timestamp': timestamp,
          'telnyx-signature-ed25519': signature.toString('base64'),
          'user-agent': 'telnyx-webhooks',
        },
        body: text,
        redirect: 'manual',
        signal: AbortSignal.timeout(ANSWER_MS),
      });
      await response.text();
      return response.status;
    } catch {
      return 0; // Delivered again.
    }
  }
}
