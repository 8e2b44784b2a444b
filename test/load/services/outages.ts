// Outages of the primary services during a measurement: one job after the other, then all at once; by turns gone
// (connections are reset and refused) and silent (they stay open, and nothing passes).

import type { ServiceClient } from './service-client.ts';
import type { Breakage, Job } from './service-process.ts';

const JOBS = ['stt', 'tts', 'llm'] as const;

export interface OutageOptions {
  /** In this order, again and again; `all`: the three at once. */
  kill: readonly (Job | 'all')[];
  how: Breakage | 'both';
  outageSeconds: number;
  /** Between two outages. */
  recoverySeconds: number;
}

export class Outages {
  /** How many there were. */
  count = 0;
  readonly #services: ServiceClient;
  readonly #options: OutageOptions;
  readonly #stopping = new AbortController();
  readonly #done: Promise<void>;

  constructor(services: ServiceClient, options: OutageOptions) {
    this.#services = services;
    this.#options = options;
    this.#done = this.#run();
  }

  /** Mends what is broken. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#done;
  }

  async #run(): Promise<void> {
    const { outageSeconds, recoverySeconds } = this.#options;
    while (!this.#stopping.signal.aborted) {
      await this.#pause(recoverySeconds);
      if (this.#stopping.signal.aborted) return;
      await this.#services.ask({ order: 'break', ...this.#next() });
      this.count += 1;
      await this.#pause(outageSeconds);
      await this.#services.ask({ order: 'mend' });
    }
  }

  #next(): { jobs: Job[]; how: Breakage } {
    const { kill, how } = this.#options;
    const job = kill[this.count % kill.length] as Job | 'all';
    const round = Math.floor(this.count / kill.length);
    const alternating: Breakage = round % 2 === 0 ? 'gone' : 'silent';
    return { jobs: job === 'all' ? [...JOBS] : [job], how: how === 'both' ? alternating : how };
  }

  #pause(seconds: number): Promise<void> {
    return new Promise((resolve) => {
      const { signal } = this.#stopping;
      const done = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, signal.aborted ? 0 : seconds * 1_000);
      signal.addEventListener('abort', done, { once: true });
    });
  }
}
