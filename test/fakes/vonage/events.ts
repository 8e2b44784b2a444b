// Vonage's side of webhooks: JSON with a signed token.

import { postWebhook, type WebhookAnswer } from '../hosted/webhooks.ts';
import { webhookToken } from './account.ts';

/** Vonage waits this long for an answer. */
const ANSWER_MS = 10_000;

export interface Delivered extends WebhookAnswer {
  url: string;
  content: Record<string, unknown>;
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
    const answer = await postWebhook({
      reachUrl: this.#reach(url),
      headers: { 'content-type': 'application/json', authorization: await webhookToken(body) },
      body,
      answerMs: ANSWER_MS,
    });
    const delivered = { url, content, ...answer };
    this.delivered.push(delivered);
    return delivered;
  }
}
