// Whether the disk of the spool has room for a further recording: while S3 is away the spool grows, and the gateway
// needs the rest of the disk for itself.

import { statfs } from 'node:fs/promises';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Clock } from '../../std/clock.ts';

/** Share of the disk that stays free. Calls go on without recordings then. */
const FREE_SHARE_MIN = 0.1;
/** Age of a look that counts: a thousand calls write 160 MB in that time. */
const LOOK_MS = 5_000;

type Look = (folder: string) => Promise<{ bavail: number; blocks: number }>;

export class DiskRoom {
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #look: Look;
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  #isFull = false;

  constructor(folder: string, clock: Clock, look: Look = statfs) {
    this.#folder = folder;
    this.#clock = clock;
    this.#look = look;
  }

  /** Throws STORE_FULL. */
  async check(): Promise<void> {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#lookedAtMs >= LOOK_MS) {
      this.#lookedAtMs = nowMs;
      // A disk that cannot be asked is not known to be full; its writes say so.
      const found = await this.#look(this.#folder).catch(() => undefined);
      this.#isFull = found !== undefined && found.bavail < found.blocks * FREE_SHARE_MIN;
    }
    if (this.#isFull) throw new GatewayError('STORE_FULL');
  }
}
