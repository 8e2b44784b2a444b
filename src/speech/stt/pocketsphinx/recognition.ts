// Recognises an utterance with a grammar and computes its confidence: how well the words fit in each 10 ms. The scores
// are relative to the best sound of the acoustic model in every frame, so that they are comparable between words and
// utterances, without a second decoding.
//
// The scale has a middle for each form of grammar: whole phrases of several syllables seldom fit foreign words, short
// values and loops of digits often do. Set with synthesized voices (docs/recognition.md); it is not a probability.
//
// Words that the grammar lacks become pauses in the best path. A pause that fits as badly as speech is speech: then the
// caller said more than was recognised, and the agent asks for confirmation.

import { levelDb } from '../../../audio/gain.ts';
import { FRAME_SAMPLES } from '../../../audio/pcm.ts';
import { createResampler } from '../../../audio/resample/resampler.ts';
import type { RecognizedWords } from '../stt.ts';
import { createGrammarDecoder } from './grammar-decoder.ts';
import type { Grammar, GrammarForm } from './jsgf.ts';
import { ACOUSTIC_MODEL, type SphinxLibrary, type SphinxSegment } from './pocketsphinx-library.ts';
import type { Dictionary } from './pronunciation-dictionary.ts';

export interface Recognition {
  /** Recognises `samples` (8 kHz, borrowed). */
  recognize(samples: Int16Array, grammar: Grammar): RecognizedWords;
  close(): void;
}

/** Settings without noise removal, which would treat the channel as noise, and without a high word penalty, which
 *  invents words in narrow-band speech. */
export const SPHINX_SETTINGS = {
  '-hmm': ACOUSTIC_MODEL,
  '-remove_noise': 'no',
  '-wip': '0.05',
  '-logfn': '/dev/null',
} as const;

/** Misfit per frame at which words are equally likely right and wrong, and the scale around it. */
const MISFITS: Record<GrammarForm, { middle: number; scale: number }> = {
  phrases: { middle: 67.8, scale: 11.4 },
  values: { middle: 59.4, scale: 9.5 },
  loop: { middle: 59, scale: 7.6 },
};
/** Highest confidence of a value that runs into a rival phrase: the library's loops allow it, but no caller says it. */
const CONFIDENCE_MIXED = 0.25;
/** Highest confidence if the caller said more than these words, or said values in noise: the agent asks for
 *  confirmation. */
const CONFIDENCE_DOUBTED = 0.5;
/** Misfit per frame from which a pause counts as speech. Measured 7 to 45 in pauses between people's words and on lines
 *  with noise 20 dB below the speech, 48 to 106 in words that were taken for pauses. */
const PAUSE_MISFIT_MIN = 50;
/** Largest level difference between the loudest word and such a pause. Quieter ones are line noise that the acoustic
 *  model does not know. */
const PAUSE_BELOW_WORDS_DB_MAX = 20;
/** Frames of such pauses that make a word. A quiet consonant beside a pause is shorter. At the ends of an utterance,
 *  where people breathe, more are needed. */
const UNMATCHED_FRAMES_MIN = { between: 15, around: 25 };
/** Smallest difference between the loudest tenth of an utterance and its quietest, for values to be accepted. In white
 *  noise 10 dB below the speech, they are wrong as often as right. */
const ABOVE_NOISE_DB_MIN = 17;
/** May be one drawn-out zero or two. */
const LONG_ZERO = /\bzero oh$/;
/** Shorter sounds are clicks. */
const SAMPLES_MIN = 1_200;
/** Peak level for which the recogniser's own speech detection is designed. */
const PEAK = 13_000;
const GAIN_MAX = 8;

export function createRecognition(library: SphinxLibrary, dictionary: Dictionary): Recognition {
  const settings = { ...SPHINX_SETTINGS, '-compallsen': 'yes' };
  const expected = createGrammarDecoder(library.openDecoder(settings), dictionary);
  const { decoder } = expected;

  return {
    recognize(samples, grammar) {
      if (samples.length < SAMPLES_MIN || !expected.use(grammar))
        return { text: '', confidence: 0 };
      decoder.start();
      decoder.process(prepare(samples), true);
      decoder.end();
      const { text } = decoder.hypothesis();
      if (text === '') return { text: '', confidence: 0 };
      const segments = decoder.segments();
      const fit = confidenceOf(misfitOf(segments), formOf(text, grammar));
      const said = { samples, text, segments };
      return { text, confidence: Math.min(fit, confidenceMax(said, grammar)) };
    },
    close() {
      decoder.close();
    },
  };
}

/** Form of the recognised text. A rival is a whole phrase in any grammar. */
function formOf(text: string, { form, rivals }: Grammar): GrammarForm {
  return rivals.includes(text) ? 'phrases' : form;
}

function confidenceOf(misfit: number, form: GrammarForm): number {
  const { middle, scale } = MISFITS[form];
  return 1 / (1 + Math.exp((misfit - middle) / scale));
}

interface Recognized {
  samples: Int16Array;
  text: string;
  segments: readonly SphinxSegment[];
}

function confidenceMax({ samples, text, segments }: Recognized, grammar: Grammar): number {
  if (isMixed(text, grammar)) return CONFIDENCE_MIXED;
  if (grammar.rivals.includes(text)) return 1;
  const isDoubted =
    LONG_ZERO.test(text) ||
    hasUnmatchedSpeech(samples, segments) ||
    (grammar.form !== 'phrases' && aboveNoiseDb(samples) < ABOVE_NOISE_DB_MIN);
  return isDoubted ? CONFIDENCE_DOUBTED : 1;
}

/** Difference in decibels between the 90th and the 10th percentile of the frames' levels. */
function aboveNoiseDb(samples: Int16Array): number {
  const levels: number[] = [];
  for (let from = 0; from + FRAME_SAMPLES <= samples.length; from += FRAME_SAMPLES) {
    levels.push(levelDb(samples.subarray(from, from + FRAME_SAMPLES)));
  }
  levels.sort((one, other) => one - other);
  const at = (share: number) => levels[Math.floor((levels.length - 1) * share)] ?? 0;
  return at(0.9) - at(0.1);
}

/** Whether the caller said more than the words. */
function hasUnmatchedSpeech(samples: Int16Array, segments: readonly SphinxSegment[]): boolean {
  const levels = levelsOf(samples, segments);
  const loudestDb = Math.max(...levels.filter((_db, nth) => isWord(segments[nth])));
  const first = segments.findIndex(isWord);
  const last = segments.findLastIndex(isWord);
  const frames = { between: 0, around: 0 };
  for (const [nth, segment] of segments.entries()) {
    if (isWord(segment) || segment.frames < UNMATCHED_FRAMES_MIN.between) continue;
    if (-segment.score / segment.frames < PAUSE_MISFIT_MIN) continue;
    if ((levels[nth] ?? 0) < loudestDb - PAUSE_BELOW_WORDS_DB_MAX) continue;
    frames[nth > first && nth < last ? 'between' : 'around'] += segment.frames;
  }
  return (
    frames.between >= UNMATCHED_FRAMES_MIN.between || frames.around >= UNMATCHED_FRAMES_MIN.around
  );
}

/** Level of each segment in decibels. The segments cover the utterance. */
function levelsOf(samples: Int16Array, segments: readonly SphinxSegment[]): number[] {
  const all = segments.reduce((sum, { frames }) => sum + frames, 0);
  let at = 0;
  return segments.map(({ frames }) => {
    const from = Math.floor((samples.length * at) / all);
    at += frames;
    return levelDb(samples.subarray(from, Math.floor((samples.length * at) / all)));
  });
}

/** Whether the segment is a word: no pause, filler or empty transition. */
function isWord(segment: SphinxSegment | undefined): boolean {
  return segment !== undefined && !/^[<[(+]/.test(segment.word);
}

/** Mean misfit per frame of the words, without pauses and fillers. */
function misfitOf(segments: readonly SphinxSegment[]): number {
  const words = segments.filter(isWord);
  const frames = words.reduce((sum, each) => sum + each.frames, 0);
  const score = words.reduce((sum, each) => sum + each.score, 0);
  return -score / Math.max(1, frames);
}

/** Whether a value of a loop runs into a rival phrase. A text that is itself a rival, such as "yes please", does not
 *  count. */
function isMixed(text: string, { form, rivals, strangers }: Grammar): boolean {
  if (form !== 'loop') return false;
  return !rivals.includes(text) && strangers.some((rival) => text.endsWith(` ${rival}`));
}

/** Resamples to 16 kHz, the rate of the acoustic model, and normalizes the level. */
function prepare(samples: Int16Array): Int16Array {
  const sound = createResampler({ fromHz: 8_000, toHz: 16_000 }).process(samples).slice();
  const peak = sound.reduce((most, each) => Math.max(most, Math.abs(each)), 1);
  const gain = Math.min(GAIN_MAX, PEAK / peak);
  return sound.map((each) => Math.round(each * gain));
}
