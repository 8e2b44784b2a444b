// Rate limit of uploads: each megabyte takes the event loop about 5 ms, which delays other requests. A piece that came
// too early delays the next one, so that TCP slows the client down; the total rate is divided equally between the
// organizations that upload. The size of one upload is limited in upload-routes.ts.

import type { Clock } from '../../std/clock.ts';

/** Bytes a second for one organization. A contact file of 200,000 rows takes a second and a half. */
const OF_ORGANIZATION = 4_194_304;
const IN_ALL = 2 * OF_ORGANIZATION;
/** Burst after a pause, as time at the rate of one organization: 1 MiB, most recordings. */
const BURST_MS = 250;
/** Shortest wait; shorter ones are added up, because a timer takes time too. */
const WAIT_MS_MIN = 20;
/** Longest wait: the whole time of an upload, whose connection has then ended. */
const WAIT_MS_MAX = 300_000;
/** Organizations that are tracked because they upload or have exceeded their rate. Beyond, the oldest is removed. */
const KNOWN_MAX = 1_000;

export class UploadPace {
  readonly #clock: Clock;
  /** Time at which all that an organization sent is within its rate, in monotonic milliseconds. */
  readonly #until = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves when the next piece may be received. `bytes` as `PieceCount` counts them. */
  async received(organization: string, bytes: number): Promise<void> {
    const now = this.#clock.monotonicMs();
    this.#forgetIdle(now);
    const sinceMs = this.#until.get(organization) ?? now - BURST_MS;
    // Other uploading organizations get an equal share.
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
