// Recognises an utterance with a grammar and gives its confidence. A whole utterance is decoded twice: with the grammar, and
// by a loop of bare phones that fits any speech. How much worse the loop fits per moment of speech
// separates expected words from others; a decoder's own posterior does not.
//
// The scale was set with three synthesized voices (slt, rms, awb) through a telephone channel, and is no
// probability elsewhere. Above its middle, rightly recognised / speech outside the grammar:
//   those voices, the figures it was set by   131 of 138 /  26 of 324
//   a fourth voice (kal16)                     42 of  43 /  18 of 108
//   a human speaker, recorded at 8 kHz         19 of  34 /  40 of 288
// The human's false ones are nearly all of short grammars (yes_no 16, weekday 15, a menu 7, of 48 each; digits,
// date and money 2 of 144): what matters is to be confirmed.

import { createResampler } from '../../../audio/resample/resampler.ts';
import type { RecognizedWords } from '../stt.ts';
import { createGrammarDecoder } from './grammar-decoder.ts';
import type { Grammar } from './jsgf.ts';
import { ACOUSTIC_MODEL, type SphinxDecoder, type SphinxLibrary } from './pocketsphinx-library.ts';
import type { Dictionary } from './pronunciation-dictionary.ts';

export interface Recognition {
  /** `samples`: 8 kHz, borrowed. */
  recognize(samples: Int16Array, grammar: Grammar): RecognizedWords;
  close(): void;
}

/** Noise removal would learn the channel as noise; a high word penalty invents words in narrow-band speech. */
export const SPHINX_SETTINGS = {
  '-hmm': ACOUSTIC_MODEL,
  '-remove_noise': 'no',
  '-wip': '0.05',
  '-logfn': '/dev/null',
} as const;

/** Half of the English phones cost a third of the time of all, and discriminate as well. */
const LOOP_PHONES = 'AA AE AH EH IY IH OW UW ER EY S T K N M L R D F P'.split(' ');
/** The loop uses every third feature frame: faster, and a worse fit to expected words. */
const LOOP_SETTINGS = { ...SPHINX_SETTINGS, '-ds': '3' };
/** Difference per 10 ms of speech at which both explanations are equally likely, and the scale around it. */
const DIFFERENCE_MIDDLE = 30;
const DIFFERENCE_SCALE = 6;
/** Shorter sounds are clicks. */
const SAMPLES_MIN = 1_200;
/** The level for which the recogniser's own speech detection is made. */
const PEAK = 13_000;
const GAIN_MAX = 8;
/** 10 ms at 16 kHz. */
const MOMENT_SAMPLES = 160;
const SPEECH_SHARE = 0.05;

export function createRecognition(library: SphinxLibrary, dictionary: Dictionary): Recognition {
  const expected = createGrammarDecoder(library.openDecoder({ ...SPHINX_SETTINGS }), dictionary);
  const loop = openLoop(library);

  return {
    recognize(samples, grammar) {
      if (samples.length < SAMPLES_MIN || !expected.use(grammar))
        return { text: '', confidence: 0 };
      const sound = prepare(samples);
      const best = decode(expected.decoder, sound);
      if (best.text === '') return { text: '', confidence: 0 };
      const any = decode(loop, sound);
      const difference = (best.score - any.score) / speechMoments(sound);
      const confidence = 1 / (1 + Math.exp((DIFFERENCE_MIDDLE - difference) / DIFFERENCE_SCALE));
      return { text: best.text, confidence };
    },
    close() {
      expected.decoder.close();
      loop.close();
    },
  };
}

function openLoop(library: SphinxLibrary): SphinxDecoder {
  const loop = library.openDecoder(LOOP_SETTINGS);
  const words = LOOP_PHONES.map((phone) => `phone_${phone.toLowerCase()}`);
  for (const [index, word] of words.entries()) loop.addWord(word, LOOP_PHONES[index] ?? '');
  const jsgf = `#JSGF V1.0;\ngrammar loop;\npublic <loop> = (${words.join(' | ')})+;\n`;
  if (!loop.addGrammar('loop', jsgf)) throw new Error('the loop of phones was refused');
  loop.useGrammar('loop');
  return loop;
}

function decode(decoder: SphinxDecoder, sound: Int16Array) {
  decoder.start();
  decoder.process(sound, true);
  decoder.end();
  return decoder.hypothesis();
}

/** Resampled to 16 kHz, for which the acoustic model is made, and to one level. */
function prepare(samples: Int16Array): Int16Array {
  const sound = createResampler({ fromHz: 8_000, toHz: 16_000 }).process(samples).slice();
  const peak = sound.reduce((most, each) => Math.max(most, Math.abs(each)), 1);
  const gain = Math.min(GAIN_MAX, PEAK / peak);
  return sound.map((each) => Math.round(each * gain));
}

/** Frames of 10 ms that are not silence. */
function speechMoments(sound: Int16Array): number {
  const levels: number[] = [];
  for (let from = 0; from + MOMENT_SAMPLES <= sound.length; from += MOMENT_SAMPLES) {
    let sum = 0;
    for (let i = from; i < from + MOMENT_SAMPLES; i++) sum += (sound[i] ?? 0) ** 2;
    levels.push(Math.sqrt(sum));
  }
  const loudest = levels.reduce((most, each) => Math.max(most, each), 0);
  return Math.max(1, levels.filter((each) => each > loudest * SPEECH_SHARE).length);
}
