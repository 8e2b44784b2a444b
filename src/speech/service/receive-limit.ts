// Limit of received messages: a token bucket in bytes, with a minimum cost for each message. Parsing a message delays
// other calls, and recognised words are kept until the turn ends.

import type { Clock } from '../../std/clock.ts';
import type { ServiceJob } from './service-fault.ts';

interface Limits {
  /** Largest single message. */
  messageBytesMax: number;
  burstBytesMax: number;
  bytesPerSecond: number;
}

/** Minimum cost of a message, since parsing has a fixed cost. */
const MESSAGE_COST_BYTES = 256;

const KIB = 1_024;
const MIB = 1_024 * KIB;
/** Limits for recognition: about ten messages a second repeat the words of a turn. */
const OF_WORDS: Limits = {
  messageBytesMax: MIB,
  burstBytesMax: 4 * MIB,
  bytesPerSecond: 256 * KIB,
};
/** Limits for synthesis: some services send a minute of speech in one message of megabytes (base64 in JSON). */
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

  /** Takes the cost of a message. Returns false if it exceeds the limit. */
  take(bytes: number): boolean {
    const now = this.#clock.monotonicMs();
    const { burstBytesMax, bytesPerSecond } = this.#limits;
    const refilled = this.#left + ((now - this.#atMs) / 1_000) * bytesPerSecond;
    this.#left = Math.min(burstBytesMax, refilled) - bytes - MESSAGE_COST_BYTES;
    this.#atMs = now;
    return this.#left >= 0;
  }
}
