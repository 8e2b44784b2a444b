// Telnyx' side of webhooks: JSON with a real Ed25519 signature, repeated until it is accepted.

import { type KeyObject, sign } from 'node:crypto';
import type { Clock } from '../../../src/std/clock.ts';
import type { Mischief } from '../hosted/hosted-fake.ts';
import { postWebhook, StatusQueue } from '../hosted/webhooks.ts';

/** Telnyx waits this long for an answer, */
const ANSWER_MS = 5_000;
/** and delivers again this often, after these pauses. */
const PAUSES_MS = [100, 300, 900];

export interface WebhookOptions {
  privateKey: KeyObject;
  /** Where a public URL is really reached. */
  reach: (url: string) => string;
  mischief: Mischief;
  clock: Clock;
}

/** The webhooks of one call: one after the other. */
export class CallWebhooks {
  readonly #options: WebhookOptions;
  readonly #queue: StatusQueue;

  constructor(options: WebhookOptions) {
    this.#options = options;
    this.#queue = new StatusQueue(options.mischief);
  }

  /** Queues one; `last` also sends one that is held back. */
  send(url: string, event: Record<string, unknown>, last: boolean): void {
    this.#queue.send(() => this.#deliver(url, event), last);
  }

  /** Settles when all that was sent has been answered, or given up. */
  settled(): Promise<void> {
    return this.#queue.settled();
  }

  async #deliver(url: string, event: Record<string, unknown>): Promise<void> {
    for (const [attempt, pauseMs] of [0, ...PAUSES_MS].entries()) {
      await new Promise<void>((resolve) => this.#options.clock.after(pauseMs, resolve));
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
    const timestamp = String(Math.floor(this.#options.clock.now() / 1_000));
    const signature = sign(null, Buffer.from(`${timestamp}|${text}`), this.#options.privateKey);
    const { status } = await postWebhook({
      reachUrl: this.#options.reach(url),
      headers: {
        'content-type': 'application/json',
        'telnyx-timestamp': timestamp,
        'telnyx-signature-ed25519': signature.toString('base64'),
        'user-agent': 'telnyx-webhooks',
      },
      body: text,
      answerMs: ANSWER_MS,
    });
    return status;
  }
}
