// The wait of one call for the database while its phone rings. The gateway holds back its reply meanwhile, so that the
// provider keeps the phone ringing and plays no apology during an outage of a few seconds. A database that restarts on a
// busy machine takes longer than the statements themselves wait (store/db/connections).

import { codeOf } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import type { Clock } from '../../std/clock.ts';
import { answerMsOf } from '../../telephony/provider/answer-time.ts';
import { isHosted, type TelephonyProvider } from '../../telephony/provider/provider.ts';

/** Longest wait of a call. Few callers let it ring for longer without an answer. */
const WAIT_MS_MAX = 10_000;
/** Pause before the next attempt. Attempts take processor time from the database that starts. */
const PAUSE_MS = 1_000;
/** Time between the end of the wait and the provider's own deadline. */
const REPLY_MS = 500;

export class StoreWait {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #provider: TelephonyProvider;
  readonly #untilMs: number;
  #isNoted = false;

  constructor({ clock, log }: { clock: Clock; log: Log }, provider: TelephonyProvider) {
    this.#clock = clock;
    this.#log = log;
    this.#provider = provider;
    this.#untilMs = clock.monotonicMs() + waitMsOf(provider);
  }

  /** Repeats `work` while the store is unavailable and the call waits; rejects with its last error. `work` must have no
   *  other effect if it is repeated. `isOver`: whether nobody waits any more. */
  async repeat<T>(work: () => Promise<T>, isOver: () => boolean = () => false): Promise<T> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        const isLate = this.#clock.monotonicMs() >= this.#untilMs;
        if (codeOf(error) !== 'STORE_UNAVAILABLE' || isLate || isOver()) throw error;
      }
      this.#note();
      const leftMs = this.#untilMs - this.#clock.monotonicMs();
      const pauseMs = Math.max(0, Math.min(PAUSE_MS, leftMs));
      await new Promise<void>((resolve) => this.#clock.after(pauseMs, resolve));
    }
  }

  #note(): void {
    if (this.#isNoted) return;
    this.#isNoted = true;
    this.#log.warn({ provider: this.#provider.name }, 'a call waits for the database');
  }
}

/** A document is the reply itself; a command is independent of it. */
function waitMsOf(provider: TelephonyProvider): number {
  if (!isHosted(provider) || provider.capabilities.answerStyle === 'command') return WAIT_MS_MAX;
  return Math.min(WAIT_MS_MAX, answerMsOf(provider) - REPLY_MS);
}
