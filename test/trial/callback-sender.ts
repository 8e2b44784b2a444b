// One call's status callbacks, delivered as its seed decides.

import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { WebhookSender } from '../fakes/twilio/webhooks.ts';
import type { News } from './fate.ts';

const LATE_MS = 3_000;

export class CallbackSender {
  readonly #sender: WebhookSender;
  readonly #url: string;
  readonly #news: News;
  readonly #onAnswer: (ms: number) => void;
  #sequence = 0;
  #held: (() => Promise<unknown>) | undefined;
  #sent: Promise<unknown> = Promise.resolve();

  /** `onAnswer` gets the time that the gateway took for each. */
  constructor(
    sender: WebhookSender,
    url: string,
    { news, onAnswer }: { news: News; onAnswer: (ms: number) => void },
  ) {
    this.#sender = sender;
    this.#url = url;
    this.#news = news;
    this.#onAnswer = onAnswer;
  }

  tell(fields: Record<string, string>, isLast: boolean): void {
    const sequence = String(this.#sequence++);
    const form = {
      ...fields,
      ['SequenceNumber']: sequence,
      ['CallbackSource']: 'call-progress-events',
    };
    const token = randomBytes(8).toString('hex');
    const post = async (): Promise<void> => {
      const sinceMs = performance.now();
      await this.#sender.post(this.#url, form, token);
      this.#onAnswer(performance.now() - sinceMs);
    };
    if (this.#news === 'lost') return;
    if (this.#news === 'swapped' && this.#held === undefined && !isLast) {
      this.#held = post;
      return;
    }
    this.#queue(post);
    if (this.#news === 'doubled') this.#queue(post);
    if (this.#held !== undefined) this.#queue(this.#held);
    this.#held = undefined;
    if (this.#news === 'repeated-late' && isLast) {
      this.#queue(() => pause(LATE_MS));
      this.#queue(post);
    }
  }

  #queue(work: () => Promise<unknown>): void {
    this.#sent = this.#sent.then(work);
  }
}
