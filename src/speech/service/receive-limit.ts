// How much a service may send: a token bucket in bytes, of which each message costs some. The gateway's other calls wait
// while a message is read, and what a recogniser says is kept until the turn ends.

import type { Clock } from '../../std/clock.ts';
import type { ServiceJob } from './service-fault.ts';

interface Limits {
  /** Of one message. */
  messageBytesMax: number;
  burstBytesMax: number;
  bytesPerSecond: number;
}

/** A message costs at least this much: reading it has a price of its own. */
const MESSAGE_COST_BYTES = 256;

const KIB = 1_024;
const MIB = 1_024 * KIB;
/** A recogniser repeats the words of a turn some ten times a second. */
const OF_WORDS: Limits = {
  messageBytesMax: MIB,
  burstBytesMax: 4 * MIB,
  bytesPerSecond: 256 * KIB,
};
/** Audio in base64 inside JSON comes in messages of megabytes from some services, a minute of speech at once. */
const OF_AUDIO: Limits = {
  messageBytesMax: 16 * MIB,
  burstBytesMax: 48 * MIB,
  bytesPerSecond: 2 * MIB,
};

export function receiveLimitsOf(job: ServiceJob): Limits {
  return job === 'tts' ? OF_AUDIO : OF_WORDS;
}

export class ReceiveLimit {
  readonly #clock: Clock;
  readonly #limits: Limits;
  #left: number;
  #atMs: number;

  constructor(clock: Clock, limits: Limits) {
    this.#clock = clock;
    this.#limits = limits;
    this.#left = limits.burstBytesMax;
    this.#atMs = clock.monotonicMs();
  }

  /** False: more than a service has to say. */
  take(bytes: number): boolean {
    const now = this.#clock.monotonicMs();
    const { burstBytesMax, bytesPerSecond } = this.#limits;
    const refilled = this.#left + ((now - this.#atMs) / 1_000) * bytesPerSecond;
    this.#left = Math.min(burstBytesMax, refilled) - bytes - MESSAGE_COST_BYTES;
    this.#atMs = now;
    return this.#left >= 0;
  }
}
