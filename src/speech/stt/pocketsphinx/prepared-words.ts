// Final words that were decoded ahead, in a pause that was probably the end of the utterance. They are valid if only
// the silence of that pause follows: a quiet consonant after it may change the words.

import { levelDb } from '../../../audio/gain.ts';
import { FRAME_SAMPLES } from '../../../audio/pcm.ts';
import type { RecognizedWords } from '../stt.ts';

export interface PreparedWords {
  readonly words: RecognizedWords;
  /** `sound`: the whole utterance, beginning with the part that was decoded. */
  isFollowedBySilence(sound: Int16Array): boolean;
}

/** Pause at the end of the decoded part: speech detection reports one after 100 ms. */
const PAUSE_SAMPLES = 4 * FRAME_SAMPLES;
/** Silence is at most this much louder than the pause, for one frame (noise has peaks), */
const LOUDER_DB_MAX = 6;
/** or this much quieter than the loudest word (a quiet line has clicks and breath). */
const BELOW_WORDS_DB_MIN = 35;

/** `decoded`: audio of the words, 8 kHz, borrowed. */
export function prepareWords(words: RecognizedWords, decoded: Int16Array): PreparedWords {
  const { length } = decoded;
  const pauseDb = loudestDb(decoded.subarray(Math.max(0, length - PAUSE_SAMPLES)));
  const silenceDb = Math.max(pauseDb + LOUDER_DB_MAX, loudestDb(decoded) - BELOW_WORDS_DB_MIN);
  return {
    words,
    isFollowedBySilence: (sound) => loudestDb(sound.subarray(length)) <= silenceDb,
  };
}

/** Level of the loudest frame in decibels. Only whole frames count. */
function loudestDb(samples: Int16Array): number {
  let loudest = Number.NEGATIVE_INFINITY;
  for (let from = 0; from + FRAME_SAMPLES <= samples.length; from += FRAME_SAMPLES) {
    loudest = Math.max(loudest, levelDb(samples.subarray(from, from + FRAME_SAMPLES)));
  }
  return loudest;
}
