// Limits how much audio of an utterance a thread decodes, so that the decoding ends in time at the measured speed. The
// library decodes an utterance in one call, which cannot be interrupted.

import type { Clock } from '../../../std/clock.ts';
import { NO_WORDS } from '../joined-words.ts';
import type { RecognizedWords } from '../stt.ts';
import type { Grammar } from './jsgf.ts';

/** Longest decoding of one utterance, by the clock: the caller and the thread's other calls wait for it. After three
 *  seconds of work the thread counts as hanging. */
const DECODING_MS_MAX = 1_500;
/** Longest audio that is decoded. An answer to a question is shorter. */
const AUDIO_S_MAX = 20;
/** Shortest limit, even on the slowest machine: a few words. */
const AUDIO_S_MIN = 3;
/** Initial milliseconds per second of audio: three times those of a usual machine. */
const SPEED_FIRST = 160;
/** Weight of the newest decoding in the mean. One that the machine delayed loses its effect after a few others. */
const NEWEST = 0.3;
/** Shortest audio, in seconds, whose decoding is measured. */
const MEASURED_S_MIN = 0.3;
/** Highest confidence of an utterance whose beginning was cut off, so that the agent asks for confirmation: the missing
 *  words may change the choice. */
const CONFIDENCE_CUT_MAX = 0.5;
const RATE_HZ = 8_000;

export interface DecodingTime {
  /** Samples at 8 kHz that the next decoding may process. */
  readonly samplesMax: number;
  /** Records the duration of a decoding. */
  took(ms: number, samples: number): void;
}

/** Decodes only the end of an utterance that takes too long: callers repeat themselves and end with the answer, which
 *  the agent confirms. Digits or letters without their beginning are another number or name: these are rejected and the
 *  caller is asked again. */
export function decodeInTime(
  { clock, time }: { clock: Pick<Clock, 'monotonicMs'>; time: DecodingTime },
  { sound, form }: { sound: Int16Array } & Pick<Grammar, 'form'>,
  recognize: (samples: Int16Array) => RecognizedWords,
): RecognizedWords {
  const samples = sound.subarray(Math.max(0, sound.length - time.samplesMax));
  const startMs = clock.monotonicMs();
  const words = recognize(samples);
  time.took(clock.monotonicMs() - startMs, samples.length);
  if (samples.length === sound.length) return words;
  if (form === 'loop') return NO_WORDS;
  return { ...words, confidence: Math.min(words.confidence ?? 0, CONFIDENCE_CUT_MAX) };
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
