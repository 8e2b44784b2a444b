// Webhooks of the fakes of Plivo and Vobiz: signed forms.

import type { Mischief } from '../hosted/hosted-fake.ts';
import { postWebhook, StatusQueue, type WebhookAnswer } from '../hosted/webhooks.ts';
import type { Dialect } from './dialect.ts';

/** Plivo waits this long for an answer. */
const ANSWER_MS = 15_000;

export interface Delivered extends WebhookAnswer {
  url: string;
  form: Record<string, string>;
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
  post(url: string, form: Record<string, string>): Promise<Delivered> {
    return this.#send(url, form, this.#dialect.signed(url, form));
  }

  /** One call's status webhooks. One that is sent again has the same signature. */
  callbacks(mischief: Mischief): StatusCallbacks {
    const queue = new StatusQueue(mischief);
    return {
      send: (url, form, last) => {
        const headers = this.#dialect.signed(url, form);
        queue.send(() => this.#send(url, form, headers), last);
      },
      settled: () => queue.settled(),
    };
  }

  async #send(
    url: string,
    form: Record<string, string>,
    headers: Record<string, string>,
  ): Promise<Delivered> {
    const answer = await postWebhook({
      reachUrl: this.#reach(url),
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body: new URLSearchParams(form).toString(),
      answerMs: ANSWER_MS,
    });
    const delivered = { url, form, ...answer };
    this.delivered.push(delivered);
    return delivered;
  }
}

export interface StatusCallbacks {
  /** Queues one; `last` also sends one that is held back. */
  send(url: string, form: Record<string, string>, last: boolean): void;
  /** Settles when all that was sent has been answered. */
  settled(): Promise<void>;
}

const COMMON = 'CallUUID=97ceeb52&From=14155550100&To=14155550101&ParentAuthID=MA1';

/** Bodies of the webhooks of Plivo and Vobiz. */
export const webhookBodies = [
  `${COMMON}&Direction=inbound&CallStatus=ringing&Event=StartApp`,
  `${COMMON}&Direction=outbound&CallStatus=busy&Event=Hangup&HangupCauseCode=3010&Duration=0&ALegRequestUUID=97ceeb52`,
  `${COMMON}&Event=MachineDetection&Machine=true`,
];
