// The embedded recogniser without its thread, and what a scripted step makes of its words: one judge for the recordings of
// people and for synthesized voices.

import { readFileSync } from 'node:fs';
import { readWav } from '../../../src/audio/wav.ts';
import type { ExpectedInput } from '../../../src/model/expected-input.ts';
import { trustIn, type WordTrust } from '../../../src/model/word-trust.ts';
import { buildGrammar, type Grammar } from '../../../src/speech/stt/pocketsphinx/jsgf.ts';
import {
  DICTIONARY_FILE,
  loadLibrary,
} from '../../../src/speech/stt/pocketsphinx/pocketsphinx-library.ts';
import { parseDictionary } from '../../../src/speech/stt/pocketsphinx/pronunciation-dictionary.ts';
import { createRecognition } from '../../../src/speech/stt/pocketsphinx/recognition.ts';
import { RIVAL_PHRASES, withSounds } from '../../../src/speech/stt/pocketsphinx/rival-phrases.ts';

export interface JudgedWords {
  text: string;
  confidence: number;
  /** `reject` also where a rival was recognised: the dialogue gets no expected words. */
  trust: WordTrust;
}

export interface Judge {
  /** `samples`: 8 kHz, with the line before and after the speech. */
  judge(samples: Int16Array, expectation: ExpectedInput): JudgedWords;
  close(): void;
}

export function openJudge(): Judge {
  const dictionary = withSounds(parseDictionary(readFileSync(DICTIONARY_FILE, 'utf8')));
  const recognition = createRecognition(loadLibrary(), dictionary);
  const grammars = new Map<ExpectedInput, Grammar>();

  function grammarOf(expectation: ExpectedInput): Grammar {
    const known = grammars.get(expectation);
    if (known !== undefined) return known;
    const { grammar } = buildGrammar(expectation, { dictionary, rivals: RIVAL_PHRASES });
    if (grammar === undefined) throw new Error(`no grammar: ${JSON.stringify(expectation)}`);
    grammars.set(expectation, grammar);
    return grammar;
  }

  return {
    judge(samples, expectation) {
      const grammar = grammarOf(expectation);
      const { text, confidence } = recognition.recognize(samples, grammar);
      const isExpected = text !== '' && !grammar.rivals.includes(text);
      const trust = isExpected ? trustIn(confidence) : 'reject';
      return { text, confidence: confidence ?? 0, trust };
    },
    close: () => recognition.close(),
  };
}

const PROMPTS = 'fixtures/audio/prompts';

export interface Prompt {
  text: string;
  pcm: Int16Array;
}

/** Recorded prompts: one file of fixtures/audio/prompts. */
export function promptsOf(
  file: 'digits' | 'teens' | 'weekdays' | 'italian' | 'russian',
): readonly Prompt[] {
  const { samples } = readWav(readFileSync(`${PROMPTS}/${file}.wav`));
  const index: Record<string, { text: string; from: number; to: number }[]> = JSON.parse(
    readFileSync(`${PROMPTS}/prompts.json`, 'utf8'),
  );
  return (index[file] ?? []).map(({ text, from, to }) => ({ text, pcm: samples.slice(from, to) }));
}
