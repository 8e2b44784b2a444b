// Recognises an utterance with a grammar and gives its confidence. A whole utterance is decoded twice: with the grammar, and
// by a loop of bare phones that fits any speech. How much worse the loop fits per moment of speech
// separates expected words from others; a decoder's own posterior does not.
//
// The scale has a middle for each form of grammar: whole phrases of several syllables fit foreign words seldom, short
// values and loops of digits often. Set with 11 synthesized voices (5 of Flite, 6 of eSpeak) through G.711, with the rival
// phrases in each grammar; it is no probability elsewhere.

import { createResampler } from '../../../audio/resample/resampler.ts';
import type { Clock } from '../../../std/clock.ts';
import type { RecognizedWords } from '../stt.ts';
import { createGrammarDecoder } from './grammar-decoder.ts';
import type { Grammar, GrammarForm } from './jsgf.ts';
import { ACOUSTIC_MODEL, type SphinxDecoder, type SphinxLibrary } from './pocketsphinx-library.ts';
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

/** Half of the English phones cost a third of the time of all, and discriminate as well. */
const LOOP_PHONES = 'AA AE AH EH IY IH OW UW ER EY S T K N M L R D F P'.split(' ');
/** The loop uses every third feature frame: faster, and a worse fit to expected words. */
const LOOP_SETTINGS = { ...SPHINX_SETTINGS, '-ds': '3' };
/** Difference per 10 ms of speech at which both explanations are equally likely, and the scale around it. */
const DIFFERENCE_MIDDLES: Record<GrammarForm, number> = { phrases: 20, values: 28, loop: 24 };
/** For a hypothesis of fewer phones, in any grammar: a short word fits much. */
const SHORT_PHONES_MAX = 5;
const DIFFERENCE_MIDDLE_SHORT = 25;
const DIFFERENCE_SCALE = 6;
/** A decoding that took longer is not repeated with the loop: its words are asked about. */
const SLOW_DECODE_MS = 1_500;
const CONFIDENCE_UNKNOWN = 0.4;
/** At most, for a value that runs into a rival phrase: the library's loops allow it, and no caller says it. */
const CONFIDENCE_MIXED = 0.25;
/** Shorter sounds are clicks. */
const SAMPLES_MIN = 1_200;
/** The level for which the recogniser's own speech detection is made. */
const PEAK = 13_000;
const GAIN_MAX = 8;
/** 10 ms at 16 kHz. */
const MOMENT_SAMPLES = 160;
const SPEECH_SHARE = 0.05;

export function createRecognition(
  library: SphinxLibrary,
  dictionary: Dictionary,
  clock: Pick<Clock, 'monotonicMs'>,
): Recognition {
  const expected = createGrammarDecoder(library.openDecoder({ ...SPHINX_SETTINGS }), dictionary);
  const loop = openLoop(library);

  return {
    recognize(samples, grammar) {
      if (samples.length < SAMPLES_MIN || !expected.use(grammar))
        return { text: '', confidence: 0 };
      const sound = prepare(samples);
      const startMs = clock.monotonicMs();
      const best = decode(expected.decoder, sound);
      if (best.text === '') return { text: '', confidence: 0 };
      if (clock.monotonicMs() - startMs > SLOW_DECODE_MS) {
        return { text: best.text, confidence: CONFIDENCE_UNKNOWN };
      }
      const any = decode(loop, sound);
      const difference = (best.score - any.score) / speechMoments(sound);
      const isShort = phonesOf(best.text, dictionary) <= SHORT_PHONES_MAX;
      const middle = isShort
        ? Math.max(DIFFERENCE_MIDDLE_SHORT, DIFFERENCE_MIDDLES[grammar.form])
        : DIFFERENCE_MIDDLES[grammar.form];
      const fit = 1 / (1 + Math.exp((middle - difference) / DIFFERENCE_SCALE));
      const confidence = isMixed(best.text, grammar) ? Math.min(fit, CONFIDENCE_MIXED) : fit;
      return { text: best.text, confidence };
    },
    close() {
      expected.decoder.close();
      loop.close();
    },
  };
}

function isMixed(text: string, { rivals }: Grammar): boolean {
  return !rivals.includes(text) && rivals.some((rival) => text.endsWith(` ${rival}`));
}

function phonesOf(text: string, dictionary: Dictionary): number {
  const phones = text.split(' ').map((word) => dictionary.pronunciations(word)[0]?.split(' '));
  return phones.reduce((sum, each) => sum + (each?.length ?? 0), 0);
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
