// Starts of calls over the API, so many a second whether or not they are answered: each counts from when it was due,
// so that a stall is felt by all that came in it.

import { Pool } from 'undici';
import { Histogram, WAIT_MS_MAX } from '../figures/histogram.ts';

export interface StartOptions {
  url: string;
  apiKey: string;
  agentUuid: string;
  configurationId: string;
  perSecond: number;
}

/** Null: no reply came. */
export interface StartFigures {
  starts: number;
  /** Replies other than 200, and none for 20 s. */
  startsFailed: number;
  startFailures: string[];
  startsPerSecond: number;
  startP50Ms: number | null;
  startP99Ms: number | null;
}

/** More than ever wait, unless the gateway is overloaded. */
const CONNECTIONS_MAX = 200;
const FAILURES_KEPT = 5;

export class OpenLoopStarts {
  readonly #options: StartOptions;
  readonly #pool: Pool;
  readonly #open = new Set<Promise<void>>();
  readonly #failures: string[] = [];
  #replies = new Histogram(WAIT_MS_MAX);
  #starts = 0;
  #failed = 0;
  /** When the last of those that count was answered. */
  #lastMs = 0;
  #measuredSinceMs = 0;
  #isMeasuring = false;
  #isOver = false;
  readonly #sending: Promise<void>;

  constructor(options: StartOptions) {
    this.#options = options;
    this.#pool = new Pool(options.url, { connections: CONNECTIONS_MAX, pipelining: 1 });
    this.#sending = this.#sendAll();
  }

  /** Starts that are due from here on count. */
  measure(): void {
    this.#replies = new Histogram(WAIT_MS_MAX);
    [this.#starts, this.#failed] = [0, 0];
    this.#failures.splice(0);
    this.#measuredSinceMs = performance.now();
    this.#isMeasuring = true;
  }

  /** Sends no more, and waits for the replies. */
  async finish(): Promise<StartFigures> {
    this.#isOver = true;
    await this.#sending;
    await Promise.all(this.#open);
    await this.#pool.destroy();
    const seconds = (this.#lastMs - this.#measuredSinceMs) / 1_000;
    return {
      starts: this.#starts,
      startsFailed: this.#failed,
      startFailures: this.#failures,
      startsPerSecond: (this.#starts - this.#failed) / seconds,
      startP50Ms: this.#replies.at(0.5),
      startP99Ms: this.#replies.at(0.99),
    };
  }

  async #sendAll(): Promise<void> {
    await Promise.resolve(); // Whoever calls `measure` at once counts from the first start on.
    const sinceMs = performance.now();
    for (let index = 0; !this.#isOver; index++) {
      const dueMs = sinceMs + (index * 1_000) / this.#options.perSecond;
      const waitMs = dueMs - performance.now();
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
      const start = this.#start(index, dueMs).finally(() => this.#open.delete(start));
      this.#open.add(start);
    }
  }

  /** Never rejects. */
  async #start(index: number, dueMs: number): Promise<void> {
    const { apiKey, agentUuid, configurationId } = this.#options;
    const counts = this.#isMeasuring;
    if (counts) this.#starts += 1;
    try {
      const reply = await this.#pool.request({
        method: 'POST',
        path: `/api/v1/public/agent/workflow/${agentUuid}`,
        headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
        body: JSON.stringify({
          phone_number: `+1415${2_000_000 + index}`,
          telephony_configuration_id: configurationId,
        }),
        signal: AbortSignal.timeout(WAIT_MS_MAX),
      });
      const text = await reply.body.text();
      if (reply.statusCode !== 200) throw new Error(`${reply.statusCode} ${text}`);
    } catch (error) {
      if (counts) this.#fail(error);
    }
    if (!counts) return;
    this.#lastMs = performance.now();
    this.#replies.add(this.#lastMs - dueMs);
  }

  #fail(error: unknown): void {
    this.#failed += 1;
    const said = String(error);
    if (this.#failures.includes(said) || this.#failures.length >= FAILURES_KEPT) return;
    this.#failures.push(said);
  }
}
