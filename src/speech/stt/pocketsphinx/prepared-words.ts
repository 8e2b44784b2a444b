// Final words that were decoded ahead, in a pause that was probably the end of the utterance. They count if nothing but the
// silence of that pause follows: a soft consonant after it may make other words.

import { levelDb } from '../../../audio/gain.ts';
import { FRAME_SAMPLES } from '../../../audio/pcm.ts';
import type { RecognizedWords } from '../stt.ts';

export interface PreparedWords {
  readonly words: RecognizedWords;
  /** `sound`: the whole utterance, which begins with what was decoded. */
  isFollowedBySilence(sound: Int16Array): boolean;
}

/** The end of what was decoded, which is a pause: speech detection reports one after 100 ms. */
const PAUSE_SAMPLES = 4 * FRAME_SAMPLES;
/** Silence is at most this much louder than the pause, for one frame: noise has its peaks, */
const LOUDER_DB_MAX = 6;
/** or so far below the loudest of the words: a quiet line has clicks and breath. */
const BELOW_WORDS_DB_MIN = 35;

/** `decoded`: 8 kHz, borrowed. */
export function prepareWords(words: RecognizedWords, decoded: Int16Array): PreparedWords {
  const { length } = decoded;
  const pauseDb = loudestDb(decoded.subarray(Math.max(0, length - PAUSE_SAMPLES)));
  const silenceDb = Math.max(pauseDb + LOUDER_DB_MAX, loudestDb(decoded) - BELOW_WORDS_DB_MIN);
  return {
    words,
    isFollowedBySilence: (sound) => loudestDb(sound.subarray(length)) <= silenceDb,
  };
}

/** Of whole frames. */
function loudestDb(samples: Int16Array): number {
  let loudest = Number.NEGATIVE_INFINITY;
  for (let from = 0; from + FRAME_SAMPLES <= samples.length; from += FRAME_SAMPLES) {
    loudest = Math.max(loudest, levelDb(samples.subarray(from, from + FRAME_SAMPLES)));
  }
  return loudest;
}
