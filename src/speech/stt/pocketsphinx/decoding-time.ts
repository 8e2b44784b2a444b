// How much audio of one utterance a thread decodes: so much that the decoding ends within its time, by the speed of the
// decodings before. The library decodes an utterance in one call, which nothing can break off.

/** Of one utterance: the others of the thread wait for it, and after three seconds the thread counts as hanging. */
const DECODING_MS_MAX = 1_500;
/** An answer to a question is shorter. */
const AUDIO_S_MAX = 20;
/** On the slowest machine too: a few words. */
const AUDIO_S_MIN = 3;
/** Milliseconds for a second of audio before anything was decoded, three times that of a usual machine. */
const SPEED_FIRST = 160;
/** Weight of the newest decoding. One that the machine has held up is forgotten after a few others. */
const NEWEST = 0.3;
/** Shorter decodings are no measure. */
const MEASURED_S_MIN = 0.3;
const RATE_HZ = 8_000;

export interface DecodingTime {
  /** Samples at 8 kHz that the next decoding may have. */
  readonly samplesMax: number;
  /** A decoding took so long. */
  took(ms: number, samples: number): void;
}

export function createDecodingTime(): DecodingTime {
  let msPerSecond = SPEED_FIRST;
  return {
    get samplesMax() {
      const seconds = Math.min(AUDIO_S_MAX, DECODING_MS_MAX / msPerSecond);
      return Math.round(RATE_HZ * Math.max(AUDIO_S_MIN, seconds));
    },
    took(ms, samples) {
      const seconds = samples / RATE_HZ;
      if (seconds < MEASURED_S_MIN) return;
      msPerSecond += NEWEST * (ms / seconds - msPerSecond);
    },
  };
}
