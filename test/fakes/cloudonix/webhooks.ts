// The fake Cloudonix' requests to the gateway: JSON, unsigned.

import { postWebhook, type WebhookAnswer } from '../hosted/webhooks.ts';

/** How long it waits for an answer. */
const ANSWER_MS = 15_000;

export interface Delivered extends WebhookAnswer {
  url: string;
  sent: unknown;
}

export class WebhookSender {
  readonly #reach: (url: string) => string;
  /** Everything that was sent, in the order of the answers. */
  readonly delivered: Delivered[] = [];

  constructor(reach: (url: string) => string) {
    this.#reach = reach;
  }

  /** Never rejects. */
  async post(url: string, sent: unknown, headers: Record<string, string>): Promise<Delivered> {
    const answer = await postWebhook({
      reachUrl: this.#reach(url),
      headers: { 'content-type': 'application/json', 'user-agent': 'cloudonix', ...headers },
      body: JSON.stringify(sent),
      answerMs: ANSWER_MS,
    });
    const delivered = { url, sent, ...answer };
    this.delivered.push(delivered);
    return delivered;
  }
}
