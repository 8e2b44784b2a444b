// Recognises an utterance with a grammar and gives its confidence: how well the words fit, for each 10 ms of them. A decoder's
// scores are relative to the best sound that it has looked at; as it looks at all sounds of the acoustic model in every
// frame, scores of different words and utterances compare, and no second decoding with other sounds is needed.
//
// The scale has a middle for each form of grammar: whole phrases of several syllables fit foreign words seldom, short
// values and loops of digits often. Set with synthesized voices (docs/recognition.md); it is no probability elsewhere.

import { createResampler } from '../../../audio/resample/resampler.ts';
import type { RecognizedWords } from '../stt.ts';
import { createGrammarDecoder } from './grammar-decoder.ts';
import type { Grammar, GrammarForm } from './jsgf.ts';
import { ACOUSTIC_MODEL, type SphinxLibrary, type SphinxSegment } from './pocketsphinx-library.ts';
import type { Dictionary } from './pronunciation-dictionary.ts';

export interface Recognition {
  /** `samples`: 8 kHz, borrowed. */
  recognize(samples: Int16Array, grammar: Grammar): RecognizedWords;
  close(): void;
}

/** Noise removal would take the channel for noise; a high word penalty invents words in narrow-band speech. */
export const SPHINX_SETTINGS = {
  '-hmm': ACOUSTIC_MODEL,
  '-remove_noise': 'no',
  '-wip': '0.05',
  '-logfn': '/dev/null',
} as const;

/** Misfit per frame at which words are as likely right as wrong, and the scale around it. */
const MISFITS: Record<GrammarForm, { middle: number; scale: number }> = {
  phrases: { middle: 67.8, scale: 11.4 },
  values: { middle: 59.4, scale: 9.5 },
  loop: { middle: 59, scale: 7.6 },
};
/** At most, for a value that runs into a rival phrase: the library's loops allow it, and no caller says it. */
const CONFIDENCE_MIXED = 0.25;
/** Shorter sounds are clicks. */
const SAMPLES_MIN = 1_200;
/** The level for which the recogniser's own speech detection is made. */
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
      const fit = confidenceOf(misfitOf(decoder.segments()), formOf(text, grammar));
      return { text, confidence: isMixed(text, grammar) ? Math.min(fit, CONFIDENCE_MIXED) : fit };
    },
    close() {
      decoder.close();
    },
  };
}

/** A rival is a whole phrase in any grammar. */
function formOf(text: string, { form, rivals }: Grammar): GrammarForm {
  return rivals.includes(text) ? 'phrases' : form;
}

function confidenceOf(misfit: number, form: GrammarForm): number {
  const { middle, scale } = MISFITS[form];
  return 1 / (1 + Math.exp((misfit - middle) / scale));
}

/** Per frame of the words, without pauses and fillers. */
function misfitOf(segments: readonly SphinxSegment[]): number {
  const words = segments.filter(({ word }) => !/^[<[(+]/.test(word));
  const frames = words.reduce((sum, each) => sum + each.frames, 0);
  const score = words.reduce((sum, each) => sum + each.score, 0);
  return -score / Math.max(1, frames);
}

/** A value such as "yes please" ends with a rival of its own right, one of a loop does not. */
function isMixed(text: string, { form, rivals }: Grammar): boolean {
  if (form !== 'loop') return false;
  return !rivals.includes(text) && rivals.some((rival) => text.endsWith(` ${rival}`));
}

/** Resampled to 16 kHz, for which the acoustic model is made, and to one level. */
function prepare(samples: Int16Array): Int16Array {
  const sound = createResampler({ fromHz: 8_000, toHz: 16_000 }).process(samples).slice();
  const peak = sound.reduce((most, each) => Math.max(most, Math.abs(each)), 1);
  const gain = Math.min(GAIN_MAX, PEAK / peak);
  return sound.map((each) => Math.round(each * gain));
}
