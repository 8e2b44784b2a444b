// How much audio of one utterance a thread decodes: so much that the decoding ends within its time, by the speed of the
// decodings before. The library decodes an utterance in one call, which nothing can break off.

import type { Clock } from '../../../std/clock.ts';
import { NO_WORDS } from '../joined-words.ts';
import type { RecognizedWords } from '../stt.ts';
import type { Grammar } from './jsgf.ts';

/** Of one utterance: the others of the thread wait for it, and after three seconds the thread counts as hanging. */
const DECODING_MS_MAX = 1_500;
/** An answer to a question is shorter. */
const AUDIO_S_MAX = 20;
/** On the slowest machine too: a few words. */
const AUDIO_S_MIN = 3;
/** Milliseconds for a second of audio before anything was decoded, three times that of a usual machine. */
const SPEED_FIRST = 160;
/** Weight of the newest decoding. One that the machine has held up has no effect after a few others. */
const NEWEST = 0.3;
/** Shorter decodings are no measure. */
const MEASURED_S_MIN = 0.3;
/** Of the last of an utterance: asked about. Its first words may have made a choice of it that is another one. */
const CONFIDENCE_CUT_MAX = 0.5;
const RATE_HZ = 8_000;

export interface DecodingTime {
  /** Samples at 8 kHz that the next decoding may have. */
  readonly samplesMax: number;
  /** A decoding took so long. */
  took(ms: number, samples: number): void;
}

/** Decodes the last of an utterance that is too long to be decoded in time: callers repeat themselves, and end with the
 *  answer, which the agent asks about. Digits and letters without their first are another number or name: the caller is
 *  asked again. */
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
