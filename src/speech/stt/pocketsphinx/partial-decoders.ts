// Interim results: a few decoders follow the calls in which the caller speaks. A call without a free decoder has no
// interim words; final words come from a separate decoder (recognition).

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createResampler } from '../../../audio/resample/resampler.ts';
import { createGrammarDecoder, type GrammarDecoder } from './grammar-decoder.ts';
import type { Grammar } from './jsgf.ts';
import { ACOUSTIC_MODEL, type SphinxLibrary } from './pocketsphinx-library.ts';
import type { Dictionary } from './pronunciation-dictionary.ts';
import { SPHINX_SETTINGS } from './recognition.ts';

export interface PartialDecoders {
  /** Starts a decoding. Undefined if all decoders are busy. */
  start(grammar: Grammar): PartialDecoding | undefined;
  close(): void;
}

export interface PartialDecoding {
  /** Decodes `samples` (8 kHz, borrowed). Returns the best words so far. */
  push(samples: Int16Array): string;
  /** Frees the decoder. */
  stop(): void;
}

/** Decoders of one thread, 6 MB each. More callers seldom speak at once. */
const DECODERS = 6;
const GRAMMARS_MAX = 8;
/** Initial cepstral mean, for telephone speech, used until the stream's own mean is known. Measured with the
 *  synthesized test voices through 300-3400 Hz and G.711. The model's default is for studio recordings. */
const TELEPHONE_MEAN = '30.3,13.6,-34,27.7,-22,-11.9,7.07,-29,2.3,-12.35,-5.2,0.95,-10';

export function createPartialDecoders(
  library: SphinxLibrary,
  dictionary: Dictionary,
): PartialDecoders {
  const decoders = openDecoders(library).map((decoder) => ({
    ...createGrammarDecoder(decoder, dictionary, GRAMMARS_MAX),
    resampler: createResampler({ fromHz: 8_000, toHz: 16_000 }),
  }));
  const free = [...decoders];

  return {
    start(grammar) {
      const each = free.pop();
      if (each === undefined) return undefined;
      if (each.use(grammar)) return follow(each, () => free.push(each));
      free.push(each);
      return undefined;
    },
    close() {
      for (const { decoder } of decoders) decoder.close();
    },
  };
}

function follow(
  { decoder, resampler }: GrammarDecoder & { resampler: ReturnType<typeof createResampler> },
  release: () => void,
): PartialDecoding {
  resampler.reset();
  decoder.start();
  return {
    push(samples) {
      decoder.process(resampler.process(samples), false);
      return decoder.hypothesis().text;
    },
    stop() {
      decoder.end();
      release();
    },
  };
}

/** Opens the decoders. The model's own parameters override the settings, so those for telephone speech are in a
 *  separate file. */
function openDecoders(library: SphinxLibrary) {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-'));
  try {
    const path = join(folder, 'feat.params');
    const model = readFileSync(`${ACOUSTIC_MODEL}/feat.params`, 'utf8');
    writeFileSync(path, `${model.replace(/^-cmninit .*$/m, '')}\n-cmninit ${TELEPHONE_MEAN}\n`);
    return Array.from({ length: DECODERS }, () =>
      library.openDecoder({ ...SPHINX_SETTINGS, '-featparams': path }),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
