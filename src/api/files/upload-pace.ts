// How fast uploads are received: each megabyte takes the event loop some 5 ms, which the requests of others wait for. A
// piece that came too early holds up the next one, so that TCP slows the client down; what all may have is divided
// equally between the organizations that send. Not how much one upload may hold (upload-routes.ts).

import type { Clock } from '../../std/clock.ts';

/** Bytes a second. A contact file of 200,000 rows takes a second and a half. */
const OF_ORGANIZATION = 4_194_304;
const IN_ALL = 2 * OF_ORGANIZATION;
/** Received at once after a pause, at the rate of one organization alone: 1 MiB, most recordings. */
const BURST_MS = 250;
/** Shorter waits are added up: a timer takes time too. */
const WAIT_MS_MIN = 20;
/** As long as a whole upload: its connection has ended then. */
const WAIT_MS_MAX = 300_000;
/** Organizations that send or have sent too much. Beyond it the one that began first is forgiven. */
const KNOWN_MAX = 1_000;

export class UploadPace {
  readonly #clock: Clock;
  /** By organization, until when everything that was received has its time. */
  readonly #until = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves when the next piece may be received. `bytes` as `PieceCount` counts them. */
  async received(organization: string, bytes: number): Promise<void> {
    const now = this.#clock.monotonicMs();
    this.#forgetIdle(now);
    const sinceMs = this.#until.get(organization) ?? now - BURST_MS;
    // Others that send have as much.
    const sending = this.#until.size + (this.#until.has(organization) ? 0 : 1);
    const bytesPerMs = Math.min(OF_ORGANIZATION, IN_ALL / sending) / 1_000;
    const untilMs = Math.min(sinceMs + bytes / bytesPerMs, now + WAIT_MS_MAX);
    this.#until.set(organization, untilMs);
    if (untilMs - now < WAIT_MS_MIN) return;
    await new Promise<void>((resolve) => this.#clock.after(untilMs - now, resolve));
  }

  #forgetIdle(now: number): void {
    for (const [organization, untilMs] of this.#until) {
      const isIdle = untilMs <= now - BURST_MS;
      if (isIdle || this.#until.size > KNOWN_MAX) this.#until.delete(organization);
    }
  }
}
